"""Responses to answers, by profile: a program needs no parser of its own.

    from quire.profiles import Profile

    github = Profile("github")
    feed = cache.feed("issues", github.feed_options())
    request = feed.plan()
    response = ...                                                       # ask the server
    parsed = github.parse(response.content, status=200, headers=response.headers, request=response.url)
    feed.ingest(request, **parsed.answer)

Docs/profiles.md is the manual of profiles, Include/quire_profiles.h that of every call. This module needs libsimdjson.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union

from ._convert import Buffers, id_in, number_in, sized
from ._errors import QuireError, Status, failure
from ._names import Detail, LinkKind, Order, Paging, Sizes
from ._profiles import ffi, lib
from ._values import Data, FeedOptions, Link, Post
from ._words import Word

__all__ = ["Asked", "Headers", "LinkRefusedError", "Parsed", "PassingError", "Profile", "names"]

#: Headers by name, or as pairs; a name may occur several times.
Headers = Union[Mapping[str, str], Iterable[tuple[str, str]]]


class Asked(Word):
    """What the request asked for, as far as its address or the response tells."""

    UNKNOWN = lib.QUIRE_ASKED_UNKNOWN
    HEAD = lib.QUIRE_ASKED_HEAD
    #: The top of the feed down to the post `asked_id`, exclusive.
    NEWER = lib.QUIRE_ASKED_NEWER
    BELOW = lib.QUIRE_ASKED_BELOW
    #: What lies directly above the post `asked_id`, or on both sides of it.
    ABOVE = lib.QUIRE_ASKED_ABOVE
    AROUND = lib.QUIRE_ASKED_AROUND


class LinkRefusedError(QuireError):
    """The server refuses the link of the request for good, in the words that the profile knows: Feed.drop_link()."""


class PassingError(QuireError):
    """The same request may succeed later, says the profile."""

    #: Seconds that the server asks to wait; None if it does not say.
    backoff: float | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed response. It holds copies and needs nothing else."""

    posts: list[Post]
    next: Link
    previous: Link
    #: A page without posts says that the list ends, and the profile doubts that: perhaps the post is gone that the
    #: link of the request names. `next` is Link.UNKNOWN. Call Feed.drop_link(); if the link is asked for again after
    #: that, and its page is empty again, it is the end.
    is_end_doubtful: bool
    #: How many rows have no id.
    opaque_rows: int
    #: The token with which a later request asks what has changed, and the posts that are gone.
    since: str | None
    deleted: list[str]
    asked: Asked
    asked_id: str | None
    #: The link that led to this response.
    own: Link
    #: The number of this page, of all pages and of all posts, as the server counts.
    page: int | None
    pages: int | None
    total: int | None
    #: Seconds that the server asks to wait.
    backoff: float | None
    #: How many requests it permits, and in how many seconds there are new ones.
    quota: int | None
    quota_renewal: float | None

    @property
    def answer(self) -> dict[str, Any]:
        """The arguments of Feed.ingest() and Crawl.ingest(): feed.ingest(request, **parsed.answer).

        Without `total`, which ends a feed that is paged by offset or number: add total=parsed.total for a server
        that counts exactly what it lists.
        """
        answer: dict[str, Any] = {
            "posts": self.posts, "next": self.next, "previous": self.previous, "opaque_rows": self.opaque_rows}
        if self.since is not None:
            answer["since"] = self.since
        if self.deleted:
            answer["deleted"] = self.deleted
        return answer


def _check(status: int) -> None:
    if status == 0:
        return
    error = ffi.new("quire_error *", {"struct_size": ffi.sizeof("quire_error")})
    lib.quire_profiles_last_error(error)
    raise failure(Status(status), ffi.string(error.message).decode("utf-8", "replace"), error.os_error)


def _bytes(value: Any) -> bytes:
    return bytes(ffi.buffer(value.data, value.size)) if value.size else b""


def _text(value: Any) -> str:
    return _bytes(value).decode("utf-8", "surrogateescape")


def _link(value: Any) -> Link:
    return Link(LinkKind(value.kind), _text(value.text), value.is_overlapping != 0)


def _post(post: Any) -> Post:
    return Post(
        _text(post.id), _bytes(post.body), post.key if post.flags & lib.QUIRE_POST_HAS_KEY else None,
        post.version if post.flags & lib.QUIRE_POST_HAS_VERSION else None,
        post.detail if post.flags & lib.QUIRE_POST_HAS_DETAIL else Detail.FULL)


def names() -> list[str]:
    """The names of the profiles that come with the library."""
    out = sized("quire_list")
    _check(lib.quire_profile_names(out))
    try:
        return [_text(out.items[at]) for at in range(out.count)]
    finally:
        lib.quire_profile_names_free(out)


