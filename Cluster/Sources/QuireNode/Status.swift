import ArgumentParser
import QuireCluster

/// Says how the log of each shard is doing.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the log of each shard: entries, servers, checkpoint, and how far each node is.",
        discussion: """
            Ends with 1 if a server is away or behind, a node applies nothing, or one lags behind by more than --lag \
            entries.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: "How many entries behind a node may be.")
    var lag: UInt64 = 1000

    @Flag(help: "Read each log from each server, and compare: servers that keep different entries are named.")
    var compare = false

    func run() async throws {
        let nodes = try await ClusterCache.reports(log.options, cache: log.cache)
        var isWell = true
        for shard in log.shards {
            let stream = try await JetStreamLog.open(
                log.options, cache: log.cache, shard: shard, replicas: log.replicas,
                allowsOneReplica: log.allowOneReplica)
            defer { stream.close() }
            let bounds = try await stream.bounds()
            let servers = try await stream.servers()
            let checkpoint = try await stream.newestCheckpoint()
            print("shard \(shard)")
            print("  entries     \(bounds.first) to \(bounds.last), \(servers.bytes) bytes")
            print(
                "  leader      \(servers.leader ?? "none: the servers choose one"), "
                    + "version \(servers.version ?? "before 2.11")")
            for follower in servers.followers {
                let state = follower.isAway ? "away" : follower.isCurrent ? "current" : "behind"
                if state != "current" { isWell = false }
                print("  follower    \(follower.name), \(state)")
            }
            if servers.leader == nil { isWell = false }
            if compare, try await !self.compare(shard) { isWell = false }
            if let checkpoint {
                print(
                    "  checkpoint  entry \(checkpoint.position.number), \(checkpoint.size) bytes, "
                        + "rules \(checkpoint.rules)")
            } else {
                print("  checkpoint  none")
            }
            for node in nodes {
                for replica in node.shards where replica.shard == shard {
                    let behind = bounds.last - min(bounds.last, replica.applied)
                    if behind > lag || replica.trouble != nil { isWell = false }
                    print(
                        "  node        \(node.node), entry \(replica.applied), \(behind) behind",
                        terminator: "")
                    if replica.rebuilds > 0 { print(", made anew \(replica.rebuilds) times", terminator: "") }
                    if replica.lost > 0 { print(", \(replica.lost) writes lost", terminator: "") }
                    print(replica.trouble.map { ": \($0)" } ?? "")
                }
            }
        }
        if nodes.isEmpty { print("no node answers") }
        if !isWell { throw ExitCode(1) }
    }

    /// Returns false if a server keeps others than the leader.
    private func compare(_ shard: String) async throws -> Bool {
        var areEqual = true
        for copy in try await JetStreamLog.copies(log.options, cache: log.cache, shard: shard) {
            print("  copy        \(copy.server), ", terminator: "")
            if copy.compared == 0 {
                print("cannot be compared")
            } else if let first = copy.different.first, let last = copy.different.last {
                print("\(copy.different.count) entries of \(first) to \(last) are others than the leader's")
                areEqual = false
            } else {
                print("\(copy.compared) entries equal to the leader's")
            }
        }
        return areEqual
    }
}
