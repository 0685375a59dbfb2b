#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a node says of itself when it is asked: see ``ClusterCache/reports(_:cache:within:)``.
public struct NodeReport: Codable, Sendable, Hashable {
    /// One of its shards.
    public struct Shard: Codable, Sendable, Hashable {
        /// The name of the shard.
        public let shard: String
        /// The newest entry that is applied there, and the digest of the history up to it.
        public let applied: UInt64
        public let digest: UInt64
        /// How often the replica was made anew since the node was opened.
        public let rebuilds: Int
        /// How many writes of the node the log lost.
        public let lost: Int
        /// Why nothing is applied, nil if all is well.
        public let trouble: String?
    }

    /// The node: ``ClusterOptions/node``.
    public let node: String
    /// Its shards.
    public let shards: [Shard]

    /// Nodes listen to this. No stream keeps it.
    static func subject(_ cache: String) -> String { "quire-nodes.\(cache)" }

    init(_ node: String, _ status: [ShardStatus]) {
        self.node = node
        shards = status.map {
            Shard(
                shard: $0.shard, applied: $0.applied.number, digest: $0.applied.digest,
                rebuilds: $0.rebuilds, lost: $0.lost, trouble: $0.trouble)
        }
    }

    /// The name of this machine.
    static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "a node" }
        return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}

extension JetStreamLog {
    /// Answers questions about this node, until the subscription ends.
    func answerReports(
        of cache: String, _ report: @escaping @Sendable () -> NodeReport?
    ) throws(LogError) -> NATSConnection.Subscription {
        try connection.subscribe(NodeReport.subject(cache)) { [weak connection] question in
            guard let reply = question.reply, let report = report(),
                let bytes = try? JSONEncoder().encode(report)
            else { return }
            connection?.publish(reply, Array(bytes))
        }
    }
}

extension ClusterCache {
    /// Asks all nodes of a cache how they are. One that cannot be reached now is missing.
    /// - Parameters:
    ///   - nats: How to reach the servers.
    ///   - cache: The name of what is shared.
    ///   - time: How long answers are awaited.
    /// - Throws: ``LogError`` `.unavailable` if no server can be reached, `.misconfigured`.
    public static func reports(
        _ nats: NATSOptions, cache: String, within time: Duration = .seconds(1)
    ) async throws(LogError) -> [NodeReport] {
        try JetStreamLog.requireNames([cache])
        let connection = try NATSConnection(nats)
        defer { connection.close() }
        let found = Mutex<[NodeReport]>([])
        let inbox = "_INBOX.quire-nodes-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let subscription = try connection.subscribe(inbox) { message in
            guard let report = try? JSONDecoder().decode(NodeReport.self, from: Data(message.body)) else {
                return
            }
            found.withLock { $0.append(report) }
        }
        defer { subscription.end() }
        try await connection.connected(within: .seconds(2))
        connection.publish(NodeReport.subject(cache), answersTo: inbox)
        try? await Task.sleep(for: time)
        return found.withLock(\.self).sorted { $0.node < $1.node }
    }
}
