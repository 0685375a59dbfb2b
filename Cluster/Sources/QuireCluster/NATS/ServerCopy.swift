/// What one server keeps of a log, compared with what the leader keeps.
///
/// Servers that keep different entries under one number have not agreed, which a log on several machines
/// promises. Some versions of NATS do so after a server was cut off. Nodes read from the leader only; they
/// compare what they have applied when another server leads, and are made anew if it has another history.
public struct ServerCopy: Sendable, Hashable {
    /// The address of the server.
    public let server: String
    /// How many entries were compared: 0 if the server cannot be reached.
    public internal(set) var compared = 0
    /// The numbers under which it keeps other entries than the leader.
    public internal(set) var different: [UInt64] = []
}

extension JetStreamLog {
    /// Reads a whole log from each of the servers, and compares. What a server does not have yet is not
    /// compared, nor is one whose answers another server gives.
    /// - Parameter options: Their addresses: each is asked alone.
    public static func copies(
        _ options: NATSOptions, cache: String, shard: String
    ) async throws(LogError) -> [ServerCopy] {
        var any = options
        any.allowsOldServers = true
        let leader = try await open(any, cache: cache, shard: shard, allowsOneReplica: true)
        defer { leader.close() }
        var servers: [(copy: ServerCopy, log: JetStreamLog)] = []
        defer { for server in servers { server.log.close() } }
        for address in options.servers {
            var alone = any
            (alone.servers, alone.staysThere) = ([address], true)
            let log = JetStreamLog(try NATSConnection(alone), cache: cache, shard: shard)
            servers.append((ServerCopy(server: address), log))
            try? await log.connection.connected(within: .seconds(2))
        }
        var number = try await leader.bounds().first - 1
        while true {
            let entries = try await leader.entries(after: number, limit: window)
            guard let last = entries.last else { break }
            number = last.number
            for i in servers.indices { await servers[i].log.compare(entries, &servers[i].copy) }
        }
        return servers.map(\.copy)
    }

    private func compare(_ entries: [LogEntry], _ copy: inout ServerCopy) async {
        let results = await withTaskGroup(of: (UInt64, Bool?).self) { group in
            for entry in entries {
                group.addTask { (entry.number, try? await self.kept(entry.number).map { $0 == entry }) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        copy.compared += results.count { $0.1 != nil }
        copy.different += results.filter { $0.1 == false }.map(\.0).sorted()
    }

    /// What the server of this connection keeps under a number; nil if it has nothing there.
    private func kept(_ number: UInt64) async throws(LogError) -> LogEntry? {
        let request = JetStream.MessageRequest(seq: number)
        guard let message = try await connection.directMessage(stream, request), message.sequence == number
        else { return nil }
        return LogEntry(number: number, stamp: try stamp(message.time), bytes: message.body)
    }
}
