"""One answer: cleaned (R4, R5), placed, committed."""
from __future__ import annotations

from dataclasses import replace

from .commit import Commit
from .deltas import Deltas
from .ends import Ends
from .evidence import Evidence
from .numbers import Numbers
from .objects import END, Gap, Refused, UNKNOWN
from .placing import Placing
from .pushes import Pushed
from .recorded import Recorded
from .snapshots import Snapshots
from .splice import Splice


class Draft(Placing, Numbers, Evidence, Ends, Recorded, Splice, Snapshots, Pushed, Deltas, Commit):
    """The effect of one answer, computed aside and committed only as a whole."""

    def __init__(self, feed, ticket, answer, out):
        # R8: the end of a bounded answer is that of its range and says nothing about the feed's
        self.ends_range = ticket.bounded and answer.next == END
        if self.ends_range:
            answer = replace(answer, next=UNKNOWN)
        self.feed, self.ticket, self.answer, self.out = feed, ticket, answer, out
        self.rows = [replace(r) if isinstance(r, Gap) else r for r in feed.server_rows()]
        self.head, self.tail = feed.head, feed.tail
        self.gaps_before = [(g.down.number, g.up.number) for g in feed.gaps()]
        self.accepted = []            # ids of the page now placed in the feed, in order
        self.positioned = True        # answer.next continues directly at the border
        self.stands_at = None         # otherwise: below this entry
        self.shown = []               # the border, when the answer contains it
        self.unproven_up = False
        self.unproven = False         # keyless: nothing in the answer shows that the border still lives
        self.removed_keep_rider, self.gone_for_good = [], []
        self.server_index = {}
        self.far_gap = False
        self.parted = set()           # R6: the ends (0, -1) of the page from which equal keys may part it
        self.unordered = False        # R25.5: its keys do not descend, so they say nothing
        self.all_new = False          # R25.3: the page of a crawl shows nothing that is cached
        self.stayed = None            # R25.5: known posts of the page that stay where they are
        self.head_changed = False
        self.note = None
        self.claims = {}              # R25: joined to the entry above without proof, and why
        self.rows_seen = 0            # rows received, without those that are no entries
        self.beyond = None            # R26: (border, position): it stands there or below
        self.ends_page = None         # R26: the last usable row of the page
        self.fresh, self.landmarks = [], False                # R26: edges renewed here; known entries have a place
        self.top_told, self.lifted, self.inside = False, [], set()            # R27; inside a proven run
        self.on_top = []              # R29: put on top without having been asked for, as by a message
        self.contradicts = False      # R26.10: placed by its own order, against what is cached
        self.was_checked = None       # R26: an unverified join whose page above was shown again

    def clean(self):
        feed, out, ticket = self.feed, self.out, self.ticket
        page, seen = [], set()
        position = 0
        for id in self.answer.items:
            if not id:
                out.opaque += 1                               # advertisement, separator: no entry
                continue
            if id in feed.sticky():
                if id not in out.sticky:
                    out.sticky.append(id)
                continue
            self.server_index.setdefault(id, position)
            position += 1
            self.rows_seen = position
            if id in seen:
                out.in_page_duplicates += 1                   # R4: never evidence of overlap
                continue
            seen.add(id)
            if feed.tombstones.get(id, -1) >= ticket.issued:
                out.ignored.append(id)                        # R5: deleted after the request left
                continue
            page.append(id)
        keys = self.answer.keys
        if feed.order == "stable" and ticket.op not in ("snapshot", "ids"):
            page_keys = [self.key(id) for id in page]
            if any(k is None for k in page_keys):
                raise Refused("contradiction", "check-options")
            if ticket.op != "delta" and any(a <= b for a, b in zip(page_keys, page_keys[1:])):
                raise Refused("contradiction", "check-options")       # not in the declared order
            cached = [feed.entries.get(id) for id in page]
            if any(e and not e.detached and e.key not in (None, key) for e, key in zip(cached, page_keys)):
                raise Refused("contradiction", "check-options")       # immutable keys do not change
        if feed.order == "bump":                              # R6: a changed key means moved
            for id in list(page):
                entry = feed.entries.get(id)
                if entry is None or entry.detached or id not in keys or entry.key is None:
                    continue
                if keys[id] < entry.key:
                    page.remove(id)                           # older than what is cached
                    out.ignored.append(id)
                elif keys[id] > entry.key:
                    out.moved.append(id)
        out.duplicates = [id for id in page if id in feed.entries and not feed.entries[id].detached]
        self.rows_without(out.moved)
        return page

    def key(self, id):
        entry = self.feed.entries.get(id)
        cached, shown = entry.key if entry else None, self.answer.keys.get(id)
        if shown is None or (cached is not None and self.feed.order == "bump" and shown < cached):
            return cached                                     # an outdated key does not count
        return shown

    def rows_without(self, ids):
        """Moved entries leave their old place; the neighbours close up."""
        gone = set(ids)
        self.rows = [row for row in self.rows if not (isinstance(row, str) and row in gone)]

    def where(self):
        return {row: i for i, row in enumerate(self.rows) if isinstance(row, str)}

    def find(self, number):
        """Row index of the gap that owns the edge, len(rows) for the tail, -1 for the head."""
        for i, row in enumerate(self.rows):
            if isinstance(row, Gap) and number in (row.down.number, row.up.number):
                return i
        if number == self.tail.number:
            return len(self.rows)
        return -1

    def edge_at(self, at):
        return self.rows[at].down if at < len(self.rows) else self.tail

    def put_edge(self, at, edge):
        if at < len(self.rows):
            self.rows[at].down = edge
        else:
            self.tail = edge

    def border_at(self, at):
        return next(r for r in reversed(self.rows[:at]) if isinstance(r, str))

    def has_keys(self, page):
        return self.feed.order in ("stable", "bump") and \
            all(self.key(r) is not None for r in [*self.where(), *page])

    def is_whole(self):
        """False if the last item of a recorded page was outdated: the link does not continue here."""
        return self.ticket.op != "recorded" or self.answer.items[-1] not in self.out.ignored

    def is_loose(self, at, id):
        """R16. True if the answer's first (0) or last (-1) item is not this entry, but one that was dropped,
        deleted or outdated meanwhile: the link begins beyond it."""
        shown = list(self.server_index)
        return bool(shown) and shown[at] != id and shown[at] in self.out.ignored

    def segment_above(self, border):
        """The entries from the top of the border's segment down to the border."""
        run = []
        for row in self.rows:
            run = [] if isinstance(row, Gap) else run + [row]
            if row == border:
                return run
        return []

    def is_newer(self, id):
        """Written after this request was issued: an older answer must not undo it."""
        return id in self.feed.entries and self.feed.entries[id].confirmed > self.ticket.issued

    def leave(self, ids):
        """Entries leave the feed; pinned ones stay as detached entries."""
        for id in ids:
            if self.feed.entries[id].pinned:
                self.removed_keep_rider.append(id)
                self.out.kept.append(id)
            else:
                self.out.removed.append(id)

    def require_shown_stay(self):
        """R9. No answer removes what it shows: it has the post on the other side of the border. (An entry
        dropped as outdated was not shown here: the next answer brings it back under its smaller key.)"""
        shown = self.server_index.keys() - set(self.out.ignored)
        if not shown.isdisjoint(self.out.removed + self.removed_keep_rider):
            raise Refused("contradiction")
