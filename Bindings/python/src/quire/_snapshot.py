"""Snapshots: reading."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from ._convert import bytes_out, handle_in, id_in, ids_out, link_out, number_in, signed_in, sized, text_out
from ._errors import Status, check, failure
from ._feed import Feed
from ._lease import Lease
from ._names import ChangeKind, Order, Paging, RowKind, Sizes, Start
from ._quire import ffi, lib
from ._rows import SCREENFUL, Frontier, GapRow, PostRow, Row, Rows, merged_out, position_in, rows_out
from ._values import Change, FeedInfo, FeedOptions, Id, Page, PostInfo, RowName
from ._window import Window

# For the child of a fork, see _forget_after_fork().
_open_snapshots: weakref.WeakSet[Snapshot]


class Snapshot:
    """One consistent state of the whole cache, also while others write. A context manager.

    Several threads may use one snapshot; they take turns. See close() for what becomes of bodies.
    """

    __slots__ = ("_handle", "_lease", "_lock", "__weakref__")

    def __init__(self, cache: Any) -> None:
        """Snapshots come from Cache.snapshot()."""
        self._handle = ffi.NULL
        self._lock = threading.RLock()
        out = ffi.new("quire_snapshot **")
        check(lib.quire_snapshot_begin(cache, out))
        self._handle = ffi.gc(out[0], lib.quire_snapshot_end)
        self._lease = Lease(self._handle)
        _open_snapshots.add(self)

    def close(self) -> None:
        """Ends the snapshot. Closing twice does nothing.

        Every memoryview that a `body` returned is released: using it raises ValueError. Python cannot take
        back what was made from such a view (a slice, a cast, an array over it, a write that another
        thread is in the middle of). If there is any, close() raises BodiesInUseError; the snapshot refuses
        further reads, but the memory stays valid, and the snapshot ends in the library when the last
        of them is gone. Copy with bytes(view) what is to live longer.
        """
        in_use = self._end()
        if in_use:
            raise failure(
                Status.BODIES_IN_USE,
                f"{in_use} bodies of the snapshot are still in use; it ends with the last of them")

    def _end(self) -> int:
        """Returns how many bodies keep the library's snapshot open."""
        with self._lock:
            handle, self._handle = self._handle, ffi.NULL
            if handle == ffi.NULL:
                return 0
            in_use = self._lease.revoke()
            if in_use == 0:
                ffi.release(handle)
            return in_use

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._end()  # the frames of the exception may hold bodies, and it must not be hidden

    def _require_open(self) -> None:
        if self._handle == ffi.NULL:
            raise failure(Status.BAD_HANDLE, "the snapshot has ended")

    # ---- Rows

    def rows(self, feed: Feed) -> Rows:
        """The rows of a feed, posts and gaps, top first: to slice and to iterate."""
        return Rows(self, feed)

    def _read(
        self, function: Callable[..., int], feed: Feed, start: Row | int | None, limit: int
    ) -> list[Row]:
        """Reads from a rank on, or from a row or the border."""
        rows = ffi.new("quire_row[]", number_in(limit, 32))
        count = ffi.new("size_t *")
        with self._lock:
            self._require_open()
            lease = self._lease
            place = number_in(start) if isinstance(start, int) else position_in(start, lease)
            check(function(
                self._handle, handle_in(feed, Feed), place, rows if limit else ffi.NULL, limit, count))
            return rows_out(rows, count[0], lease)

    def after(self, feed: Feed, row: Row | None = None, limit: int = SCREENFUL) -> list[Row]:
        """Up to `limit` rows below a row of this snapshot (None: from the top), in one call."""
        return self._read(lib.quire_read_after, feed, row, limit)

    def before(self, feed: Feed, row: Row | None = None, limit: int = SCREENFUL) -> list[Row]:
        """Up to `limit` rows above a row (None: from the bottom), the nearest first, in one call."""
        return self._read(lib.quire_read_before, feed, row, limit)

    def from_rank(self, feed: Feed, rank: int, limit: int = SCREENFUL) -> list[Row]:
        """Up to `limit` rows from a rank on, in one call; none if the feed has no row of this rank.

        The rank of a row is the number of rows above it, gaps included: its index in rows(). The page index
        of the cache finds it in a time that hardly grows with the feed.
        """
        return self._read(lib.quire_read_from_rank, feed, rank, limit)

    def row_count(self, feed: Feed) -> int:
        """Number of rows of a feed, posts and gaps."""
        return self._number(lib.quire_row_count, feed)

    def rank_of_row(self, feed: Feed, row: Row) -> int:
        """The rank of a row of this snapshot."""
        return self._number(lib.quire_rank_of_row, feed, position_in(row, self._lease))

    def rank_of_post(self, feed: Feed, id: Id) -> int:
        """The rank of a post, else NotFoundError."""
        return self._number(lib.quire_rank_of_post, feed, id_in(id))

    def rank_of_key(self, feed: Feed, key: int) -> int:
        """The rank of the first post whose key is this one or lower. Use it to open a list at a date.

        It is row_count() if all keys are larger. BadArgumentError if the feed's order is not that of keys.
        """
        return self._number(lib.quire_rank_of_key, feed, signed_in(key))

    def _number(self, function: Callable[..., int], feed: Feed, *arguments: Any) -> int:
        out = ffi.new("uint64_t *")
        with self._lock:
            self._require_open()
            check(function(self._handle, handle_in(feed, Feed), *arguments, out))
        return int(out[0])

    def merged(
        self, feeds: Sequence[Feed], *, from_key: int | None = None, past_frontiers: bool = False
    ) -> Iterator[tuple[Feed, Row | Frontier]]:
        """The rows of several feeds as one list, the highest key first, each with its feed.

        The list ends with a frontier: a GapRow, or a Frontier at the head or the tail of a feed, where posts
        may be missing that belong above all that follows. `past_frontiers` reads on below. `from_key` begins
        at a date. All feeds must have the order STABLE or BUMP. A post of several feeds comes once.
        """
        feeds = list(feeds)
        handles = ffi.new("quire_feed *[]", [handle_in(feed, Feed) for feed in feeds])
        key = ffi.NULL if from_key is None else ffi.new("int64_t *", signed_in(from_key))
        out = ffi.new("quire_merge **")
        with self._lock:
            self._require_open()
            check(lib.quire_merge_begin(
                self._handle, handles if feeds else ffi.NULL, len(feeds), key, out))
        merge = ffi.gc(out[0], lib.quire_merge_end)
        rows = ffi.new("quire_row[]", SCREENFUL)
        sources = ffi.new("uint32_t[]", SCREENFUL)
        count = ffi.new("size_t *")
        while True:
            with self._lock:
                self._require_open()
                check(lib.quire_merge_read(merge, rows, sources, SCREENFUL, count))
                found = [
                    (feeds[sources[i]], merged_out(rows[i], self._lease)) for i in range(count[0])]
            yield from found
            if not found or not past_frontiers and not isinstance(found[-1][1], PostRow):
                return

    def window(
        self, feed: Feed, start: Start = Start.HEAD, *, ids: Iterable[Id] = (), key: int = 0, rank: int = 0,
        above: int = 50, below: int = 50,
    ) -> Window:
        """A window over the rows that the snapshot sees: the row that it opens at, and rows above and below it."""
        with self._lock:
            self._require_open()
            return Window(self._handle, feed, start, ids, key, rank, above, below)

    def gaps(self, feed: Feed) -> Iterator[GapRow]:
        """The gaps of a feed, topmost first."""
        border: Row | None = None
        while True:
            rows = self._read(lib.quire_read_gaps, feed, border, SCREENFUL)
            for row in rows:
                assert isinstance(row, GapRow)
                yield row
            if len(rows) < SCREENFUL:
                return
            border = rows[-1]

    def find(self, feed: Feed, id: Id) -> PostRow:
        """The post in its place in the feed, else NotFoundError."""
        out = ffi.new("quire_row *")
        with self._lock:
            self._require_open()
            check(lib.quire_find(self._handle, handle_in(feed, Feed), id_in(id), out))
            row = rows_out(out, 1, self._lease)[0]
        assert isinstance(row, PostRow)
        return row

    def post(self, id: Id, *, collection: str = "") -> PostInfo:
        """The record of a post of a collection. NotFoundError if none of its feeds holds the post."""
        out = sized("quire_post_info")
        with self._lock:
            self._require_open()
            check(lib.quire_post_get_info(self._handle, id_in(collection), id_in(id), out))
            return PostInfo(
                body=self._lease.view(int(ffi.cast("uintptr_t", out.body.data)), out.body.size),
                version=out.version if out.has_version else None,
                feeds=out.feeds,
                fields={
                    text_out(out.fields[i].name): bytes_out(out.fields[i].value)
                    for i in range(out.field_count)},
                detail=out.detail, is_outdated=bool(out.is_outdated))

    def attribute(self, feed: Feed, name: str) -> bytes:
        """A copy of the value of Feed.set_attribute(), else NotFoundError."""
        out = ffi.new("quire_bytes *")
        with self._lock:
            self._require_open()
            check(lib.quire_get_attribute(self._handle, handle_in(feed, Feed), id_in(name), out))
            return bytes_out(out[0])

    # ---- Pages

    def pages(self, feed: Feed, index: int = 0) -> Iterator[Page]:
        """The pages of a feed, topmost first, from an index on."""
        pages = ffi.new("quire_page[]", SCREENFUL)
        count = ffi.new("size_t *")
        while True:
            with self._lock:
                self._require_open()
                check(lib.quire_read_pages(
                    self._handle, handle_in(feed, Feed), number_in(index), pages, SCREENFUL, count))
                found = [_page_out(pages[i]) for i in range(count[0])]
            yield from found
            if len(found) < SCREENFUL:
                return
            index += SCREENFUL

    def page(self, feed: Feed, number: int) -> Iterator[PostRow]:
        """The posts that page `number` (not its index) still has; none if there is no such page."""
        rows = ffi.new("quire_row[]", SCREENFUL)
        count = ffi.new("size_t *")
        first = 0
        while True:
            with self._lock:
                self._require_open()
                check(lib.quire_read_page(
                    self._handle, handle_in(feed, Feed), number_in(number), first, rows, SCREENFUL, count))
                found = rows_out(rows, count[0], self._lease)
            for row in found:
                assert isinstance(row, PostRow)
                yield row
            if len(found) < SCREENFUL:
                return
            first += SCREENFUL

    # ---- Info and changes

    @property
    def generation(self) -> int:
        """Number of commits that the snapshot sees."""
        out = ffi.new("uint64_t *")
        with self._lock:
            self._require_open()
            check(lib.quire_snapshot_generation(self._handle, out))
        return int(out[0])

    def info(self, feed: Feed) -> FeedInfo:
        """The description and the totals of a feed."""
        out = sized("quire_feed_info")
        with self._lock:
            self._require_open()
            check(lib.quire_feed_get_info(self._handle, handle_in(feed, Feed), out))
            return _info_out(out)

    def changes(self, since: int) -> list[Change]:
        """The changes of each commit after `since`, oldest first. ResyncError if the log does not reach back that far."""
        array = ffi.new("quire_change **")
        count = ffi.new("size_t *")
        with self._lock:
            self._require_open()
            check(lib.quire_changes_since(self._handle, number_in(since), array, count))
            return [_change_out(array[0][i]) for i in range(count[0])]


