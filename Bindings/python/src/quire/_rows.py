"""Rows of a feed, fetched a screenful per call."""

from __future__ import annotations

import operator
import struct
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union, overload

from ._convert import link_out, text_out
from ._errors import Status, failure
from ._lease import Lease
from ._names import Doubt, RowFlag, RowKind
from ._quire import ffi, lib
from ._values import Link

if TYPE_CHECKING:
    from ._feed import Feed
    from ._snapshot import Snapshot

#: Rows that one call into the library fetches.
SCREENFUL = 64

# Screenfuls that a Rows object keeps, so that neighbouring slices do not fetch one twice.
_KEPT_SCREENS = 4

# The largest number that the library takes; no feed has so many rows.
_NO_RANK = (1 << 64) - 1

_HAS_KEY, _HAS_PAGE = lib.QUIRE_ROW_HAS_KEY, lib.QUIRE_ROW_HAS_PAGE
_NUMERIC_ID, _UNVERIFIED = lib.QUIRE_ROW_NUMERIC_ID, lib.QUIRE_ROW_UNVERIFIED
_POST = lib.QUIRE_ROW_POST
_row_size = ffi.sizeof("quire_row")

# The first members of a quire_row, from kind to page. Reading them at once takes a third of the time that reading
# them one by one takes.
_members = struct.Struct("@iI16sQPNPNqQ")
assert _members.size == ffi.offsetof("quire_row", "gap")


@dataclass(slots=True, eq=False)
class PostRow:
    """A post in its place in a feed. Everything but the body outlives the snapshot."""

    id: str
    key: int | None
    #: Number of the page that last delivered it.
    page: int | None
    flags: int
    #: Why nothing proves that it follows the post above; None if that is proven, or a gap lies between.
    why: Doubt | None
    _position: bytes = field(repr=False)
    _lease: Lease = field(repr=False)
    _address: int = field(repr=False)
    _size: int = field(repr=False)

    @property
    def body(self) -> memoryview:
        """The body as received: a read-only view of the file, not a copy. See Snapshot.close()."""
        try:
            return self._lease.view(self._address, self._size)
        except ValueError as error:
            raise failure(Status.BAD_HANDLE, str(error)) from None

    @property
    def is_outdated(self) -> bool:
        """A newer version was seen, but only with less detail."""
        return bool(self.flags & RowFlag.OUTDATED)

    @property
    def is_partial(self) -> bool:
        """The body is not all of the post; Snapshot.post() says how much."""
        return bool(self.flags & RowFlag.PARTIAL)

    @property
    def is_detached(self) -> bool:
        """Not part of the server's sequence: a local post, a sticky one, a pinned one that left."""
        return bool(self.flags & RowFlag.DETACHED)

    @property
    def is_pinned(self) -> bool:
        return bool(self.flags & RowFlag.PINNED)

    @property
    def is_placeholder(self) -> bool:
        """Its place is known, its body is missing."""
        return bool(self.flags & RowFlag.PLACEHOLDER)

    @property
    def is_unverified(self) -> bool:
        """Nothing proves that it follows the post above; `why` says what makes it doubtful."""
        return bool(self.flags & RowFlag.UNVERIFIED)

    @property
    def is_checked(self) -> bool:
        """The page above such a join was asked for again and ended there as before (Place.JOIN)."""
        return bool(self.flags & RowFlag.CHECKED)


@dataclass(slots=True, eq=False)
class GapRow:
    """Posts may be missing here. Everything outlives the snapshot."""

    #: Its number within the feed, never used again after it has closed.
    number: int
    #: What continues below the post above, and above the post below.
    down: Link
    up: Link
    #: How many posts of the server's sequence the segment above has.
    posts_above: int
    #: Why it exists.
    why: Doubt
    #: The clock of the change that opened it, larger is later.
    since: int
    _position: bytes = field(repr=False)
    _lease: Lease = field(repr=False)


@dataclass(frozen=True, slots=True)
class Frontier:
    """In Snapshot.merged(): posts may be missing at an end of a feed."""

    #: True at the head, above the first post; False at the tail, below the last one.
    is_head: bool
    #: What continues there.
    link: Link


Row = Union[PostRow, GapRow]


def merged_out(row: Any, lease: Lease) -> Row | Frontier:
    if row.kind == RowKind.HEAD:
        return Frontier(True, link_out(row.up))
    if row.kind == RowKind.TAIL:
        return Frontier(False, link_out(row.down))
    return rows_out(ffi.addressof(row), 1, lease)[0]


