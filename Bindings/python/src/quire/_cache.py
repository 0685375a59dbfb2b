"""The cache: one file, many feeds."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from ._convert import Buffers, checked, id_in, number_in, path_in, signed_in, sized, text_out
from ._errors import Status, check, failure
from ._feed import Feed
from ._names import Alias, Detail, Durability, FindingCode, Update
from ._quire import ffi, lib
from ._snapshot import Snapshot
from ._values import (
    Budget, Data, Evictions, FeedOptions, Finding, Id, PathName, RepairedFeed, RepairReport, Statistics)

T = TypeVar("T")

# How long a wait goes on before Python looks for signals, such as Control-C.
_SIGNAL_PERIOD_MS = 100


class Batch:
    """Many writes in one commit: pass it as `batch` to functions that write, in the thread that got it."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @staticmethod
    def handle(batch: Batch | None) -> Any:
        """The handle for C. NULL would mean a commit of its own, so a batch that has ended raises here."""
        if batch is None:
            return ffi.NULL
        if checked(batch, Batch)._handle is None:
            raise failure(Status.BAD_HANDLE, "the batch is over")
        return batch._handle


class _Work:
    """The function of a batch, and its result."""

    def __init__(self, function: Callable[[Batch], Any]) -> None:
        self.function = function
        self.result: Any = None
        self.error: BaseException | None = None


def _keep_error(kind: object, error: BaseException, traceback: TracebackType) -> int:
    """Control-C may arrive between the lines of a callback; the caller of the library receives it."""
    ffi.from_handle(traceback.tb_frame.f_locals["context"]).error = error
    return int(Status.BAD_ARGUMENT)


@ffi.def_extern(onerror=_keep_error)  # type: ignore[untyped-decorator]
def quire_python_batch(context: Any, handle: Any) -> int:
    work: _Work = ffi.from_handle(context)
    batch = Batch(handle)
    work.error = None
    try:
        work.result = work.function(batch)
        return 0
    except BaseException as error:
        work.error = error
        status = getattr(error, "status", None)
        return int(status) if isinstance(status, Status) and status < 0 else Status.BAD_ARGUMENT.value
    finally:
        batch._handle = None


@ffi.def_extern()  # type: ignore[untyped-decorator]
def quire_python_finding(context: Any, finding: Any) -> None:
    work: _Progress = ffi.from_handle(context)
    work.findings.append(
        Finding(FindingCode(finding.code), text_out(finding.location), text_out(finding.message)))


@ffi.def_extern(onerror=_keep_error)  # type: ignore[untyped-decorator]
def quire_python_progress(context: Any, done: float) -> int:
    work: _Progress = ffi.from_handle(context)
    try:
        work.function(done)
        return 0
    except BaseException as error:
        work.error = error
        return int(Status.BAD_ARGUMENT)


class _Progress:
    """A progress function, the exception by which it ended the operation, and the findings so far."""

    def __init__(self, function: Callable[[float], object] | None) -> None:
        self.function: Callable[[float], object] = function or (lambda done: None)
        self.error: BaseException | None = None
        self.findings: list[Finding] = []

    def check(self, status: int) -> None:
        if status != 0 and self.error is not None:
            raise self.error
        check(status)


def _budget(budget: Budget) -> Any:
    given = sized("quire_budget")
    given.file_bytes = number_in(budget.file_bytes)
    for limits, out in (
        (budget.cache, given.cache), (budget.collection, given.collection), (budget.feed, given.feed),
    ):
        out.posts = number_in(limits.posts)
        out.body_bytes = number_in(limits.body_bytes)
        out.age_ms = number_in(limits.age_ms)
    return given


def verify(
    path: PathName,
    limit: int = 0,
    *,
    progress: Callable[[float], object] | None = None,
) -> list[Finding]:
    """Tests a file that no program uses, without trust in any byte of it. Changes nothing.

    The file is safe to open if the result is empty. limit, progress: see Cache.check().
    """
    work = _Progress(progress)
    context = ffi.new_handle(work)
    count = ffi.new("size_t *")
    work.check(lib.quire_verify(
        path_in(path), number_in(limit), lib.quire_python_finding,
        lib.quire_python_progress, context, count))
    return work.findings


