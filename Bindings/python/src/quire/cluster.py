"""A cache that several machines share, over one ordered log on NATS JetStream.

    from quire.cluster import Cluster

    with Cluster("nats://10.0.0.1:4222,10.0.0.2:4222,10.0.0.3:4222/news", "/var/lib/app") as cluster:
        cache = cluster.cache()
        feed = cache.feed("timeline")                      # and on as with any cache

Reading is local; each write is an entry of the log, and returns when this machine has applied it. There are no
batches. The package must have been built with QUIRE_CLUSTER=1. Docs/cluster.md says what is promised,
Include/quire_cluster.h is the manual of every call.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from ._cache import Cache
from ._convert import id_in, number_in, path_in, sized
from ._errors import check
from ._quire import ffi, lib
from ._values import PathName

if not hasattr(lib, "quire_cluster_open"):
    raise ImportError("quire was built without clusters: install it with QUIRE_CLUSTER=1")

__all__ = ["Cluster", "ShardStatus"]


@dataclass(frozen=True, slots=True)
class ShardStatus:
    """How a shard is doing on this machine."""

    #: It applies no entries now.
    is_stalled: bool
    #: The newest entry that is applied here, and the digest of the history up to it.
    applied: int
    digest: int
    #: The newest entry of the log that was seen.
    end: int
    #: Since it was opened: entries applied, rebuilds of the replica, and writes of this machine that were lost.
    entries: int
    rebuilds: int
    lost: int


class Cluster:
    """This machine's part of a shared cache. A context manager; any thread may use it."""

    __slots__ = ("_handle",)

    def __init__(self, address: str, folder: PathName) -> None:
        """Opens the replicas in a folder, and the connection to the log; see quire_cluster_open."""
        self._handle = ffi.NULL
        out = ffi.new("quire_cluster **")
        check(lib.quire_cluster_open(path_in(address), path_in(folder), out))
        self._handle = ffi.gc(out[0], lib.quire_cluster_close)

    def close(self) -> None:
        """Ends following the log. Its caches can be read on."""
        handle, self._handle = self._handle, ffi.NULL
        if handle != ffi.NULL:
            ffi.release(handle)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def cache(self, shard: str = "") -> Cache:
        """The cache of a shard; it needs no name if there is only one."""
        out = ffi.new("quire_cache **")
        check(lib.quire_cluster_cache(self._handle, id_in(shard), out))
        return Cache._of(out[0], f"shard {shard}")

    def cache_of_feed(self, name: str) -> Cache:
        """The cache of the shard that a feed with this name belongs to."""
        out = ffi.new("quire_cache **")
        check(lib.quire_cluster_cache_of_feed(self._handle, id_in(name), out))
        return Cache._of(out[0], f"shard of {name}")

    def status(self, shard: str = "") -> ShardStatus:
        """How a shard is doing on this machine."""
        out = sized("quire_shard_status")
        check(lib.quire_cluster_get_status(self._handle, id_in(shard), out))
        return ShardStatus(
            bool(out.is_stalled), out.applied, out.digest, out.end, out.entries, out.rebuilds, out.lost)

    def wait(self, number: int, shard: str = "") -> None:
        """Waits until this machine has applied an entry: what another one wrote with it can be read here then."""
        check(lib.quire_cluster_wait(self._handle, id_in(shard), number_in(number)))

    def checkpoint(self, shard: str = "") -> None:
        """Stores a checkpoint of a shard and trims its log, which happens by itself, too."""
        check(lib.quire_cluster_checkpoint(self._handle, id_in(shard)))
