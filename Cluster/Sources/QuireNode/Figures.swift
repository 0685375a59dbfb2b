import QuireCluster

/// The state of a node as text.
struct Figures {
    private let shards: [ShardStatus]
    private let lag: UInt64

    init(_ shards: [ShardStatus], lag: UInt64) { (self.shards, self.lag) = (shards, lag) }

    /// The text format of Prometheus.
    var metrics: String {
        var text = ""
        func add(_ name: String, _ kind: String, _ help: String, _ value: (ShardStatus) -> String) {
            text += "# HELP quire_\(name) \(help)\n# TYPE quire_\(name) \(kind)\n"
            for shard in shards {
                let label = shard.shard.replacing("\"", with: "\\\"")  // a name has no backslash
                text += "quire_\(name){shard=\"\(label)\"} \(value(shard))\n"
            }
        }
        add("applied_entry", "gauge", "Number of the newest entry that is applied.") {
            "\($0.applied.number)"
        }
        add("log_entry", "gauge", "Number of the newest entry of the log that was seen.") { "\($0.end)" }
        add("lag_entries", "gauge", "Entries of the log that are not applied yet.") { "\($0.lag)" }
        add("entries_total", "counter", "Entries that were applied since the start.") { "\($0.entries)" }
        add("refused_entries_total", "counter", "Entries without effect.") { "\($0.refused)" }
        add("rebuilds_total", "counter", "How often the replica was made anew.") { "\($0.rebuilds)" }
        add("lost_writes_total", "counter", "Writes of this node that the log lost.") { "\($0.lost)" }
        add("checkpoint_entry", "gauge", "The newest checkpoint that this node stored.") {
            "\($0.checkpoint)"
        }
        add("following", "gauge", "1 while entries are applied.") { $0.trouble == nil ? "1" : "0" }
        return text
    }

    var isHealthy: Bool { shards.allSatisfy { $0.trouble == nil && $0.lag <= lag } }

    /// One line for each shard.
    var health: String {
        shards.map { shard in
            let state = shard.trouble ?? (shard.lag > lag ? "is behind" : "follows")
            return "shard \(shard.shard): entry \(shard.applied.number) of \(shard.end): \(state)\n"
        }.joined()
    }
}
