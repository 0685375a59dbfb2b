import ArgumentParser
import QuireCluster

/// Says how the log of each shard is doing.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the log of each shard: entries, servers, checkpoint.")

    @OptionGroup var log: LogArguments

    func run() async throws {
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
            print("  leader      \(servers.leader ?? "none: the servers choose one")")
            for follower in servers.followers {
                let state = follower.isAway ? "away" : follower.isCurrent ? "current" : "behind"
                print("  follower    \(follower.name), \(state)")
            }
            if let checkpoint {
                print(
                    "  checkpoint  entry \(checkpoint.position.number), \(checkpoint.size) bytes, "
                        + "rules \(checkpoint.rules)")
            } else {
                print("  checkpoint  none")
            }
        }
    }
}
