"""The library's arguments and results as plain values. They need no open cache."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Union

from ._names import (
    ChangeKind, Detail, FindingCode, Help, LinkKind, Order, Paging, Refusal, RequestKind, RowKind, Sizes,
    Verdict)

#: Anything with a contiguous buffer; text is taken as UTF-8.
Data = Union[bytes, bytearray, memoryview, str]
#: The id of a post. A number is its decimal text. Ids come back as text; bytes that are not UTF-8
#: survive the round trip as surrogates, as file names do in Python (PEP 383).
Id = Union[str, bytes, int]

#: What names a file: as in Python's own functions, also bytes.
PathName = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


@dataclass(frozen=True, slots=True)
class Link:
    """What is known about the continuation of a feed at one place."""

    kind: LinkKind
    #: The server's own words; for keyset feeds the id of the post at the border.
    text: str = ""
    #: The answer to this link starts above the post at the border, not directly beyond it.
    is_overlapping: bool = False

    UNKNOWN: ClassVar[Link]
    END: ClassVar[Link]
    HEAD: ClassVar[Link]
    MORE: ClassVar[Link]

    @classmethod
    def token(cls, text: str) -> Link:
        """The server's own words: a URL, a cursor, "page=17". Functions take a bare str for this."""
        return cls(LinkKind.TOKEN, text)


Link.UNKNOWN = Link(LinkKind.UNKNOWN)
Link.END = Link(LinkKind.END)
Link.HEAD = Link(LinkKind.HEAD)
Link.MORE = Link(LinkKind.MORE)


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """The options of a feed, fixed when it is created."""

    order: Order = Order.KEYLESS
    paging: Paging = Paging.CURSOR
    #: How many posts a request asks for unless it says otherwise.
    page_size: int = 20
    #: Ranked feeds: how many neighbours prove that a page joins what is cached.
    minimum_run: int = 2
    #: The number of the first page in feeds paged by number.
    first_page: int = 1
    #: Posts that the server shows out of order, such as announcements.
    sticky: Iterable[Id] = ()
    #: One reported end is enough to remove what is cached below it.
    trusts_end: bool = False
    #: Crawls: open a gap where only the numbering claims contiguity.
    is_strict: bool = False
    #: The collection that its posts belong to: shared within it, never across.
    collection: str = ""
    #: Who chooses the size of a page; FIXED goes with the rows of a page, the others with 0.
    sizes: Sizes = Sizes.UNKNOWN
    rows_per_page: int = 0


class Post(NamedTuple):
    """One post of an answer. A plain tuple (id, body) does as well, and a dict {"id": 1, "body": b"..."}."""

    id: Id
    body: Data = b""
    #: The server's sort key, larger is nearer to the head.
    key: int | None = None
    #: Which state of the post this is, larger is newer.
    version: int | None = None
    #: How much of the post the body holds. It never gives way to one of less detail.
    detail: int = Detail.FULL