def repair(
    path: PathName,
    *,
    dry_run: bool = False,
    progress: Callable[[float], object] | None = None,
) -> RepairReport:
    """Repairs a damaged file, and keeps the damaged one beside it; see quire_repair.

    progress receives numbers from 0 to 1. If it raises, the repair ends and has changed nothing.
    """
    work = _Progress(progress)
    context = ffi.new_handle(work)
    out = sized("quire_repair_report")
    flags = lib.QUIRE_REPAIR_DRY_RUN if dry_run else 0
    work.check(lib.quire_repair(
        path_in(path), flags, lib.quire_python_progress, context, out))
    try:
        feeds = tuple(
            RepairedFeed(
                text_out(feed.name), feed.posts, feed.lost_posts, feed.lost_bodies, feed.gaps,
                feed.new_gaps, feed.is_lost != 0)
            for feed in (out.feeds[at] for at in range(out.count)))
        kept = text_out(out.kept_file) if out.kept_file.size else None
        return RepairReport(out.is_sound != 0, out.damaged_records, feeds, kept)
    finally:
        lib.quire_repair_report_free(out)


def compact(path: PathName, *, progress: Callable[[float], object] | None = None) -> int:
    """Rewrites the cache without free space and deleted bodies. Returns the number of bytes saved.

    No process may have it open. progress: see repair().
    """
    work = _Progress(progress)
    context = ffi.new_handle(work)
    out = ffi.new("uint64_t *")
    work.check(lib.quire_compact(
        path_in(path), lib.quire_python_progress, context, out))
    return int(out[0])


