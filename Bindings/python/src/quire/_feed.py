"""One server list: planning requests, taking in answers, changing posts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._convert import Buffers, Ids, checked, id_in, link_in, number_in, signed_in, sized
from ._errors import Status, check, failure
from ._given import GivenAnswer, GivenOptions
from ._names import Alias, CrawlKind, Place
from ._outcome import request_out, take_outcome
from ._quire import ffi, lib
from ._rows import GapRow
from ._values import AnyPost, Data, FeedOptions, Id, Link, Outcome, PruneResult, Request

if TYPE_CHECKING:
    from ._cache import Batch


def _batch(batch: Batch | None) -> Any:
    from ._cache import Batch  # which imports this module
    return Batch.handle(batch)


def _ticket(request: Request | int) -> int:
    return number_in(request if isinstance(request, int) else checked(request, Request).ticket)


def _message(number: int | None) -> Any:
    return ffi.NULL if number is None else ffi.new("uint64_t *", number_in(number))


class Feed:
    """One server list in a cache. Every method may be called from any thread."""

    __slots__ = ("_handle", "name", "__weakref__")

    def __init__(self, handle: Any, name: str) -> None:
        """Feeds come from Cache.feed()."""
        self._handle = ffi.gc(handle, lib.quire_feed_close)
        self.name = name

    @classmethod
    def _open(cls, cache: Any, name: str, options: FeedOptions | None) -> Feed:
        out = ffi.new("quire_feed **")
        if options is None:
            check(lib.quire_feed_open(cache, id_in(name), ffi.NULL, out))
            return cls(out[0], name)
        given = GivenOptions(options)
        check(lib.quire_feed_open(cache, id_in(name), given.value, out))
        return cls(out[0], name)

    @classmethod
    def _find(cls, cache: Any, name: str) -> Feed:
        out = ffi.new("quire_feed **")
        check(lib.quire_feed_find(cache, id_in(name), out))
        return cls(out[0], name)

    def close(self) -> None:
        """Releases the handle; the feed stays in the cache."""
        ffi.release(self._handle)

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<quire.Feed {self.name!r}>"

    # ---- Requests and answers

    def plan(
        self,
        place: Place = Place.HEAD,
        *,
        gap: GapRow | int = 0,
        target: Id | None = None,
        posts: Iterable[Id] = (),
        limit: int = 0,
        is_bounded: bool = False,
        link: Link | str | None = None,
        page: int = 0,
        batch: Batch | None = None,
    ) -> Request:
        """The request for a place, or why none is possible.

        place: what to ask for. DELTA asks for the changes since the newest token.
        gap: the gap, for Place.GAP and ABOVE_GAP.
        target: for AROUND the post; for JOIN the post below the join.
        page: the number of the page, for PAGE.
        posts: for BODIES, in any feed: those of these posts whose bodies are missing, not full, or outdated.
        limit: how many posts to ask for; 0 is the feed's page size.
        is_bounded: stop at the far side of the gap.
        link: for HEAD, if the server gave a link to it.
        """
        place_given = sized("quire_place")
        target_in = id_in("" if target is None else target)
        posts_in = Ids(posts)
        link_given = link_in(link)
        place_given.kind = place
        place_given.gap = number_in(gap if isinstance(gap, int) else checked(gap, GapRow).number)
        place_given.target = target_in
        place_given.page = number_in(page)
        place_given.posts = posts_in.value
        place_given.limit = number_in(limit, 32)
        place_given.is_bounded = is_bounded
        place_given.link = link_given
        out = sized("quire_request")
        check(lib.quire_plan(self._handle, _batch(batch), place_given, out))
        try:
            return request_out(out)
        finally:
            lib.quire_request_free(out)

    def ingest(
        self,
        request: Request | int,
        posts: Iterable[AnyPost],
        *,
        next: Link | str | None = None,
        previous: Link | str | None = None,
        fetched_at: int | None = None,
        opaque_rows: int = 0,
        total: int | None = None,
        since: str | None = None,
        deleted: Iterable[Id] = (),
        batch: Batch | None = None,
    ) -> Outcome:
        """Judges the answer to a request (or to its ticket) and takes it in: the whole page or nothing.

        posts: in the server's order, Post, (id, body[, key[, version[, detail]]]), or a dict with these names. Ids and
        bodies are copied. quire.profiles makes posts of a response.
        next, previous: what continues below and above; Link.END only if the server said so.
        fetched_at: in milliseconds since 1970; None is now.
        opaque_rows: how many rows have no id.
        total: the number of rows of the whole list, if the server says it.
        since: a token. A later request with it asks what has changed since this answer (Place.DELTA).
        deleted: in the answer to such a request, the posts that are gone.
        """
        out = sized("quire_outcome")
        answer = GivenAnswer(posts, next, previous, fetched_at, opaque_rows, total, since, deleted)
        check(lib.quire_ingest(self._handle, _batch(batch), _ticket(request), answer.value, out))
        return take_outcome(out)

    def cancel(self, request: Request | int, *, batch: Batch | None = None) -> None:
        """Call this if the request failed, or if its answer is no longer wanted. A late answer is still judged."""
        check(lib.quire_cancel(self._handle, _batch(batch), _ticket(request)))

    def drop_link(self, request: Request | int, *, batch: Batch | None = None) -> Outcome:
        """Call this if the server refuses the link of the request for good: a cursor that expired, a post that is gone.

        REPLAN: the link is forgotten, all posts stay, and the next plan begins further up. ERROR: no place keeps
        the link of the request (the head, around a post, by number). STALE: as of an answer.
        """
        out = sized("quire_outcome")
        check(lib.quire_drop_link(self._handle, _batch(batch), _ticket(request), out))
        return take_outcome(out)

    def push(
        self,
        posts: Iterable[AnyPost],
        *,
        number: int | None = None,
        follows: Id | None = None,
        fetched_at: int | None = None,
        batch: Batch | None = None,
    ) -> Outcome:
        """Ingests posts that the server has pushed: they are on top now.

        posts: topmost first, as for ingest(). number: that of the message, where they have one. follows: the
        post directly below the last one, if the server tells. A gap opens below them, unless the message proves
        that nothing was missed.
        """
        follows_in = (ffi.NULL, 0) if follows is None else id_in(follows)
        out = sized("quire_outcome")
        answer = GivenAnswer(posts, None, None, fetched_at, 0)
        check(lib.quire_push(self._handle, _batch(batch), answer.value, _message(number), follows_in, out))
        return take_outcome(out)

    def begin_live(self, after: int | None = None, *, batch: Batch | None = None) -> None:
        """From now on the server pushes every new post. Refresh after this call.

        after: the number of the last message before, where they have one.
        """
        check(lib.quire_begin_live(self._handle, _batch(batch), _message(after)))

    def end_live(self, *, batch: Batch | None = None) -> None:
        """The server no longer pushes new posts: the connection has ended."""
        check(lib.quire_end_live(self._handle, _batch(batch)))

    def crawl(self, kind: CrawlKind = CrawlKind.HEAD, start: int | None = None) -> Crawl:
        """Starts a crawl: pages that were fetched before, without tickets.

        start: HEAD: the number of the page that is the refresh, 1 by default. GAP: the gap's number.
        """
        if start is None:
            start = 1 if kind == CrawlKind.HEAD else 0
        out = ffi.new("quire_crawl **")
        check(lib.quire_crawl_begin(self._handle, kind, number_in(start), out))
        return Crawl(out[0])

    # ---- Posts

    def contains(self, ids: Iterable[Id]) -> list[bool]:
        """Tells for each of these posts whether the feed holds it, in one call."""
        asked = Ids(ids)
        flags = ffi.new("uint8_t[]", max(1, len(asked)))
        check(lib.quire_contains(self._handle, asked.value, flags))
        return [bool(flag) for flag in ffi.unpack(flags, len(asked))]

    def __contains__(self, id: Id) -> bool:
        return self.contains([id])[0]

    # Without this, Python would try to iterate by index.
    __iter__ = None

    def delete(self, id: Id, *, batch: Batch | None = None) -> None:
        """Removes a post that was deleted on the server. Late answers do not bring it back."""
        check(lib.quire_delete(self._handle, _batch(batch), id_in(id)))

    def evict(self, ids: Iterable[Id], *, batch: Batch | None = None) -> int:
        """Forgets posts to save space; a gap opens in their place. Returns how many posts left."""
        asked, out = Ids(ids), ffi.new("uint64_t *")
        check(lib.quire_evict(self._handle, _batch(batch), asked.value, out))
        return int(out[0])

    def evict_page(self, index: int) -> int:
        """Evicts the page with this index, 0 is the topmost; always a commit of its own."""
        out = ffi.new("uint64_t *")
        check(lib.quire_evict_page(self._handle, number_in(index), out))
        return int(out[0])

    def set_visible(self, ids: Iterable[Id]) -> None:
        """The posts on the screen of this process: the budget takes no page with one of them."""
        check(lib.quire_set_visible(self._handle, Ids(ids).value))

    def pin(self, id: Id, *, batch: Batch | None = None) -> None:
        """A pinned post is never evicted or removed by an answer. NotFoundError if the feed lacks it."""
        check(lib.quire_pin(self._handle, _batch(batch), id_in(id)))

    def unpin(self, id: Id, *, batch: Batch | None = None) -> None:
        check(lib.quire_unpin(self._handle, _batch(batch), id_in(id)))

    def insert_local(self, id: Id, body: Data = b"", *, batch: Batch | None = None) -> bool:
        """Puts an optimistic post on top until the server shows it. False if the feed holds it already."""
        out = ffi.new("int32_t *")
        with Buffers() as buffers:
            check(lib.quire_insert_local(
                self._handle, _batch(batch), id_in(id), buffers.data_in(body), out))
        return bool(out[0])

    def remove_local(self, id: Id, *, batch: Batch | None = None) -> bool:
        """Takes an optimistic post away. False if the feed has no such local post."""
        out = ffi.new("int32_t *")
        check(lib.quire_remove_local(self._handle, _batch(batch), id_in(id), out))
        return bool(out[0])

    def confirm_local(self, id: Id, server: Id, *, batch: Batch | None = None) -> Alias:
        """The server accepted an optimistic post and calls it `server`. Place, pin, body and fields stay."""
        out = ffi.new("int32_t *")
        check(lib.quire_confirm_local(self._handle, _batch(batch), id_in(id), id_in(server), out))
        return Alias(out[0])

    def reset(self, *, batch: Batch | None = None) -> None:
        """Forgets everything in the feed; every outstanding ticket becomes stale."""
        check(lib.quire_reset(self._handle, _batch(batch)))

    def drop(self, *, batch: Batch | None = None) -> None:
        """Removes the feed from the cache; posts that other feeds of its collection hold stay there."""
        check(lib.quire_feed_drop(self._handle, _batch(batch)))

    def rename(self, name: str, *, batch: Batch | None = None) -> None:
        """Gives the feed another name. No feed may have it already."""
        check(lib.quire_feed_rename(self._handle, _batch(batch), id_in(name)))
        self.name = name

    def set_options(self, options: FeedOptions) -> Feed:
        """Gives a feed without posts other options. The feed begins anew; this object then refers to a dropped feed."""
        out = ffi.new("quire_feed **")
        given = GivenOptions(options)
        check(lib.quire_feed_set_options(self._handle, given.value, out))
        return Feed(out[0], self.name)

    def set_attribute(
        self, name: str, value: Data | None, *, batch: Batch | None = None
    ) -> None:
        """Remembers a value about the feed, such as an ETag; None forgets it. reset() keeps it.

        Read it with Snapshot.attribute().
        """
        with Buffers() as buffers:
            given = ffi.NULL if value is None else ffi.new("quire_bytes *", buffers.data_in(value))
            check(lib.quire_set_attribute(self._handle, _batch(batch), id_in(name), given))

    def prune(
        self,
        *,
        out_of_sequence: bool = False,
        maximum_age: int | None = None,
        now: int | None = None,
        maximum_posts: int | None = None,
        maximum_pages: int | None = None,
        maximum_bytes: int | None = None,
        visible: Iterable[Id] = (),
        budget: int = 0,
        dry_run: bool = False,
        batch: Batch | None = None,
    ) -> PruneResult:
        """Forgets pages until the limits are met or the budget (in posts; 0: 10,000) is spent.

        maximum_age, now: in milliseconds; now is since 1970 and by default the clock's. visible: posts on
        the screen, whose pages stay. dry_run: only say what would be done.
        """
        shown = Ids(visible)
        policy = sized("quire_prune_policy")
        limits = [
            (lib.QUIRE_PRUNE_BY_POSTS, "maximum_posts", maximum_posts),
            (lib.QUIRE_PRUNE_BY_PAGES, "maximum_pages", maximum_pages),
            (lib.QUIRE_PRUNE_BY_BYTES, "maximum_bytes", maximum_bytes)]
        for flag, name, limit in limits:
            if limit is not None:
                policy.flags |= flag
                setattr(policy, name, number_in(limit))
        if maximum_age is not None:
            policy.flags |= lib.QUIRE_PRUNE_BY_AGE
            policy.maximum_age = signed_in(maximum_age)
            policy.now = int(time.time() * 1000) if now is None else signed_in(now)
        policy.flags |= lib.QUIRE_PRUNE_OUT_OF_SEQUENCE if out_of_sequence else 0
        policy.flags |= lib.QUIRE_PRUNE_DRY_RUN if dry_run else 0
        policy.visible = shown.value
        policy.budget = number_in(budget)
        out = sized("quire_prune_result")
        check(lib.quire_prune(self._handle, _batch(batch), policy, out))
        return PruneResult(bool(out.is_done), out.pages, out.posts)


class Crawl:
    """The position of a crawl. It lives in memory; one thread at a time may use it."""

    __slots__ = ("_handle", "_lock")

    def __init__(self, handle: Any) -> None:
        """Crawls come from Feed.crawl()."""
        self._handle = ffi.gc(handle, lib.quire_crawl_end)
        self._lock = threading.Lock()

    def ingest(
        self,
        posts: Iterable[AnyPost],
        *,
        page: int | None = None,
        next: Link | str | None = None,
        previous: Link | str | None = None,
        fetched_at: int | None = None,
        opaque_rows: int = 0,
        total: int | None = None,
        since: str | None = None,
        deleted: Iterable[Id] = (),
        batch: Batch | None = None,
    ) -> Outcome:
        """Takes in a page. page: its number, None is the one after the one before; the rest as ingest().

        The crawl advances when the page is committed. A batch that is undone undoes this too.
        """
        number = lib.QUIRE_PAGE_FOLLOWING if page is None else number_in(page)
        out = sized("quire_outcome")
        # Waiting here for a thread that waits for our batch would never end.
        if not self._lock.acquire(blocking=False):
            raise failure(Status.WRONG_THREAD, "another thread uses the crawl right now")
        try:
            answer = GivenAnswer(posts, next, previous, fetched_at, opaque_rows, total, since, deleted)
            check(lib.quire_crawl_ingest(self._handle, _batch(batch), number, answer.value, out))
            return take_outcome(out)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Releases the crawl. Its pages stay in the feed."""
        ffi.release(self._handle)

    def __enter__(self) -> Crawl:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