#: What functions take as a post.
AnyPost = Union[Post, tuple[Any, ...], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Request:
    """The request to send to the server. False if none is possible; then `refusal` says why."""

    kind: RequestKind
    refusal: Refusal | None
    #: What the answer must be ingested with. It survives restarts and may be used by any process.
    ticket: int
    position: int
    #: How many posts to ask for; 0: name no size, or one of your own. 0 for each request by a link.
    limit: int
    #: RequestKind.AROUND: its text is the post. DELTA: the token.
    link: Link
    #: RequestKind.BODIES: the posts whose bodies are wanted.
    ids: list[str]
    #: Bounded requests: stop at this post. The end that the answer claims is that of the range.
    until: str | None
    is_overlapping: bool
    #: What helps against the refusal.
    help: Help | None

    def __bool__(self) -> bool:
        return self.kind != RequestKind.NONE


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an ingest."""

    verdict: Verdict
    #: The answer left the cache exactly as it was.
    is_unchanged: bool
    #: Number of the page stored.
    page: int | None
    duplicates_in_page: int
    opaque_rows: int
    gaps_closed: int
    gaps_opened: int
    #: Posts, known before in whatever feed, whose stored body this answer replaced.
    updated: int
    #: What helps, if the answer changed no posts.
    help: Help | None
    #: Verdict.STALE: "used", "other-feed", "reset", "edge-changed", "feed-changed", "sizes-changed",
    #: "repeated", "no-such-gap".
    reason: str
    added: list[str]
    duplicates: list[str]
    moved: list[str]
    removed: list[str]
    kept: list[str]
    displaced: list[str]
    ignored: list[str]
    sticky: list[str]
    #: Known posts in another order than the feed's class allows: evidence that the server does not keep it.
    disorder: list[str]
    #: Posts received that are neither cached afterwards nor in another of these lists.
    unplaced: list[str]
    #: The feed's `sizes` if this answer showed them to be wrong, and the rows of a page that FIXED stated.
    disproved_sizes: Sizes | None
    disproved_rows: int


class PruneResult(NamedTuple):
    #: The policy is met, or nothing more may leave. Else call again.
    is_done: bool
    pages: int
    posts: int


class Statistics(NamedTuple):
    """Totals of a cache and of its file."""

    feeds: int
    posts: int
    pages: int
    gaps: int
    body_bytes: int
    dead_body_bytes: int
    generation: int
    used_bytes: int
    free_bytes: int
    #: Open snapshots of all processes; how many commits ago the oldest began, in which process.
    snapshots: int
    oldest_snapshot_age: int
    oldest_snapshot_process: int
    pinned_bytes: int


class Limits(NamedTuple):
    """The limits of a cache, a collection or a feed; 0 is none."""

    posts: int = 0
    body_bytes: int = 0
    #: Between the fetch of a page and that of the newest answer of a commit.
    age_ms: int = 0


class Budget(NamedTuple):
    """How large a cache may become; Docs/budget.md says what leaves, and when."""

    #: Of the file, without free space; 0 is no limit.
    file_bytes: int = 0
    #: Of the whole cache, of each collection, of each feed.
    cache: Limits = Limits()
    collection: Limits = Limits()
    feed: Limits = Limits()


class Evictions(NamedTuple):
    """What the budget has taken from a cache, and whether it was missed."""

    pages: int
    posts: int
    body_bytes: int
    posts_by_age: int
    posts_by_feed: int
    posts_by_collection: int
    posts_by_cache: int
    posts_by_file: int
    hits: int
    misses: int


class Finding(NamedTuple):
    """Damage that a check found."""

    code: FindingCode
    location: str
    message: str


class RepairedFeed(NamedTuple):
    """One feed after a repair."""

    name: str
    posts: int
    #: Posts known to be lost; more may be, where there are new gaps.
    lost_posts: int
    #: Bodies lost in a feed of ids, whose posts keep their places as placeholders.
    lost_bodies: int
    gaps: int
    new_gaps: int
    #: Its record is lost, and with it its order class: it is gone.
    is_lost: bool


class RepairReport(NamedTuple):
    """The posts and pages that a repair kept and lost."""

    #: Nothing was wrong, and nothing was done.
    is_sound: bool
    damaged_records: int
    feeds: tuple[RepairedFeed, ...]
    #: Where the damaged file is now; None if nothing was changed.
    kept_file: str | None


@dataclass(frozen=True, slots=True)
class FeedInfo:
    """The description and the totals of a feed."""

    name: str
    #: The number by which Change names the feed.
    number: int
    options: FeedOptions
    #: Posts of the server's sequence, posts outside of it, posts whose body is missing.
    posts: int
    detached: int
    placeholders: int
    pages: int
    gaps: int
    unverified_joins: int
    body_bytes: int
    #: What continues above the first post (Link.END: nothing) and below the last one.
    head: Link
    tail: Link
    #: No gap is known.
    is_in_sequence: bool
    #: The server did not say that the feed ends here: that was concluded from what it answered.
    is_end_assumed: bool
    #: Answers that showed known posts in another order than the feed's class allows.
    answers_against_order: int
    #: The policy that holds: that of the options, or UNKNOWN once an answer has disproved it.
    sizes: Sizes
    #: Rows of a server's page as far as that is known: stated, or learned.
    rows_per_page: int | None


@dataclass(frozen=True, slots=True)
class Page:
    """A page as stored: one accepted answer."""

    number: int
    index: int
    own: Link
    next: Link
    previous: Link
    received: int
    added: int
    duplicates: int
    duplicates_in_page: int
    #: Posts it still has.
    posts: int
    #: Milliseconds since 1970.
    fetched_at: int
    #: All of its posts were new.
    is_full: bool


class RowName(NamedTuple):
    """The name of a row in a change: a post by its id, a gap by its number."""

    kind: RowKind
    name: str | int


class Change(NamedTuple):
    """One difference between two states of a feed. Applied in order, they lead from one to the other."""

    generation: int
    feed: int
    kind: ChangeKind
    row: RowName | None
    #: Inserted: the row directly above; None is the top.
    below: RowName | None


@dataclass(frozen=True, slots=True)
class PostInfo:
    """The record of a post. All feeds of its collection share it."""

    #: As Snapshot's bodies: good until the snapshot is closed.
    body: memoryview
    version: int | None
    #: Number of feeds that hold it.
    feeds: int
    #: Values that were updated one by one.
    fields: dict[str, bytes]
    #: How much of the post its body holds.
    detail: int
    #: A newer version was seen, but only with less detail: ask for its body (Place.BODIES).
    is_outdated: bool
