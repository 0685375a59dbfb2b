"""R29: answers that say what has changed since an earlier moment."""
from __future__ import annotations

from dataclasses import replace

from .objects import END, HEAD, UNKNOWN, Gap, Refused


class Deltas:
    """The draft's side. What the answer does not name has not changed."""

    def delta(self, page):
        feed, out = self.feed, self.out
        self.is_whole_delta = self.answer.next in (UNKNOWN, END)
        self.answer = replace(self.answer, next=UNKNOWN, prev=UNKNOWN)     # its links are not those of the list
        deleted = [id for id in dict.fromkeys(self.answer.deleted) if id]
        out.kept += [id for id in deleted if id in feed.entries and not feed.entries[id].detached and self.is_newer(id)]
        self.gone_for_good = [id for id in deleted if id not in out.kept]
        gone = [id for id in self.gone_for_good if id in feed.entries and not feed.entries[id].detached]
        page = [id for id in page if id not in self.gone_for_good]
        if not page and not deleted and self.answer.since is None:
            raise Refused("empty")
        out.moved = [id for id in out.moved if id not in gone]
        self.leave(gone)
        at = next((i for i, row in enumerate(self.rows) if row in gone), len(self.rows))
        if feed.numbered():
            feed._move_spots([r for r in self.rows[at + 1:] if isinstance(r, str)], 0)
        self.rows_without(gone)
        self.rows = feed._merge_gaps(self.rows)
        self.shown = [id for id in page if id in self.where()]
        keyed = feed.order in ("stable", "bump")
        placed = self.put_new_on_top(page) if keyed else []
        for id in page:
            if id in self.where() or id in placed:
                continue
            if keyed and self.has_keys([id]) and (id in out.moved or self.is_inside(self.key(id))):
                self.splice([id], upper=None, lower=None)
                self.keep_proven_run()
                placed.append(id)
            else:
                out.ignored.append(id)                         # its place is not cached, or not known
        self.accepted = [id for id in placed if id in self.where()]
        if not self.where():                                   # as after the last deletion (R14)
            self.rows, self.head, self.tail = [], feed._edge(END), feed._edge(UNKNOWN)

    def put_new_on_top(self, page):
        """Everything that came on top since the head was told is in the answer, if that was after its beginning."""
        feed, top = self.feed, next((r for r in self.rows if isinstance(r, str)), None)
        if top is None or not self.has_keys(page) or feed.head.link != END:
            return []
        above = sorted((id for id in page if id not in self.where() and self.key(id) > self.key(top)),
                       key=self.key, reverse=True)
        whole = feed.token_covers_top() and self.ticket.own == feed.since[0] and self.rows[0] == top \
            and self.is_whole_delta
        self.top_told = whole
        if not whole:
            return []                                          # others may lie between and below them
        if above:
            self.splice(above, upper=HEAD, lower=top)
            self.on_top = above
        return above

    def is_inside(self, key):
        """The place of this key is inside a cached run."""
        at = self.place_for_key(key)
        return 0 < at < len(self.rows) and not isinstance(self.rows[at - 1], Gap)
