"""What the rules speak of: edges, gaps, entries, pages, tickets, answers, outcomes (section 1)."""
from __future__ import annotations

from dataclasses import dataclass, field

UNKNOWN = "?"                 # nothing is known about what lies beyond
END = "end"                   # the server said explicitly that nothing lies beyond
CONFIRM_END = "confirm-end"   # the server said "end" once although the cache holds more below
TOP = "^"                     # R25.4: the place above an open head (no entry can have this id)
HEAD = "head"                 # the request for the first page of the feed
MORE = "more"                 # offset and page-number feeds: "has_more = true", no link needed
WORDS = (UNKNOWN, END, CONFIRM_END, HEAD, MORE)                # everything else is a token for the server

ORDER_CLASSES = ("stable", "keyless", "bump", "ranked", "append-only")
PAGING_KINDS = ("cursor", "pages", "keyset", "offset", "page", "ids")    # pages: links that are positions (R26)
ECHO_PAGES = 8                # R26: the same rows under two numbers so far apart: the numbers have ended

@dataclass
class Search:
    """R26. Where to look next below a border; forgotten when the border or the answer changes."""
    border: str
    back: int = 0                  # how many pages (offset: rows) further up to look
    skip: int = 0                  # how many pages (rows) below the border were empty
    blanks: int = 0                # empty answers in a row
    stall: bool = False            # the border was shown, and nothing below it although rows were asked for
    sure: bool = False             # the border was asked for again: a claim may now remove
    echo: tuple | None = None      # (first row, start) of an answer without news
    probe: int | None = None       # the page (start) far below: do the numbers go on there?
    after: str | None = None       # an entry above the border, shown as the last of a page (window)
    nth: int = 0                   # ... that page
    ceiling: float = float("inf")  # here, or above, no known entry is shown
    lost: bool = False             # nothing known is near, and entries above the gap are: fill that gap first
    ended: bool = False            # nothing was found below the border: an end if the border is still there
    solid: bool = False            # the numbers do not wrap: they go on far below


@dataclass(eq=False)
class Edge:
    """An open side of the cached sequence: where a request may attach."""
    link: str                      # a token for the server, or UNKNOWN / END / CONFIRM_END
    number: int                    # changes whenever the link changes; tickets name this number
    after: str | None = None       # the link continues below this entry, somewhere above the border
    tried_links: tuple = ()             # links followed here since the last new entry
    suspect: bool = False          # "end" was reported once; the confirmation takes several requests
    loose: bool = False            # the link begins beyond the border, at a post that was dropped (R16)
    assumed: bool = False          # R26: this end was concluded, no answer showed it together with the border
    search: Search | None = None   # R26: what the last answers at this edge have shown of the numbers

    @property
    def overlapping(self):
        """The answer does not start at the border."""
        return self.after is not None


@dataclass(eq=False)
class Gap:
    down: Edge                     # continue below the entry above the gap
    up: Edge                       # continue above the entry below the gap
    why: str = "unfetched"         # why it exists
    since: int = 0                 # clock of the change that opened it


@dataclass
class Entry:
    """The place of a post in one feed."""
    id: str
    key: float | None = None       # sort key, larger = nearer to the head
    page: int | None = None        # number of the page that last delivered it
    confirmed: int = 0             # clock at which an answer last wrote or confirmed it
    as_of: int = 0                 # clock at which that answer was asked for
    detached: bool = False            # not part of the server's sequence (optimistic, sticky, kept pin)
    pinned: bool = False
    placeholder: bool = False            # place known, body missing
    pushed: int = 0                # R27: clock at which it was pushed
    spot: tuple | None = None      # R26: (page or start, row, whether it was the last row shown there)


