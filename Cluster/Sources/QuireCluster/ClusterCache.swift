import Quire
import Synchronization

/// A cache that several machines share. Each node has a replica of it on its own disk, and reads only there.
/// Writes are entries of a log on NATS; their order there is the order in which all nodes apply them.
///
///     let cluster = try await ClusterCache.open(
///         NATSOptions(servers: ["nats://10.0.0.1:4222"]), folder: "/var/lib/app", cache: "news")
///     let feed = try await cluster.feed(named: "home", options: FeedOptions(order: .stable))
///     let outcome = try await feed.load(.head) { request in try await ask(request) }
///     try feed.feed.cache.withSnapshot { … }
///
/// A shard is one log and one file. What is in different shards has no common order.
///
/// While the log cannot be reached, reading goes on and writes throw `.unavailable` or `.unknown`. If the log
/// loses entries that it had acknowledged, the replica is made anew in another file, and
/// ``ClusterEvent/rebuilt`` says so: ask for ``local(_:)`` and ``ClusterFeed/feed`` each time that you read.
/// Methods may be called from any thread.
public final class ClusterCache: Sendable {
    private let shards: [ClusterShard]
    private let follower: Task<Void, Never>
    /// Answers questions about this node: ``NodeReport``.
    private let reporting = Mutex<NATSConnection.Subscription?>(nil)

    /// Opens the node of a folder: its replicas, and the connection to the log.
    /// - Parameters:
    ///   - nats: How to reach the servers.
    ///   - folder: Where the replicas are. One program at a time may follow the log there.
    ///   - cache: The name of what is shared; see ``JetStreamLog``.
    ///   - shards: Their names. All nodes must name the same ones in the same order.
    ///   - replicas: How many servers keep what is made.
    ///   - allowsOneReplica: Accepts streams that one server keeps.
    ///   - creates: Makes streams that are missing.
    /// - Throws: ``LogError`` `.misconfigured`, ``QuireError`` as ``Replica/init(at:options:)``, `.busy` if
    ///   another program follows the log in this folder. That no server answers is no error: what was applied
    ///   can be read.
    public static func open(
        _ nats: NATSOptions, folder: String, cache: String, shards: [String] = ["0"], replicas: Int = 3,
        allowsOneReplica: Bool = false, creates: Bool = true, options: ClusterOptions = ClusterOptions()
    ) async throws -> ClusterCache {
        var logs: [(String, JetStreamLog)] = []
        do {
            for shard in shards {
                let log = try JetStreamLog(
                    nats, cache: cache, shard: shard,
                    LogRequirements(
                        replicas: replicas, allowsOneReplica: allowsOneReplica,
                        allowsOldServers: nats.allowsOldServers, creates: creates))
                logs.append((shard, log))
                do throws(LogError) { try await log.requirePrepared() } catch {
                    switch error {
                    case .unavailable, .unknown: break
                    default: throw error
                    }
                }
            }
            let cluster = try ClusterCache(logs, folder: folder, options: options)
            let node = options.node ?? "\(NodeReport.machine):\(folder)"
            // servers that refuse this node do not hear of it either
            let subscription = try? logs.first?.1.answerReports(of: cache) { [weak cluster] in
                cluster.map { NodeReport(node, $0.status) }
            }
            cluster.reporting.withLock { $0 = subscription }
            return cluster
        } catch {
            for (_, log) in logs { log.close() }
            throw error
        }
    }

    /// Opens a node over logs of any kind, one for each shard. They are closed with it.
    public init(
        _ logs: [(shard: String, log: any SharedLog)], folder: String,
        options: ClusterOptions = ClusterOptions()
    ) throws {
        if logs.isEmpty || Set(logs.map(\.shard)).count != logs.count {
            throw LogError.misconfigured("a cluster has one shard or more, and no two of one name")
        }
        let shards = try logs.map { try ClusterShard($0.shard, $0.log, in: folder, options) }
        self.shards = shards
        follower = Task {
            await withTaskGroup(of: Void.self) { group in
                for shard in shards { group.addTask { await shard.follow() } }
            }
        }
    }

    deinit {
        follower.cancel()
        endReporting()
        for shard in shards { shard.log.close() }
    }

    /// Stops following, and ends the connections. Writes throw from now on; reading goes on. The folder may
    /// be opened again when it returns.
    public func close() async {
        follower.cancel()
        endReporting()
        for shard in shards { await shard.close() }
        await follower.value
    }

