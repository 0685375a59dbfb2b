"""What a call passes, together with everything it points to."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._convert import Ids, id_bytes, id_in, link_in, number_in, signed_in, sized
from ._errors import BadArgumentError, Status, failure
from ._names import Detail
from ._quire import ffi, lib
from ._values import AnyPost, Data, FeedOptions, Id, Link, Post

# A quire_post: two ranges of bytes, key, version, flags, detail. cffi would convert each member by itself.
_POST = struct.Struct("@PNPNqqII")
_HAS_KEY, _HAS_VERSION, _HAS_DETAIL = (
    lib.QUIRE_POST_HAS_KEY, lib.QUIRE_POST_HAS_VERSION, lib.QUIRE_POST_HAS_DETAIL)
_FULL = int(Detail.FULL)


def fields(post: AnyPost) -> Sequence[Any]:
    """The fields of a post in order. Anything that only could be one is an error: a dict of a server is no post, and
    neither is a text."""
    if isinstance(post, (tuple, list)):  # first: to ask for a Mapping takes longer than all the rest
        if 1 <= len(post) <= len(Post._fields):
            return post
    elif isinstance(post, Mapping):
        unknown = [name for name in post if name not in Post._fields]
        if unknown:
            raise TypeError(f"no field {unknown[0]!r}; a dict that is a post has {', '.join(Post._fields)}")
        if "id" not in post:
            raise TypeError("there is no id")
        return Post(**post)
    raise TypeError(
        f"a post is a Post, a tuple ({', '.join(Post._fields)}) or a dict of these, not {type(post).__name__}")


def _members(
    id: Id, body: Data = b"", key: int | None = None, version: int | None = None, detail: int = _FULL
) -> tuple[bytes, bytes, int, int, int, int]:
    """The members of a quire_post. That the numbers are numbers is found out when they are packed."""
    if isinstance(body, bytes):
        data = body
    elif isinstance(body, str):
        data = body.encode("utf-8", "surrogateescape")
    else:
        data = ffi.buffer(ffi.from_buffer(body))[:]
    flags = _HAS_DETAIL
    if key is None:
        key = 0
    else:
        flags |= _HAS_KEY
    if version is None:
        version = 0
    else:
        flags |= _HAS_VERSION
    return id_bytes(id), data, key, version, flags, detail


def _named(at: int, error: TypeError | BadArgumentError) -> Exception:
    """The error, which names the post."""
    if isinstance(error, BadArgumentError):
        return failure(Status.BAD_ARGUMENT, f"post {at}: {error.message}")
    return TypeError(f"post {at}: {error}")


def _wrong_number(key: int, version: int, flags: int, detail: int) -> None:
    """Raises an error for the number that cannot be packed."""
    signed_in(key)
    signed_in(version)
    number_in(detail, 32)


def _address(data: bytes) -> int:
    return int(ffi.cast("uintptr_t", ffi.from_buffer(data)))


class _GivenPosts:
    """An array of quire_post, with a copy of all ids in one piece, and one of all bodies."""

    def __init__(self, posts: Iterable[AnyPost]) -> None:
        rows = []
        for post in posts:
            try:
                rows.append(_members(*fields(post)))
            except TypeError as error:
                raise _named(len(rows), error) from None
        self._ids = b"".join([row[0] for row in rows])
        self._bodies = b"".join([row[1] for row in rows])
        id_at, body_at = _address(self._ids), _address(self._bodies)
        array = bytearray(_POST.size * len(rows))
        for at, (id, body, *numbers) in enumerate(rows):
            try:
                _POST.pack_into(array, at * _POST.size, id_at, len(id), body_at, len(body), *numbers)
            except struct.error:
                try:
                    _wrong_number(*numbers)
                except (TypeError, BadArgumentError) as error:
                    raise _named(at, error) from None
                raise
            id_at, body_at = id_at + len(id), body_at + len(body)
        self.value = ffi.from_buffer("quire_post[]", array)


class GivenAnswer:
    """A quire_answer that holds everything it points to."""

    def __init__(
        self, posts: Iterable[AnyPost], next: Link | str | None, previous: Link | str | None,
        fetched_at: int | None, opaque_rows: int, total: int | None = None, since: str | None = None,
        deleted: Iterable[Id] = (),
    ) -> None:
        self._given = _GivenPosts(posts)
        self._links = (link_in(next), link_in(previous))
        self.value = sized("quire_answer")
        self.value.post_size = _POST.size
        self.value.posts = self._given.value
        self.value.count = len(self._given.value)
        self.value.opaque_rows = number_in(opaque_rows)
        self.value.next, self.value.previous = self._links
        self.value.fetched_at = int(time.time() * 1000) if fetched_at is None else signed_in(fetched_at)
        self._since = id_in(since or "")
        self._deleted = Ids(deleted)
        self.value.since = self._since
        self.value.deleted = self._deleted.value
        if total is not None:
            self.value.has_total = 1
            self.value.total = number_in(total)


class GivenOptions:
    """A quire_feed_options that holds everything it points to."""

    def __init__(self, options: FeedOptions) -> None:
        self._sticky = Ids(options.sticky)
        self._collection = id_in(options.collection)
        self.value = sized("quire_feed_options")
        self.value.order = options.order
        self.value.paging = options.paging
        self.value.flags = (lib.QUIRE_FEED_TRUSTS_END if options.trusts_end else 0) | (
            lib.QUIRE_FEED_STRICT if options.is_strict else 0)
        self.value.page_size = number_in(options.page_size, 32)
        self.value.minimum_run = number_in(options.minimum_run, 32)
        self.value.first_page = number_in(options.first_page, 32)
        self.value.sticky = self._sticky.value
        self.value.collection = self._collection
        self.value.sizes = options.sizes
        self.value.rows_per_page = number_in(options.rows_per_page, 32)