@dataclass
class Page:
    """One accepted response."""
    number: int
    own: str                       # the link that was requested
    next: str = UNKNOWN            # continues below `last`
    prev: str = UNKNOWN            # continues above `first`
    first: str | None = None
    last: str | None = None
    loose_below: bool = False      # `next` continues below a post that stood below `last` and was dropped
    loose_above: bool = False      # the same for `prev` and `first`
    received: int = 0              # entries in the answer, duplicates within the answer included
    new: int = 0
    duplicates: int = 0            # already cached
    in_page_duplicates: int = 0
    fetched_at: float = 0
    @property
    def is_full(self):
        return self.new > 0 and self.duplicates == 0


@dataclass
class Ticket:
    """Permission to ingest one answer; issued by plan(), checked by ingest()."""
    number: int
    op: str                        # refresh | down | up | around | snapshot | ids | recorded
    generation: int
    issued: int                    # clock when the request was planned ("as of")
    own: str = HEAD                # the link requested
    edges: tuple = ()              # numbers of all edges that must still exist
    overlapping: bool = False
    after: str | None = None       # overlapping: the answer starts directly below this entry
    minted: str | None = None      # keyset: the border from which the link was made
    bounded: bool = False
    loose: bool = False            # the link requested begins beyond the border (R16)
    confirms: int | None = None    # refresh repeated to confirm the end at this edge
    ids: tuple = ()
    start: int | None = None       # R26: position of the first row asked for
    rows: int = 0                  # R26: rows asked for, or the size of the page
    nth: int | None = None         # R26: the page asked for, 0 = the first, where only numbers are certain
    claims: bool = False           # R26: an answer that shows nothing known may be joined by the numbering
    probe: bool = False
    beyond: bool = False           # R24: pages between the border and this one are missing
    join: tuple = ()               # R26: the unverified join to be verified
    asked_rows: int = 0
    sizes: object = None           # R26: the size policy by which it was planned
    used: bool = False


@dataclass
class Answer:
    items: list = field(default_factory=list)    # ids in server order; None = row without an id
    next: str = UNKNOWN
    prev: str = UNKNOWN
    keys: dict = field(default_factory=dict)
    error: str | None = None
    at: float = 0
    deleted: list = field(default_factory=list)  # R29: ids that are gone
    since: str | None = None       # R29: with this, what changed after this answer can be asked for
    total: int | None = None       # R26: rows in the whole list, if the server says so


@dataclass
class Outcome:
    outcome: str = "ok"
    reason: str = ""
    new: list = field(default_factory=list)
    duplicates: list = field(default_factory=list)
    in_page_duplicates: int = 0
    moved: list = field(default_factory=list)
    removed: list = field(default_factory=list)
    kept: list = field(default_factory=list)       # missing from the window but exempt from removal
    displaced: list = field(default_factory=list)  # ranked feeds: pushed below the page
    ignored: list = field(default_factory=list)    # tombstoned, outdated, above the border, unrequested
    opaque: int = 0
    sticky: list = field(default_factory=list)
    closed_gaps: int = 0
    opened_gaps: int = 0
    page: int | None = None
    disorder: list = field(default_factory=list)   # known entries shown against the order class
    unplaced: list = field(default_factory=list)   # received, not cached, and in no other list
    help: str = ""                 # what helps, if the answer changed no entries
    disproved: object = None       # R26: the size policy that this answer showed to be wrong


class Refused(Exception):
    """Raised inside ingest before anything was written."""

    def __init__(self, reason, help=None):
        super().__init__(reason)
        self.help = help or HELP[reason]


# Section 8. What helps after an answer that changed no entries, and after a refusal to plan.
HELP = {
    "error": "retry", "stale": "plan-again", "contradiction": "refresh", "discontinuity": "refresh", "empty": "retry",
    "empty-confirm": "reset", "no-progress": "check-options", "island": "check-options", "drift": "plan-again",
    "replan": "plan-again", "confirm-end": "plan-again",
}
HELP_TO_PLAN = {
    "empty": "refresh", "end": "refresh", "closed": "refresh", "no-link": "refresh", "no-such-gap": "look-again",
    "no-such-join": "look-again", "fill-first": "fill-first", "unsupported": "check-options",
}
