/// What a stream must be like, so that the log loses nothing by its own set-up.
struct LogRequirements: Sendable {
    /// How large an entry may be: one message of a server with its defaults, less what is added to it.
    static let entrySize = (1 << 20) - 4096

    /// How many servers keep what is made.
    var replicas = 3
    /// One copy is enough: for tests, and for a machine on a desk.
    var allowsOneReplica = false
    /// ``NATSOptions/allowsOldServers``.
    var allowsOldServers = false
    /// Makes streams that are missing.
    var creates = false
    /// The oldest version of the servers with which nothing was lost in a partition.
    static let version = (2, 12)

    func accept(_ config: JetStream.StreamConfig, isLog: Bool, payload: Int?) throws(LogError) {
        let name = config.name
        if config.num_replicas < 2 && !allowsOneReplica {
            throw .misconfigured(
                "\(name) has one replica: what it acknowledged is lost with its server. Three are wanted; "
                    + "allowsOneReplica accepts that")
        }
        if config.num_replicas > 1, !allowsOldServers, !Self.isNew(config.version) {
            let version = config.version ?? "before 2.11"
            throw .misconfigured(
                "\(name) is kept by servers of version \(version), which lose acknowledged writes when one "
                    + "is cut off from the others. \(Self.version.0).\(Self.version.1) or later is wanted; "
                    + "allowsOldServers accepts that")
        }
        if config.storage != "file" {
            throw .misconfigured(
                "\(name) is kept in memory: what it acknowledged is lost when its servers stop")
        }
        if config.discard != "new" {
            throw .misconfigured("\(name) discards old messages when it is full; set discard to new")
        }
        if let age = config.max_age, age != 0 {
            throw .misconfigured("\(name) discards messages by age (max_age); set it to 0")
        }
        if let limit = config.max_msgs_per_subject, limit > 0 {
            throw .misconfigured("\(name) keeps \(limit) messages of a subject; it must keep all")
        }
        if let retention = config.retention, retention != "limits" {
            throw .misconfigured("\(name) has the retention \(retention); it must be limits")
        }
        if config.allow_direct != true {
            throw .misconfigured("\(name) does not allow direct access (allow_direct)")
        }
        try accept(sizes: config, isLog: isLog, payload: payload)
    }

    private func accept(
        sizes config: JetStream.StreamConfig, isLog: Bool, payload: Int?
    ) throws(LogError) {
        let name = config.name
        guard isLog else { return }
        let wanted = Self.entrySize
        if let size = config.max_msg_size, size > 0, size < wanted {
            throw .misconfigured(
                "\(name) takes messages of \(size) bytes (max_msg_size); \(wanted) are wanted")
        }
        if let payload, payload < wanted {
            throw .misconfigured(
                "the servers take messages of \(payload) bytes (max_payload); \(wanted) are wanted")
        }
    }

    private static func isNew(_ version: String?) -> Bool {
        let parts = (version ?? "").split(separator: ".").prefix(2).compactMap { Int($0) }
        return parts.count == 2 && (parts[0], parts[1]) >= Self.version
    }
}