class Cache:
    """A cache file. Every method may be called from any thread, at the same time as any other.

    Objects can be closed in any order: feeds and snapshots keep the file open until they are closed.
    """

    __slots__ = ("_handle", "path", "__weakref__")

    def __init__(
        self,
        path: PathName,
        *,
        durability: Durability = Durability.FULL,
        map_size: int = 0,
        write_timeout_ms: int = 0,
        maximum_snapshot_age: int = 0,
        verify_on_open: bool = False,
        read_only: bool = False,
        budget: Budget | None = None,
    ) -> None:
        """Opens the cache at a path, creating it if there is none. The numbers: see quire_cache_options.

        verify_on_open: test the whole file first, as verify() does. Use it for a file that you did not write.
        read_only: the file must exist, and needs no right to write. What is seen of another process's writes: see
        QUIRE_READ_ONLY in quire.h. Everything that writes raises QuireError, NO_PERMISSION.
        budget: how large the cache may become.
        """
        self.path = os.fsdecode(path)
        options = sized("quire_cache_options")
        options.durability = durability
        options.map_size = number_in(map_size)
        options.write_timeout_ms = number_in(write_timeout_ms, 32)
        options.maximum_snapshot_age = number_in(maximum_snapshot_age, 32)
        options.flags = (lib.QUIRE_VERIFY_ON_OPEN if verify_on_open else 0) | (
            lib.QUIRE_READ_ONLY if read_only else 0)
        out = ffi.new("quire_cache **")
        if budget is None:
            check(lib.quire_open(path_in(self.path), options, out))
        else:
            check(lib.quire_open_with_budget(path_in(self.path), options, _budget(budget), out))
        self._handle = ffi.gc(out[0], lib.quire_close)

    @classmethod
    def _of(cls, handle: Any, path: str) -> Cache:
        """A cache that was opened in another way; `path` says what it is."""
        cache = cls.__new__(cls)
        cache.path = path
        cache._handle = ffi.gc(handle, lib.quire_close)
        return cache

    def close(self) -> None:
        """Releases the cache. Calls of other threads run to their end; wait() ends at once."""
        ffi.release(self._handle)

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<quire.Cache {self.path!r}>"

    # ---- Feeds

    def feed(self, name: str, options: FeedOptions | None = None) -> Feed:
        """The feed with this name, created if there is none.

        Without options it keeps those that it has. If they differ: QuireError, OPTIONS_DIFFER.
        """
        return Feed._open(self._handle, name, options)

    def find_feed(self, name: str) -> Feed:
        """The feed with this name if it exists, else NotFoundError."""
        return Feed._find(self._handle, name)

    def feed_names(self) -> list[str]:
        """The names of all feeds, in order of their bytes."""
        names = sized("quire_list")
        check(lib.quire_feed_names(self._handle, names))
        try:
            return [text_out(names.items[i]) for i in range(names.count)]
        finally:
            lib.quire_list_free(names)

    # ---- Reading

    def snapshot(self) -> Snapshot:
        """One consistent state of the whole cache; a context manager. Do not keep it open for long."""
        return Snapshot(self._handle)

    @property
    def generation(self) -> int:
        """Number of commits made so far, by all processes."""
        out = ffi.new("uint64_t *")
        check(lib.quire_generation(self._handle, out))
        return int(out[0])

    def wait(self, since: int, timeout: float | None = None) -> int:
        """Waits until all processes together have made more than `since` commits.

        Returns their number; it is not larger than `since` if `timeout` seconds passed (None: for ever).
        """
        number_in(since)
        if timeout is not None and math.isnan(timeout):
            raise failure(Status.BAD_ARGUMENT, "a timeout that is not a number")
        end = None if timeout is None else time.monotonic() + max(0.0, timeout)
        out = ffi.new("uint64_t *")
        while True:
            left = math.inf if end is None else max(0.0, (end - time.monotonic()) * 1000)
            period = math.ceil(min(left, _SIGNAL_PERIOD_MS))
            status = lib.quire_wait(self._handle, since, period, out)
            if status != Status.TIMEOUT:
                check(status)
                return int(out[0])
            if left <= period:
                return int(out[0])

    # ---- Writing

    def batch(self, function: Callable[[Batch], T]) -> T:
        """Calls function(batch) inside one write transaction, and returns what it returned.

        An exception undoes all of it. The function runs in this thread and MAY RUN TWICE: if the file had
        to grow, everything of the first time was undone, so it must not have effects outside of the batch
        that cannot be repeated. (Hence a function, not a `with` block.) A call that failed in the engine
        dooms the batch even if its exception is caught.
        """
        work = _Work(function)
        context = ffi.new_handle(work)
        status = lib.quire_batch_run(self._handle, lib.quire_python_batch, context)
        if status != 0 and work.error is not None:
            raise work.error
        check(status)
        result: T = work.result
        return result

    def update_body(
        self, id: Id, body: Data, *, version: int | None = None, detail: int = Detail.FULL,
        collection: str = "", batch: Batch | None = None
    ) -> Update:
        """Replaces the body of a post of a collection, unless the stored one has a larger version or is of more
        detail."""
        out = ffi.new("int32_t *")
        number = ffi.NULL if version is None else ffi.new("int64_t *", signed_in(version))
        with Buffers() as buffers:
            check(lib.quire_update_body(
                self._handle, Batch.handle(batch), id_in(collection), id_in(id), buffers.data_in(body),
                number, number_in(detail, 32), out))
        return Update(out[0])

    def update_fields(
        self, id: Id, fields: Mapping[str, Data], version: int, *, collection: str = "",
        batch: Batch | None = None
    ) -> Update:
        """Sets named values of a post of a collection; one with a larger version stays as it is."""
        out = ffi.new("int32_t *")
        with Buffers() as buffers:
            items = [(id_in(name), buffers.data_in(value)) for name, value in fields.items()]
            array = ffi.new("quire_field[]", items)
            check(lib.quire_update_fields(
                self._handle, Batch.handle(batch), id_in(collection), id_in(id), array, len(items),
                signed_in(version), out))
        return Update(out[0])

    def add_alias(self, alias: Id, id: Id, *, collection: str = "", batch: Batch | None = None) -> Alias:
        """`alias` is another id of the post `id`. If both are cached, they become one post, called `id`."""
        out = ffi.new("int32_t *")
        check(lib.quire_add_alias(
            self._handle, Batch.handle(batch), id_in(collection), id_in(alias), id_in(id), out))
        return Alias(out[0])

    # ---- Upkeep

    def stats(self) -> Statistics:
        """Totals of the cache and of its file."""
        out = sized("quire_statistics")
        check(lib.quire_stats(self._handle, out))
        return Statistics(*(getattr(out, name) for name in Statistics._fields))

    def evictions(self) -> Evictions:
        """What the budget has taken, and whether it was missed."""
        out = sized("quire_evictions")
        check(lib.quire_get_evictions(self._handle, out))
        return Evictions(*(getattr(out, name) for name in Evictions._fields))

    def check(
        self,
        limit: int = 0,
        *,
        quick: bool = False,
        progress: Callable[[float], object] | None = None,
    ) -> list[Finding]:
        """Tests every record and every invariant; empty if the cache is sound.

        Stops after `limit` findings (0: 100). quick: tests only the records of the cache and of its feeds.
        progress receives numbers from 0 to 1. If it raises, the check ends. It must not write to the cache.
        """
        work = _Progress(progress)
        context = ffi.new_handle(work)
        count = ffi.new("size_t *")
        flags = lib.QUIRE_CHECK_QUICK if quick else 0
        work.check(lib.quire_check(
            self._handle, flags, number_in(limit), lib.quire_python_finding,
            lib.quire_python_progress, context, count))
        return work.findings

    def copy(self, path: PathName) -> None:
        """Writes a compact copy. No file may exist at the path."""
        check(lib.quire_copy(self._handle, path_in(path)))

    def reclaim(self, budget: int = 0) -> int:
        """Moves up to `budget` bytes of bodies (0: 1 MiB) together; returns how many became free."""
        out = ffi.new("uint64_t *")
        check(lib.quire_reclaim(self._handle, number_in(budget), out))
        return int(out[0])