_open_snapshots = weakref.WeakSet()


def _forget_after_fork() -> None:
    """The child has the parent's map, but the parent may end the snapshot and reuse its pages."""
    for snapshot in list(_open_snapshots):
        snapshot._lock = threading.RLock()  # a thread that the child does not have may hold it
        snapshot._lease.revoke()


os.register_at_fork(after_in_child=_forget_after_fork)


def _page_out(page: Any) -> Page:
    return Page(
        page.number, page.index, link_out(page.own), link_out(page.next), link_out(page.previous),
        page.received, page.added, page.duplicates, page.duplicates_in_page, page.posts,
        page.fetched_at, bool(page.is_full))


def _info_out(out: Any) -> FeedInfo:
    options = FeedOptions(
        order=Order(out.order), paging=Paging(out.paging), page_size=out.page_size,
        minimum_run=out.minimum_run, first_page=out.first_page, sticky=tuple(ids_out(out.sticky)),
        trusts_end=bool(out.flags & lib.QUIRE_FEED_TRUSTS_END),
        is_strict=bool(out.flags & lib.QUIRE_FEED_STRICT), collection=text_out(out.collection),
        sizes=Sizes(out.sizes), rows_per_page=out.rows_per_page)
    return FeedInfo(
        name=text_out(out.name), number=out.number, options=options, posts=out.posts,
        detached=out.detached, placeholders=out.placeholders, pages=out.pages, gaps=out.gaps,
        unverified_joins=out.unverified_joins, body_bytes=out.body_bytes, head=link_out(out.head),
        tail=link_out(out.tail), is_in_sequence=bool(out.is_in_sequence),
        is_end_assumed=bool(out.is_end_assumed), answers_against_order=out.answers_against_order,
        sizes=Sizes(out.sizes_now), rows_per_page=out.rows_known or None)


def _row_name(kind: int, id: Any, gap: int) -> RowName | None:
    if kind == 0:
        return None
    return RowName(RowKind(kind), text_out(id) if kind == RowKind.POST else gap)


def _change_out(change: Any) -> Change:
    return Change(
        change.generation, change.feed, ChangeKind(change.kind),
        _row_name(change.row_kind, change.id, change.gap),
        _row_name(change.below_kind, change.below_id, change.below_gap))