def rows_out(rows: Any, count: int, lease: Lease) -> list[Row]:
    """The first `count` rows of an array."""
    memory = ffi.buffer(rows, count * _row_size)
    found: list[Row] = []
    for at in range(count):
        kind, flags, position, number, _, _, body, size, key, page = _members.unpack_from(
            memory, at * _row_size)
        if kind == _POST:
            found.append(PostRow(
                str(number) if flags & _NUMERIC_ID else text_out(rows[at].id_text),
                key if flags & _HAS_KEY else None, page if flags & _HAS_PAGE else None, flags,
                Doubt(rows[at].why) if flags & _UNVERIFIED else None, position, lease, body, size))
        else:
            row = rows[at]
            found.append(GapRow(
                row.gap, link_out(row.down), link_out(row.up), row.posts_above, Doubt(row.why), row.since,
                position, lease))
    return found


def position_in(row: Row | None, lease: Lease) -> Any:
    """A quire_position; it means nothing in another snapshot."""
    if row is None:
        return ffi.NULL
    if not isinstance(row, (PostRow, GapRow)):
        raise TypeError(f"a PostRow or a GapRow is needed, not {type(row).__name__}")
    if row._lease is not lease:
        raise failure(Status.BAD_ARGUMENT, "the row was read from another snapshot")
    return ffi.from_buffer("quire_position *", row._position)


class Rows:
    """The rows of a feed in one snapshot, top first: a sequence that is fetched as it is looked at.

    rows[10:20], rows[-1], `for row in rows`, reversed(rows). Each screenful costs one call, at any
    place of the feed: the page index of the cache finds rows by their number. len() uses it too. Like
    its snapshot, for one thread at a time.
    """

    __slots__ = ("_snapshot", "_feed", "_screens")

    def __init__(self, snapshot: Snapshot, feed: Feed) -> None:
        self._snapshot = snapshot
        self._feed = feed
        self._screens: OrderedDict[int, list[Row]] = OrderedDict()

    def _screen(self, number: int) -> list[Row]:
        """Screenful `number`; shorter than SCREENFUL at the bottom, empty below it."""
        kept = self._screens.get(number)
        if kept is not None:
            self._snapshot._require_open()
            self._screens.move_to_end(number)
            return kept
        rank = min(number * SCREENFUL, _NO_RANK)
        rows = self._snapshot.from_rank(self._feed, rank, SCREENFUL)
        self._screens[number] = rows
        if len(self._screens) > _KEPT_SCREENS:
            self._screens.popitem(last=False)
        return rows

    def __iter__(self) -> Iterator[Row]:
        number = 0
        while True:
            rows = self._screen(number)
            yield from rows
            if len(rows) < SCREENFUL:
                return
            number += 1

    def __reversed__(self) -> Iterator[Row]:
        border: Row | None = None
        while True:
            rows = self._snapshot.before(self._feed, border, SCREENFUL)
            yield from rows
            if len(rows) < SCREENFUL:
                return
            border = rows[-1]

    def __len__(self) -> int:
        return self._snapshot.row_count(self._feed)

    def _range(self, start: int, stop: int | None) -> list[Row]:
        found: list[Row] = []
        number = start // SCREENFUL
        while stop is None or number * SCREENFUL < stop:
            rows = self._screen(number)
            first = max(0, start - number * SCREENFUL)
            last = None if stop is None else stop - number * SCREENFUL
            found += rows[first:last]
            if len(rows) < SCREENFUL:
                break
            number += 1
        return found

    def _bottom(self, count: int) -> list[Row]:
        """The last rows, top first; fewer if there are fewer."""
        found: list[Row] = []
        while len(found) < count:
            wanted = min(SCREENFUL, count - len(found))
            rows = self._snapshot.before(self._feed, found[-1] if found else None, wanted)
            found += rows
            if len(rows) < wanted:
                break
        return found[::-1]

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            start, stop = at.start or 0, at.stop
            step = 1 if at.step is None else at.step
            if step > 0 and start >= 0 and (stop is None or stop >= 0):
                return self._range(start, stop)[::step]
            if step > 0 and start < 0 and stop is None:
                return self._bottom(-start)[::step]
            places = range(*at.indices(len(self)))
            if not places:
                return []
            low, high = min(places[0], places[-1]), max(places[0], places[-1])
            return self._range(low, high + 1)[:: abs(step)][:: 1 if step > 0 else -1]
        at = operator.index(at)
        if at < 0:
            rows = self._bottom(-at)
            if len(rows) < -at:
                raise IndexError("there are fewer rows")
            return rows[0]
        rows = self._screen(at // SCREENFUL)
        return rows[at % SCREENFUL]
