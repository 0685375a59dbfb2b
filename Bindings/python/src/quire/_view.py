"""A view: a part of a feed that the cache keeps."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

from ._convert import bytes_out, checked, handle_in, id_in, number_in, sized, text_out
from ._errors import check
from ._feed import Feed
from ._names import RowFlag
from ._quire import ffi, lib
from ._rows import Row, position_in, rows_out
from ._snapshot import Snapshot
from ._values import Id


class ViewOrder(enum.IntEnum):
    """How the posts of a view are ordered."""

    #: As in the feed. The feed's gaps are rows of the view.
    FEED = lib.QUIRE_VIEW_FEED
    #: By section, key and id. A missing post may belong anywhere.
    KEYS = lib.QUIRE_VIEW_KEYS


@dataclass(frozen=True, slots=True)
class Candidate:
    """A post, as the function of a view gets it."""

    id: str
    #: The server's sort key; None if the feed has none.
    key: int | None
    body: bytes
    #: It is outside the server's sequence.
    is_detached: bool
    #: Its place is known, its body is missing.
    is_placeholder: bool


class Shown(NamedTuple):
    """Where a view shows a post."""

    #: The section that counts it: up to 48 bytes; the others are dropped.
    section: bytes = b""
    #: The place in a view ordered by keys: up to 96 bytes; the others do not count.
    key: bytes = b""


@dataclass(frozen=True, slots=True)
class ViewInfo:
    """What a view shows."""

    order: ViewOrder
    #: Of its function.
    version: int
    posts: int
    #: It shows what its function says of each post of the feed.
    is_current: bool
    #: No post is missing in the feed either, as far as the server has said what there is.
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a view."""

    name: bytes
    posts: int
    #: The number of posts in the sections before it; of a post, of those above it.
    rank: int


#: Decides whether a view shows a post; None if it does not.
Choose = Callable[[Candidate], "Shown | None"]


class _Chooser:
    """The function of a view. The library holds it until it releases it."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.handle = ffi.new_handle(self)
        self.lent = threading.local()


_held: dict[Any, _Chooser] = {}


@ffi.def_extern(error=0)  # type: ignore[untyped-decorator]
def quire_python_view(context: Any, post: Any, entry: Any) -> int:
    chooser: _Chooser = ffi.from_handle(context)
    flags = post.flags
    shown = chooser.choose(
        Candidate(
            str(post.id_number) if flags & RowFlag.NUMERIC_ID else text_out(post.id_text),
            post.key if flags & RowFlag.HAS_KEY else None, bytes_out(post.body),
            bool(flags & RowFlag.DETACHED), bool(flags & RowFlag.PLACEHOLDER)))
    if shown is None:
        return 0
    section, key = ffi.from_buffer(shown.section), ffi.from_buffer(shown.key)
    chooser.lent.bytes = (section, key)  # until this thread asks again
    entry.section, entry.key = (section, len(section)), (key, len(key))
    return 1


@ffi.def_extern()  # type: ignore[untyped-decorator]
def quire_python_release(context: Any) -> None:
    _held.pop(context, None)


class View:
    """The posts of a feed that a function chooses, kept in the cache: see Docs/views.md. A context manager.

        unread = quire.View(feed, "unread", lambda post: quire.Shown(day(post)) if is_unread(post) else None)
        with cache.snapshot() as snapshot:
            rows = unread.rows(snapshot, limit=20)

    From now on this process keeps the view, also after close(). The function runs inside commits. It must depend on
    nothing but the post, and must not use the cache. If it raises, the error is printed and the post is not shown.
    """

    __slots__ = ("feed", "name", "_handle")

    def __init__(
        self, feed: Feed, name: str, choose: Choose | None = None, *, order: ViewOrder = ViewOrder.FEED, version: int = 1,
    ) -> None:
        """Opens a view, and makes it if there is none.

        choose: None opens it for reading, even if another process keeps it; NotFoundError if there is none.
        version: another number for each function that says something else.
        """
        out = ffi.new("quire_view **")
        if choose is None:
            check(lib.quire_view_find(handle_in(feed, Feed), id_in(name), out))
        else:
            chooser = _Chooser(choose)
            options = sized("quire_view_options")
            options.order, options.version, options.release = order, number_in(version), lib.quire_python_release
            handle, name_in = handle_in(feed, Feed), id_in(name)
            _held[chooser.handle] = chooser  # from here on the library releases it
            check(
                lib.quire_view_open(handle, name_in, options, lib.quire_python_view, chooser.handle, out))
        self.feed, self.name = feed, name
        self._handle = ffi.gc(out[0], lib.quire_view_close)

    @staticmethod
    def remove(feed: Feed, name: str) -> bool:
        """Removes a view from the cache. False if the feed has none of this name."""
        done = ffi.new("int32_t *")
        check(lib.quire_view_remove(handle_in(feed, Feed), id_in(name), done))
        return bool(done[0])

    def close(self) -> None:
        """Gives the handle back; the view stays."""
        ffi.release(self._handle)

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None,
    ) -> None:
        self.close()

    def info(self, snapshot: Snapshot) -> ViewInfo:
        """What the view shows."""
        out = sized("quire_view_info")
        with checked(snapshot, Snapshot)._lock:
            snapshot._require_open()
            check(lib.quire_view_get_info(snapshot._handle, self._handle, out))
        return ViewInfo(
            ViewOrder(out.order), out.version, out.posts, bool(out.is_current), bool(out.is_complete))

    def rows(self, snapshot: Snapshot, after: Row | None = None, *, limit: int = 64) -> list[Row]:
        """Rows from the top, or below one that this snapshot has read of the view."""
        rows, count = ffi.new("quire_row[]", max(1, number_in(limit, 32))), ffi.new("size_t *")
        with checked(snapshot, Snapshot)._lock:
            snapshot._require_open()
            position = position_in(after, snapshot._lease)
            check(lib.quire_view_read_after(snapshot._handle, self._handle, position, rows, limit, count))
            return rows_out(rows, count[0], snapshot._lease)

    def rows_from(self, snapshot: Snapshot, rank: int, *, limit: int = 64) -> list[Row]:
        """Rows from the post on that has this many posts of the view above it."""
        rows, count = ffi.new("quire_row[]", max(1, number_in(limit, 32))), ffi.new("size_t *")
        with checked(snapshot, Snapshot)._lock:
            snapshot._require_open()
            check(
                lib.quire_view_read_from_rank(
                    snapshot._handle, self._handle, number_in(rank), rows, limit, count))
            return rows_out(rows, count[0], snapshot._lease)

    def place(self, snapshot: Snapshot, id: Id) -> Section | None:
        """The section of a post, and its rank in the view; None if the view does not show it."""
        out = ffi.new("quire_view_section *")
        with checked(snapshot, Snapshot)._lock:
            snapshot._require_open()
            code = lib.quire_view_find_post(snapshot._handle, self._handle, id_in(id), out)
            if code == lib.QUIRE_NOT_FOUND:
                return None
            check(code)
            return Section(bytes_out(out.name), out.posts, out.rank)

    def sections(self, snapshot: Snapshot) -> list[Section]:
        """The sections of the view, by their bytes."""
        found: list[Section] = []
        sections, count = ffi.new("quire_view_section[]", 64), ffi.new("size_t *")
        with checked(snapshot, Snapshot)._lock:
            snapshot._require_open()
            while True:
                check(
                    lib.quire_view_sections(snapshot._handle, self._handle, len(found), sections, 64, count))
                found += [
                    Section(bytes_out(sections[i].name), sections[i].posts, sections[i].rank)
                    for i in range(count[0])]
                if count[0] < 64:
                    return found
