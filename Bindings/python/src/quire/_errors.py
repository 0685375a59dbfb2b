"""Failures of the library as exceptions."""

from __future__ import annotations

from typing import Any

from ._quire import ffi, lib
from ._words import Word


class Status(Word):
    """Why a call failed. Numbers below zero are the library's, the positive one is this package's."""

    BAD_ARGUMENT = lib.QUIRE_BAD_ARGUMENT
    BAD_HANDLE = lib.QUIRE_BAD_HANDLE
    FORKED = lib.QUIRE_FORKED
    NOT_FOUND = lib.QUIRE_NOT_FOUND
    OPTIONS_DIFFER = lib.QUIRE_OPTIONS_DIFFER
    NOT_A_CACHE = lib.QUIRE_NOT_A_CACHE
    NEWER_FORMAT = lib.QUIRE_NEWER_FORMAT
    CORRUPT = lib.QUIRE_CORRUPT
    DISK_FULL = lib.QUIRE_DISK_FULL
    NO_PERMISSION = lib.QUIRE_NO_PERMISSION
    IO = lib.QUIRE_IO
    WOULD_DEADLOCK = lib.QUIRE_WOULD_DEADLOCK
    TIMEOUT = lib.QUIRE_TIMEOUT
    RESYNC = lib.QUIRE_RESYNC
    AGAIN = lib.QUIRE_AGAIN
    WRONG_THREAD = lib.QUIRE_WRONG_THREAD
    BUSY = lib.QUIRE_BUSY
    SNAPSHOT_EXPIRED = lib.QUIRE_SNAPSHOT_EXPIRED
    BAD_RESPONSE = lib.QUIRE_BAD_RESPONSE
    UNCLEAN = lib.QUIRE_UNCLEAN
    UNAVAILABLE = lib.QUIRE_UNAVAILABLE
    IN_DOUBT = lib.QUIRE_IN_DOUBT
    MISCONFIGURED = lib.QUIRE_MISCONFIGURED
    SNAPSHOTS_OPEN = lib.QUIRE_SNAPSHOTS_OPEN
    BODIES_IN_USE = 1


class QuireError(Exception):
    """A call failed. `status` is for programs, `message` for people."""

    def __init__(self, status: Status, message: str, os_error: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        #: The operating system's error number, 0 if it had none.
        self.os_error = os_error

    def __reduce__(self) -> tuple[Any, ...]:
        # pickled whole, as when an error crosses from a process of a pool
        return type(self), (self.status, self.message, self.os_error)

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"


class BadArgumentError(QuireError, ValueError):
    """An argument is outside its documented range."""


class BadHandleError(QuireError, ValueError):
    """The cache, feed, crawl, batch or snapshot was closed."""


class ForkedError(QuireError):
    """This process is a fork of the one that opened the cache: open it again in a new process."""


class NotFoundError(QuireError, LookupError):
    """The named feed, page or post does not exist."""


class ResyncError(QuireError):
    """The log of changes does not reach back that far: read the feeds anew."""


class BodiesInUseError(QuireError, BufferError):
    """A snapshot was closed while something made from its bodies is still in use; see Snapshot.close()."""


_CLASSES: dict[Status, type[QuireError]] = {
    Status.BAD_ARGUMENT: BadArgumentError,
    Status.BAD_HANDLE: BadHandleError,
    Status.FORKED: ForkedError,
    Status.NOT_FOUND: NotFoundError,
    Status.RESYNC: ResyncError,
    Status.BODIES_IN_USE: BodiesInUseError,
}


def failure(status: Status, message: str, os_error: int = 0) -> QuireError:
    return _CLASSES.get(status, QuireError)(status, message, os_error)


def check(status: int) -> None:
    """Raises the error of the calling thread's last call, unless the call succeeded."""
    if status == 0:
        return
    error = ffi.new("quire_error *", {"struct_size": ffi.sizeof("quire_error")})
    lib.quire_last_error(error)
    message = "the library did not say why"
    if error.status == status and error.message:
        message = ffi.string(error.message).decode("utf-8", "replace")
    raise failure(Status(status), message, error.os_error)
