"""What a call passes, together with everything it points to."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from ._convert import Buffers, Ids, id_in, link_in, number_in, sized
from ._names import Detail
from ._quire import ffi, lib
from ._values import AnyPost, Data, FeedOptions, Id, Link, Post


def fields(post: AnyPost, at: int) -> tuple[Any, ...]:
    """The fields of a post in order. Anything that only could be one is an error: a dict of a server is no post, and
    neither is a text."""
    if isinstance(post, Mapping):
        unknown = [name for name in post if name not in Post._fields]
        if unknown:
            raise TypeError(
                f"post {at}: no field {unknown[0]!r}; a dict that is a post has {', '.join(Post._fields)}")
        if "id" not in post:
            raise TypeError(f"post {at}: there is no id")
        return Post(**post)
    if not isinstance(post, (tuple, list)) or not 1 <= len(post) <= len(Post._fields):
        raise TypeError(
            f"post {at}: a post is a Post, a tuple ({', '.join(Post._fields)}) or a dict of these, "
            f"not {type(post).__name__}")
    return tuple(post)


class GivenAnswer:
    """A quire_answer that holds everything it points to."""

    def __init__(
        self, buffers: Buffers, posts: Iterable[AnyPost], next: Link | str | None,
        previous: Link | str | None, fetched_at: int | None, opaque_rows: int,
        total: int | None = None, since: str | None = None, deleted: Iterable[Id] = (),
    ) -> None:
        self._posts = [self._post(buffers, *fields(post, at)) for at, post in enumerate(posts)]
        self._array = ffi.new("quire_post[]", self._posts)
        self._links = (link_in(next), link_in(previous))
        self.value = sized("quire_answer")
        self.value.post_size = ffi.sizeof("quire_post")
        self.value.posts = self._array
        self.value.count = len(self._posts)
        self.value.opaque_rows = number_in(opaque_rows)
        self.value.next, self.value.previous = self._links
        self.value.fetched_at = int(time.time() * 1000) if fetched_at is None else fetched_at
        self._since = id_in(since or "")
        self._deleted = Ids(deleted)
        self.value.since = self._since
        self.value.deleted = self._deleted.value
        if total is not None:
            self.value.has_total = 1
            self.value.total = number_in(total)

    @staticmethod
    def _post(
        buffers: Buffers, id: Id, body: Data = b"", key: int | None = None,
        version: int | None = None, detail: int = Detail.FULL,
    ) -> tuple[Any, ...]:
        flags = (lib.QUIRE_POST_HAS_KEY if key is not None else 0) | (
            lib.QUIRE_POST_HAS_VERSION if version is not None else 0) | lib.QUIRE_POST_HAS_DETAIL
        return (id_in(id), buffers.data_in(body), key or 0, version or 0, flags, number_in(detail, 32))


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
