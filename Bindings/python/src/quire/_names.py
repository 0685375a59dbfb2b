"""The numbers of quire.h by name."""

from __future__ import annotations

from enum import IntFlag

from ._quire import lib
from ._words import Word


class Durability(Word):
    """What a commit promises when the power fails. A killed process loses nothing either way."""

    FULL = lib.QUIRE_DURABILITY_FULL
    RELAXED = lib.QUIRE_DURABILITY_RELAXED


class Order(Word):
    """What the server promises about order."""

    STABLE = lib.QUIRE_ORDER_STABLE
    KEYLESS = lib.QUIRE_ORDER_KEYLESS
    BUMP = lib.QUIRE_ORDER_BUMP
    APPEND_ONLY = lib.QUIRE_ORDER_APPEND_ONLY
    RANKED = lib.QUIRE_ORDER_RANKED


class Paging(Word):
    """How the server hands out its pages."""

    CURSOR = lib.QUIRE_PAGING_CURSOR
    KEYSET = lib.QUIRE_PAGING_KEYSET
    OFFSET = lib.QUIRE_PAGING_OFFSET
    PAGE = lib.QUIRE_PAGING_PAGE
    IDS = lib.QUIRE_PAGING_IDS
    #: Links come with each page and are positions ("page=2"): posts slide over them.
    PAGES = lib.QUIRE_PAGING_PAGES


class Start(Word):
    """Where a window opens."""

    #: The first row, also when another one comes above it.
    HEAD = lib.QUIRE_START_HEAD
    #: The first post of `ids`; NotFoundError if the feed does not hold it.
    POST = lib.QUIRE_START_POST
    #: The first post of `ids` that the feed holds, else the head: what Window.nearest() gave once.
    NEAREST = lib.QUIRE_START_NEAREST
    #: The first post whose key is `key` or lower, else the last row.
    KEY = lib.QUIRE_START_KEY
    #: The row of this rank, else the last row.
    RANK = lib.QUIRE_START_RANK


class Sizes(Word):
    """Who chooses how many rows a page has, in feeds paged by offset or number."""

    #: Not known: the same size is asked for again and again, and what comes back is learned.
    UNKNOWN = lib.QUIRE_SIZES_UNKNOWN
    #: The server grants any size up to the limit that is asked for.
    FREE = lib.QUIRE_SIZES_FREE
    #: The server fixes the size, whatever is asked for.
    FIXED = lib.QUIRE_SIZES_FIXED


class LinkKind(Word):
    """What is known about the continuation at an open place of a feed."""

    UNKNOWN = lib.QUIRE_LINK_UNKNOWN
    END = lib.QUIRE_LINK_END
    CONFIRM_END = lib.QUIRE_LINK_CONFIRM_END
    HEAD = lib.QUIRE_LINK_HEAD
    MORE = lib.QUIRE_LINK_MORE
    TOKEN = lib.QUIRE_LINK_TOKEN
    BELOW = lib.QUIRE_LINK_BELOW
    ABOVE = lib.QUIRE_LINK_ABOVE


class Place(Word):
    """The place for which a request asks."""

    HEAD = lib.QUIRE_PLACE_HEAD
    TAIL = lib.QUIRE_PLACE_TAIL
    GAP = lib.QUIRE_PLACE_GAP
    ABOVE_GAP = lib.QUIRE_PLACE_ABOVE_GAP
    OPEN_HEAD = lib.QUIRE_PLACE_OPEN_HEAD
    AROUND = lib.QUIRE_PLACE_AROUND
    BODIES = lib.QUIRE_PLACE_BODIES
    PAGE = lib.QUIRE_PLACE_PAGE
    JOIN = lib.QUIRE_PLACE_JOIN
    DELTA = lib.QUIRE_PLACE_DELTA


class RequestKind(Word):
    """The way a request names the page it wants."""

    NONE = lib.QUIRE_REQUEST_NONE
    LINK = lib.QUIRE_REQUEST_LINK
    POSITION = lib.QUIRE_REQUEST_POSITION
    PAGE = lib.QUIRE_REQUEST_PAGE
    AROUND = lib.QUIRE_REQUEST_AROUND
    SNAPSHOT = lib.QUIRE_REQUEST_SNAPSHOT
    BODIES = lib.QUIRE_REQUEST_BODIES
    DELTA = lib.QUIRE_REQUEST_DELTA


class Refusal(Word):
    """Why no request is possible at a place."""

    EMPTY = lib.QUIRE_REFUSAL_EMPTY
    END = lib.QUIRE_REFUSAL_END
    CLOSED = lib.QUIRE_REFUSAL_CLOSED
    NO_LINK = lib.QUIRE_REFUSAL_NO_LINK
    NO_SUCH_GAP = lib.QUIRE_REFUSAL_NO_SUCH_GAP
    FILL_FIRST = lib.QUIRE_REFUSAL_FILL_FIRST
    UNSUPPORTED = lib.QUIRE_REFUSAL_UNSUPPORTED
    NO_SUCH_JOIN = lib.QUIRE_REFUSAL_NO_SUCH_JOIN


class Help(Word):
    """The next step after an answer that changed no posts, or if no request is possible."""

    RETRY = lib.QUIRE_HELP_RETRY
    PLAN_AGAIN = lib.QUIRE_HELP_PLAN_AGAIN
    REFRESH = lib.QUIRE_HELP_REFRESH
    FILL_FIRST = lib.QUIRE_HELP_FILL_FIRST
    RESET = lib.QUIRE_HELP_RESET
    CHECK_OPTIONS = lib.QUIRE_HELP_CHECK_OPTIONS
    LOOK_AGAIN = lib.QUIRE_HELP_LOOK_AGAIN


