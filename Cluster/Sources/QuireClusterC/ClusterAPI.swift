import CQuire
import Dispatch
import Quire
import QuireC
import QuireCluster
import Synchronization

// quire_cluster.h, in the same order. A cache of a cluster is a handle of libquire whose writes go into the
// log.

final class ClusterBox: Handle {
    static let name: StaticString = "cluster"
    let cluster: ClusterCache

    init(_ cluster: ClusterCache) { self.cluster = cluster }

    /// Its caches can be read on; what writes to them gets an error.
    func close() throws { try blocking { [cluster] in await cluster.close() } }

    /// Returns the shard that a name stands for; nil is the only one.
    func shard(_ name: quire_bytes) throws -> String? {
        if name.size == 0 { return nil }
        let shard = try Arguments.text(name, atMost: Int(QUIRE_NAME_LIMIT), "the name of a shard")
        if !cluster.shardNames.contains(shard) {
            throw Failure(QUIRE_NOT_FOUND, "there is no shard \(shard)")
        }
        return shard
    }

    /// Makes a cache of a shard.
    func cache(_ shard: String?) throws -> CacheBox {
        let cluster = cluster
        return try CacheBox(
            SharedCache(
                replica: { try translating { try cluster.local(shard) } },
                open: { name, options in
                    let feed = try blocking {
                        try await cluster.feed(named: name, options: options, shard: shard)
                    }
                    return SharedFeed(
                        feed: { feed.feed },
                        write: { operations in try blocking { try await feed.write(operations) } })
                },
                write: { operations in try blocking { try await cluster.submit(operations, to: shard) } }))
    }
}

/// Waits for work of the cluster, on the calling thread.
private func blocking<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) throws -> R {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<R, any Error>?>(nil)
    Task.detached {
        let found: Result<R, any Error>
        do { found = .success(try await work()) } catch { found = .failure(error) }
        result.withLock { $0 = found }
        done.signal()
    }
    done.wait()
    let found = result.withLock { $0! }  // the work has ended
    return try translating { try found.get() }
}

/// Gives errors of the log the numbers of C.
private func translating<R>(_ work: () throws -> R) throws -> R {
    do { return try work() } catch let error as LogError {
        let status =
            switch error {
            case .unavailable: QUIRE_UNAVAILABLE
            case .unknown: QUIRE_IN_DOUBT
            case .tooLarge: QUIRE_BAD_ARGUMENT
            case .misconfigured: QUIRE_MISCONFIGURED
            case .lost, .trimmed, .refused: QUIRE_IO
            }
        throw Failure(status, error.description)
    }
}

@_cdecl("quire_cluster_open") @implementation
public func quire_cluster_open(
    _ address: UnsafePointer<CChar>?, _ folder: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let address = try Arguments.path(address)
        let folder = try Arguments.path(folder)
        out!.pointee = try Handles.add(
            ClusterBox(try blocking { try await ClusterCache.open(address, folder: folder) }))
    }
}

@_cdecl("quire_cluster_close") @implementation
public func quire_cluster_close(_ cluster: OpaquePointer?) {
    if let box = try? Handles.object(cluster, as: ClusterBox.self) { try? box.close() }
    Handles.release(cluster, as: ClusterBox.self)
}

@_cdecl("quire_cluster_cache") @implementation
public func quire_cluster_cache(
    _ cluster: OpaquePointer?, _ shard: quire_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cluster, as: ClusterBox.self)
        out!.pointee = try Handles.add(try box.cache(box.shard(shard)))
    }
}

@_cdecl("quire_cluster_cache_of_feed") @implementation
public func quire_cluster_cache_of_feed(
    _ cluster: OpaquePointer?, _ feed: quire_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cluster, as: ClusterBox.self)
        let name = try Arguments.text(feed, atMost: Int(QUIRE_NAME_LIMIT), "the name of a feed")
        out!.pointee = try Handles.add(try box.cache(box.cluster.shard(ofFeed: name)))
    }
}

@_cdecl("quire_cluster_get_status") @implementation
public func quire_cluster_get_status(
    _ cluster: OpaquePointer?, _ shard: quire_bytes, _ out: UnsafeMutablePointer<quire_shard_status>?
) -> quire_status {
    attempt(filling: out) { out in
        let box = try Handles.object(cluster, as: ClusterBox.self)
        let shard = try box.shard(shard)
        let all = box.cluster.status
        guard let status = shard == nil ? all.onlyOne : all.first(where: { $0.shard == shard }) else {
            throw Failure(QUIRE_NOT_FOUND, "there are \(all.count) shards: say which")
        }
        out.is_stalled = status.trouble == nil ? 0 : 1
        (out.applied, out.digest) = (status.applied.number, status.applied.digest)
        out.end = status.end
        out.entries = count(status.entries)
        out.rebuilds = count(status.rebuilds)
        out.lost = count(status.lost)
    }
}

extension [ShardStatus] {
    fileprivate var onlyOne: ShardStatus? { count == 1 ? self[0] : nil }
}

@_cdecl("quire_cluster_wait") @implementation
public func quire_cluster_wait(
    _ cluster: OpaquePointer?, _ shard: quire_bytes, _ number: UInt64
) -> quire_status {
    attempt {
        let box = try Handles.object(cluster, as: ClusterBox.self)
        let shard = try box.shard(shard)
        try blocking { try await box.cluster.wait(for: number, in: shard) }
    }
}

@_cdecl("quire_cluster_checkpoint") @implementation
public func quire_cluster_checkpoint(_ cluster: OpaquePointer?, _ shard: quire_bytes) -> quire_status {
    attempt {
        let box = try Handles.object(cluster, as: ClusterBox.self)
        let shard = try box.shard(shard)
        try blocking { try await box.cluster.checkpoint(shard) }
    }
}