class Profile:
    """One profile, and a parser for it. Any thread may use it; they take turns."""

    __slots__ = ("_handle", "__weakref__")

    def __init__(
        self, profile: str | Mapping[str, Any], *, items: str = "", id: str = "", key: str = "",
        maximum_size: int = 0,
    ) -> None:
        """Opens a profile.

        profile: the name of one that comes with the library, or a profile as JSON, or as a dict.
        items, id, key: paths that are to be read instead of those of the profile.
        maximum_size: the largest response, in bytes; 0 is 16 MiB.
        """
        text = id_in(profile if isinstance(profile, str) else json.dumps(profile))
        paths = {"items": id_in(items), "id": id_in(id), "key": id_in(key)}
        options = ffi.new("quire_profile_options *", {"struct_size": ffi.sizeof("quire_profile_options")})
        for name, path in paths.items():
            setattr(options, name, path)
        options.maximum_size = number_in(maximum_size)
        out = ffi.new("quire_profile **")
        _check(lib.quire_profile_open(text, options, out))
        self._handle = ffi.gc(out[0], lib.quire_profile_close)

    def feed_options(self, **changes: Any) -> FeedOptions:
        """The options for a feed of this API. changes: members of FeedOptions that are to be others."""
        out = ffi.new("quire_feed_options *", {"struct_size": ffi.sizeof("quire_feed_options")})
        _check(lib.quire_profile_get_feed_options(self._handle, out))
        given: dict[str, Any] = {
            "order": Order(out.order), "paging": Paging(out.paging), "first_page": out.first_page,
            "sizes": Sizes(out.sizes), "rows_per_page": out.rows_per_page}
        return FeedOptions(**{**given, **changes})

    def parse(
        self, body: Data, *, status: int = 0, request: str = "", headers: Headers | None = None
    ) -> Parsed:
        """Parses a response.

        status: of HTTP, 0 if it is not known; all but 200 to 299 are refused.
        request: the address that was asked for.
        headers: None: they are not known, so no end is taken from a missing Link.

        QuireError, BAD_RESPONSE, if it is not what the profile describes; the message names the place. It is a
        LinkRefusedError or a PassingError if the profile says so of the server's error.
        """
        pairs = [] if headers is None else list(headers.items() if isinstance(headers, Mapping) else headers)
        fields = [(id_in(name), id_in(value)) for name, value in pairs]
        address = id_in(request)
        given = ffi.new("quire_response *", {"struct_size": ffi.sizeof("quire_response")})
        array = ffi.new("quire_field[]", fields)
        given.status = number_in(status, 31)
        given.request = address
        given.headers = array
        given.header_count = len(fields)
        out = ffi.new("quire_parsed *", {"struct_size": ffi.sizeof("quire_parsed")})
        with Buffers() as buffers:
            given.body = buffers.data_in(body)
            try:
                _check(lib.quire_parse(self._handle, given, out))
            except QuireError as error:
                raise _refusal(error, out) from None
        try:
            return _parsed(out)
        finally:
            lib.quire_parsed_free(out)


def _refusal(error: QuireError, out: Any) -> QuireError:
    """The error of a response, as the profile knows it."""
    if out.flags & lib.QUIRE_PARSED_LINK_IS_REFUSED:
        return LinkRefusedError(error.status, error.message)
    if out.flags & lib.QUIRE_PARSED_ERROR_PASSES:
        passing = PassingError(error.status, error.message)
        if out.flags & lib.QUIRE_PARSED_HAS_BACKOFF:
            passing.backoff = out.backoff_ms / 1000
        return passing
    return error


def _parsed(out: Any) -> Parsed:
    def number(value: int, flag: int) -> int | None:
        return value if out.flags & flag else None

    def seconds(value: int, flag: int) -> float | None:
        return value / 1000 if out.flags & flag else None

    answer = out.answer
    return Parsed(
        posts=[_post(answer.posts[at]) for at in range(answer.count)], next=_link(answer.next),
        previous=_link(answer.previous), opaque_rows=answer.opaque_rows,
        is_end_doubtful=bool(out.flags & lib.QUIRE_PARSED_END_IS_DOUBTFUL),
        since=_text(answer.since) if answer.since.size else None,
        deleted=[_text(answer.deleted.items[at]) for at in range(answer.deleted.count)],
        asked=Asked(out.asked), asked_id=_text(out.asked_id) if out.asked_id.size else None, own=_link(out.own),
        page=number(out.page, lib.QUIRE_PARSED_HAS_PAGE), pages=number(out.pages, lib.QUIRE_PARSED_HAS_PAGES),
        total=number(out.total, lib.QUIRE_PARSED_HAS_TOTAL),
        backoff=seconds(out.backoff_ms, lib.QUIRE_PARSED_HAS_BACKOFF),
        quota=number(out.quota, lib.QUIRE_PARSED_HAS_QUOTA),
        quota_renewal=seconds(out.quota_renewal_ms, lib.QUIRE_PARSED_HAS_QUOTA_RENEWAL))