class Verdict(Word):
    """The verdict on an answer."""

    OK = lib.QUIRE_VERDICT_OK
    JOINED = lib.QUIRE_VERDICT_JOINED
    GAP = lib.QUIRE_VERDICT_GAP
    CONFIRM_END = lib.QUIRE_VERDICT_CONFIRM_END
    DRIFT = lib.QUIRE_VERDICT_DRIFT
    REPLAN = lib.QUIRE_VERDICT_REPLAN
    ERROR = lib.QUIRE_VERDICT_ERROR
    STALE = lib.QUIRE_VERDICT_STALE
    CONTRADICTION = lib.QUIRE_VERDICT_CONTRADICTION
    DISCONTINUITY = lib.QUIRE_VERDICT_DISCONTINUITY
    NO_PROGRESS = lib.QUIRE_VERDICT_NO_PROGRESS
    EMPTY = lib.QUIRE_VERDICT_EMPTY
    EMPTY_CONFIRM = lib.QUIRE_VERDICT_EMPTY_CONFIRM
    ISLAND = lib.QUIRE_VERDICT_ISLAND


class CrawlKind(Word):
    """Where the first page of a crawl lies."""

    HEAD = lib.QUIRE_CRAWL_HEAD
    TAIL = lib.QUIRE_CRAWL_TAIL
    GAP = lib.QUIRE_CRAWL_GAP


class Update(Word):
    """The result of an update of a post."""

    CHANGED = lib.QUIRE_UPDATE_CHANGED
    SAME = lib.QUIRE_UPDATE_SAME
    STALE = lib.QUIRE_UPDATE_STALE
    MISSING = lib.QUIRE_UPDATE_MISSING


class Alias(Word):
    """The result of joining two ids of one post."""

    UNITED = lib.QUIRE_ALIAS_UNITED
    NOTED = lib.QUIRE_ALIAS_NOTED
    SAME = lib.QUIRE_ALIAS_SAME
    MISSING = lib.QUIRE_ALIAS_MISSING


class RowKind(Word):
    POST = lib.QUIRE_ROW_POST
    GAP = lib.QUIRE_ROW_GAP
    #: Only of merged lists; see Frontier.
    HEAD = lib.QUIRE_ROW_HEAD
    TAIL = lib.QUIRE_ROW_TAIL


class Detail(Word):
    """How much of a post a body holds: one of these, or another number from 0 to 255."""

    #: What a list shows.
    SUMMARY = lib.QUIRE_DETAIL_SUMMARY
    #: All that the server has.
    FULL = lib.QUIRE_DETAIL_FULL


class RowFlag(IntFlag):
    """Properties of a post in its feed."""

    HAS_KEY = lib.QUIRE_ROW_HAS_KEY
    HAS_PAGE = lib.QUIRE_ROW_HAS_PAGE
    DETACHED = lib.QUIRE_ROW_DETACHED
    PINNED = lib.QUIRE_ROW_PINNED
    PLACEHOLDER = lib.QUIRE_ROW_PLACEHOLDER
    UNVERIFIED = lib.QUIRE_ROW_UNVERIFIED
    OUTDATED = lib.QUIRE_ROW_OUTDATED
    PARTIAL = lib.QUIRE_ROW_PARTIAL
    CHECKED = lib.QUIRE_ROW_CHECKED
    NUMERIC_ID = lib.QUIRE_ROW_NUMERIC_ID


class Doubt(Word):
    """Why posts may be missing at a gap, or why nothing proves that a post follows the one above it."""

    UNFETCHED = lib.QUIRE_DOUBT_UNFETCHED
    EVICTED = lib.QUIRE_DOUBT_EVICTED
    END_IN_DOUBT = lib.QUIRE_DOUBT_END_IN_DOUBT
    JUMP = lib.QUIRE_DOUBT_JUMP
    MISSING_PAGE = lib.QUIRE_DOUBT_MISSING_PAGE
    CONTRADICTION = lib.QUIRE_DOUBT_CONTRADICTION
    DRIFT = lib.QUIRE_DOUBT_DRIFT
    NUMBERING = lib.QUIRE_DOUBT_NUMBERING
    DISORDER = lib.QUIRE_DOUBT_DISORDER
    UNPLACED = lib.QUIRE_DOUBT_UNPLACED
    MISSED = lib.QUIRE_DOUBT_MISSED
    DAMAGE = lib.QUIRE_DOUBT_DAMAGE


class ChangeKind(Word):
    """What happened to a row."""

    INSERTED = lib.QUIRE_CHANGE_INSERTED
    REMOVED = lib.QUIRE_CHANGE_REMOVED
    UPDATED = lib.QUIRE_CHANGE_UPDATED
    RESET = lib.QUIRE_CHANGE_RESET


class FindingCode(Word):
    """What kind of damage a check found."""

    CHECKSUM = lib.QUIRE_FINDING_CHECKSUM
    UNREADABLE = lib.QUIRE_FINDING_UNREADABLE
    MISSING = lib.QUIRE_FINDING_MISSING
    ORPHAN = lib.QUIRE_FINDING_ORPHAN
    COUNT = lib.QUIRE_FINDING_COUNT
    INDEX = lib.QUIRE_FINDING_INDEX
    GAP = lib.QUIRE_FINDING_GAP
    ORDER = lib.QUIRE_FINDING_ORDER
    BODY = lib.QUIRE_FINDING_BODY
    PAGE = lib.QUIRE_FINDING_PAGE
    SPACE = lib.QUIRE_FINDING_SPACE
    HEADER = lib.QUIRE_FINDING_HEADER
    AHEAD = lib.QUIRE_FINDING_AHEAD
