"""A feed, and what becomes of an answer (R2, R3)."""
from __future__ import annotations

from dataclasses import replace

from .changes import Changes
from .draft import Draft
from .drops import Drops
from .links import Links
from .names import Names
from .objects import END, HELP, Entry, Gap, MORE, ORDER_CLASSES, Outcome, PAGING_KINDS, Page, Refused, Ticket, UNKNOWN
from .planning import Planning
from .positions import Positions
from .pushes import Pushes
from .rows import Rows
from .sizes import Sizes


class Feed(Rows, Links, Planning, Positions, Sizes, Pushes, Names, Changes, Drops):
    """A list as a server shows it, and the parts of it that are cached."""

    def __init__(self, cache, order="keyless", paging="cursor", trust_end=False, limit=20,
                 min_run=2, sticky=(), first_page=1, strict=False, sizes="unknown"):
        assert order in ORDER_CLASSES and paging in PAGING_KINDS
        self.cache = cache
        self.order, self.paging, self.trust_end = order, paging, trust_end
        self.limit, self.min_run, self.first_page = limit, min_run, first_page
        self.stated_sticky = sticky
        self.strict = strict           # R25: a gap instead of an unverified join
        assert sizes in ("free", "unknown") or isinstance(sizes, int) and sizes > 0
        self.sizes = sizes             # R26
        self.unnamed = isinstance(sizes, int)      # no request names a size
        self.disorder = 0              # answers that showed known entries against the order class
        self.generation = 0
        self.changed = 0               # clock of the last accepted answer or eviction
        self._edge_numbers = self._page_numbers = self._ticket_numbers = 0
        self._clear()

    def _clear(self):
        self.rows: list[str | Gap] = []
        self.entries: dict[str, Entry] = {}
        self.pages: dict[int, Page] = {}
        self.tombstones: dict[str, int] = {}
        self.open_tickets: dict[tuple, Ticket] = {}
        self.unverified: dict[str, tuple] = {}        # R25: entries not proven to follow the one above: why, since when
        self.head, self.tail = self._edge(END), self._edge(UNKNOWN)
        self.skipped_above = 0
        self.checked: set[str] = set()      # R26: unverified joins whose upper side was asked for again
        self.size = self.sizes if isinstance(self.sizes, int) else None      # rows per page number, once known
        self.asked: int | None = None       # R26 unknown sizes: what is asked for
        self.short: tuple | None = None     # (page, rows) of a page with fewer rows than asked for
        self.most = 0                       # rows that one page has shown
        self.since: tuple | None = None     # R29: a token, and a clock: if the top was told then or later, it covers it
        self.head_as_of: int | None = None  # R27: clock of the request, or the message, that told the top
        self.live: int | None = None        # R27: since then everything that comes on top is pushed
        self.message: int | None = None     # R27: number of the last message

    def ingest(self, ticket, answer):
        out = Outcome()
        if answer.error:                                       # R3: an error writes nothing
            self.cancel(ticket)
            out.outcome, out.reason, out.help = "error", answer.error, HELP["error"]
            return out
        self._name_ticket(ticket)
        reason = self._stale_reason(ticket)                    # R2
        self.cancel(ticket)
        if reason:
            out.outcome, out.reason, out.help = "stale", reason, HELP["stale"]
            return out
        disproved = self._disprove(ticket, answer)
        self._learn_size(ticket, answer)
        if ticket.nth is not None:                             # what was learned holds for this answer too
            ticket.start, ticket.rows = ticket.nth * self.unit(), self.unit()
        if self._is_at_total(ticket, answer):
            answer = replace(answer, next=END)
        return self._ingest(ticket, answer, out, disproved)

    def _ingest(self, ticket, answer, out, disproved=None):
        self.last_placed = None
        answer = self._named(answer)
        if not self.numbered() and ticket.op != "delta":       # R16: "more" names no place
            answer = replace(answer, next=UNKNOWN if answer.next == MORE else answer.next,
                             prev=UNKNOWN if answer.prev == MORE else answer.prev)
        draft = Draft(self, ticket, answer, out)
        out.disorder = disorder = draft.against_order()
        down, up = (draft.numbered, draft.numbered_up) if self.numbered() and ticket.start is not None \
            else (draft.down, draft.up)
        try:
            page = draft.clean()
            {"refresh": draft.refresh, "down": down, "up": up, "around": draft.around, "verify": draft.verify,
             "snapshot": draft.snapshot, "ids": draft.bodies, "recorded": draft.recorded, "push": draft.push, "delta": draft.delta}[ticket.op](page)
            draft.require_shown_stay()
        except Refused as refusal:
            if ticket.op == "refresh":
                self.head.search = None                        # R7: the next one begins with the first page
            out = Outcome(outcome=str(refusal), in_page_duplicates=out.in_page_duplicates, help=refusal.help)
            if out.help == "refresh" and self._has_gap_above(ticket):
                out.help = "fill-first"                        # section 8: a refresh does not reach this border
        else:
            draft.commit()
            self.last_placed = draft.accepted if draft.stayed else None
            ticket.used = True
            out.help = "plan-again" if out.outcome == "discontinuity" else HELP.get(out.outcome, "")
        if disorder:
            self.disorder += 1
        out.disorder, out.disproved = disorder, disproved
        named = {*out.ignored, *out.sticky, *out.removed, *self.sticky()}
        out.unplaced = [id for id in dict.fromkeys(answer.items) if id and id not in self.entries and id not in named]
        return out
