"""A window: the rows of a feed that a screen holds."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._convert import Ids, checked, handle_in, ids_out, number_in, signed_in, sized
from ._errors import check
from ._feed import Feed
from ._names import Start
from ._quire import ffi, lib
from ._rows import Row, rows_out
from ._values import Id

if TYPE_CHECKING:
    from ._snapshot import Snapshot


def _lock(snapshot: Snapshot) -> Any:
    from ._snapshot import Snapshot  # which imports this module

    return checked(snapshot, Snapshot)._lock


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed in the rows of a window, as lists want it. Each tuple of indices ascends."""

    #: Remove these rows of the list, from the last to the first.
    removed: tuple[int, ...]
    #: Insert these rows of the window, from the first to the last.
    inserted: tuple[int, ...]
    #: Draw these rows of the window anew.
    updated: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """What a window holds."""

    #: The window has no anchor and begins with the first row of the feed.
    is_following_head: bool
    #: The commit that the rows show.
    generation: int
    #: The number of rows of the feed, of those above the window, and of those in it.
    row_count: int
    rank: int
    count: int
    #: The index of the anchor among the rows of the window; 0 while it follows the head.
    anchor: int


class Window:
    """Some consecutive rows of a feed. A context manager; one thread at a time may use it.

    It opens anywhere (Snapshot.window) and keeps its place while rows come and go elsewhere. The anchor is the row
    that the reader looks at: it stays the anchor however many rows come above it. A window keeps no snapshot open.

        with cache.snapshot() as snapshot:
            window = snapshot.window(feed, quire.Start.RANK, rank=500_000)
        ...
        with cache.snapshot() as snapshot:
            difference = window.update(snapshot)
            rows = window.rows(snapshot)
    """

    __slots__ = ("_handle", "_lock")

    def __init__(
        self, snapshot: Any, feed: Feed, start: Start, ids: Iterable[Id], key: int, rank: int, above: int, below: int,
    ) -> None:
        """Windows come from Snapshot.window()."""
        given = sized("quire_window_start")
        wanted = Ids(ids)
        given.kind, given.ids, given.key, given.rank = start, wanted.value, signed_in(key), number_in(rank)
        given.above, given.below = number_in(above, 32), number_in(below, 32)
        out = ffi.new("quire_window **")
        check(lib.quire_window_open(snapshot, handle_in(feed, Feed), given, out))
        self._handle = ffi.gc(out[0], lib.quire_window_close)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Gives the window back."""
        ffi.release(self._handle)

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def info(self) -> WindowInfo:
        """What the window holds."""
        out = sized("quire_window_info")
        with self._lock:
            check(lib.quire_window_get_info(self._handle, out))
        return WindowInfo(
            bool(out.is_following_head), out.generation, out.row_count, out.rank, out.count, out.anchor)

    def look(self, index: int | None, *, above: int = 50, below: int = 50) -> None:
        """The reader looks at the row with this index; None follows the head. The next update() reads the rows."""
        number = (1 << 64) - 1 if index is None else number_in(index)
        with self._lock:
            check(lib.quire_window_look(self._handle, number, number_in(above, 32), number_in(below, 32)))

    def update(self, snapshot: Snapshot) -> Difference:
        """Follows the feed to the commit that the snapshot sees."""
        out = sized("quire_difference")
        with self._lock, _lock(snapshot):
            snapshot._require_open()
            check(lib.quire_window_update(self._handle, snapshot._handle, out))
            return Difference(
                tuple(out.removed[i] for i in range(out.removed_count)),
                tuple(out.inserted[i] for i in range(out.inserted_count)),
                tuple(out.updated[i] for i in range(out.updated_count)))

    def rows(self, snapshot: Snapshot, index: int = 0, limit: int | None = None) -> list[Row]:
        """Rows of the window from an index on. ResyncError if the snapshot sees another commit: update() first."""
        limit = self.info.count if limit is None else number_in(limit, 32)
        rows = ffi.new("quire_row[]", max(1, limit))
        count = ffi.new("size_t *")
        with self._lock, _lock(snapshot):
            snapshot._require_open()
            check(lib.quire_window_read(self._handle, snapshot._handle, number_in(index), rows, limit, count))
            return rows_out(rows, count[0], snapshot._lease)

    def nearest(self) -> list[str]:
        """The ids of the posts of the window, nearest to the anchor first: stored, they are a place to open at
        (Start.NEAREST)."""
        out = sized("quire_list")
        with self._lock:
            check(lib.quire_window_nearest(self._handle, out))
        try:
            return ids_out(out)
        finally:
            lib.quire_list_free(out)