    private func endReporting() {
        reporting.withLock { reporting in
            reporting?.end()
            reporting = nil
        }
    }

    // MARK: Shards

    /// The names of the shards.
    public var shardNames: [String] { shards.map(\.name) }

    /// In which shard a feed is, by its name, unless it was put into another one.
    public func shard(ofFeed name: String) -> String {
        shards[Int(Digest.of(Array(name.utf8)) % UInt64(shards.count))].name
    }

    func find(_ name: String?) throws(LogError) -> ClusterShard {
        guard let name else {
            if shards.count == 1 { return shards[0] }
            throw .refused("there are \(shards.count) shards: say which")
        }
        guard let shard = shards.first(where: { $0.name == name }) else {
            throw .refused("there is no shard \(name)")
        }
        return shard
    }

    /// The replica of a shard, for reading. Ask for it again each time: if the log loses entries, it is
    /// another one.
    public func local(_ shard: String? = nil) throws -> Cache { try find(shard).cache }

    /// The newest entry of the log that this node has applied.
    public func applied(in shard: String? = nil) throws -> LogPosition {
        try find(shard).status.applied
    }

    /// Waits until this node has applied an entry: what another node read there can be read here then.
    /// - Throws: ``LogError`` `.unavailable` if it has not within ``ClusterOptions/timeout``.
    public func wait(for number: UInt64, in shard: String? = nil) async throws {
        try await find(shard).wait(for: number)
    }

    /// How the shards are doing.
    public var status: [ShardStatus] { shards.map { $0.status } }

    /// Stores a checkpoint of a shard now, and trims its log. It happens by itself, too.
    public func checkpoint(_ shard: String? = nil) async throws { try await find(shard).checkpoint() }

    // MARK: Writing

    /// The feed with this name, made if there is none.
    /// - Parameter shard: Where it is; by its name if this is nil.
    public func feed(
        named name: String, options: FeedOptions? = nil, shard: String? = nil
    ) async throws -> ClusterFeed {
        let isPlacedByName = shard == nil
        let shard = try find(shard ?? self.shard(ofFeed: name))
        if let feed = try shard.cache.feed(named: name, requiring: options) {
            return ClusterFeed(feed, in: shard)
        }
        if isPlacedByName { try await requireEqualShards(in: shard) }
        _ = try await shard.submit([.open(name: name, options: options)])
        guard let feed = try shard.cache.feed(named: name, requiring: options) else {
            throw QuireError(.notFound, "feed \(name): was dropped while it was opened")
        }
        return ClusterFeed(feed, in: shard)
    }

    /// The nodes name the same shards, or a feed would be in two of them.
    private func requireEqualShards(in shard: ClusterShard) async throws {
        let (name, own) = ("quire-shards", Array(shardNames.joined(separator: " ").utf8))
        if try shard.cache.withSnapshot({ try $0.attribute(name) }) == nil {
            _ = try await shard.submit([.setAttribute(name, to: own)])
        }
        let known = try shard.cache.withSnapshot { try $0.attribute(name) } ?? own
        if known != own {
            throw LogError.misconfigured(
                "the shards of this node are \(shardNames.joined(separator: " ")), those of others "
                    + String(decoding: known, as: UTF8.self))
        }
    }

    /// Appends up to 64 operations, and returns what they returned when this node's replica applied them. All
    /// of them take effect, or none.
    ///
    /// Operations name feeds by numbers of one history: write to a feed by ``ClusterFeed/write(_:)``, which
    /// notices that its number is another's now.
    /// - Throws: ``QuireError`` of an operation that failed. ``LogError`` `.unavailable` if the write did not
    ///   happen, `.unknown` if it may have, or may still; `.tooLarge` or `.refused` if it cannot.
    public func submit(_ operations: [CacheOperation], to shard: String? = nil) async throws -> [CacheReply] {
        try await find(shard).submit(operations).replies
    }
}

extension Cache {
    /// The feed with this name, nil if there is none.
    fileprivate func feed(named name: String, requiring options: FeedOptions?) throws -> Feed? {
        guard let feed = try existingFeed(named: name) else { return nil }
        if let options, options != feed.options {
            throw QuireError(.optionsDiffer, "feed \(name): was created with other options")
        }
        return feed
    }
}
