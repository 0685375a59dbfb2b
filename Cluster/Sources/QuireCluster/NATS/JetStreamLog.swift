#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Synchronization

/// A shared log that several servers of NATS JetStream keep.
///
/// On the servers it is the stream `QUIRE_<cache>_<shard>` with the subject `quire.<cache>.<shard>`, and the
/// object `shard-<shard>` in the bucket `QUIRE_<cache>`. The server republishes each stored message with its
/// number, so a process that reads along costs the server no consumer.
public final class JetStreamLog: SharedLog {
    let connection: NATSConnection
    private let store: ObjectStore
    let stream: String
    private let subject: String
    private let tailSubject: String
    private let object: String
    private let shard: String
    /// What must be looked at before the log is used.
    private let unmet: Mutex<LogRequirements?>
    private let leaders = Mutex(Leaders())
    /// Messages asked for at the same time.
    static let window = 64

    init(_ connection: NATSConnection, cache: String, shard: String, _ requirements: LogRequirements? = nil) {
        self.connection = connection
        unmet = Mutex(requirements)
        self.shard = shard
        store = ObjectStore(connection: connection, bucket: "QUIRE_\(cache)")
        stream = "QUIRE_\(cache)_\(shard)"
        subject = "quire.\(cache).\(shard)"
        tailSubject = "quire.\(cache).\(shard).tail"
        object = "shard-\(shard)"
    }

    /// Opens the log of a shard. Close it when it is not needed any more.
    /// - Parameters:
    ///   - options: How to reach the servers.
    ///   - cache: The name of what is shared, without `.`, `*`, `>` and white space; so is that of the shard.
    ///   - replicas: How many servers keep what is made.
    ///   - allowsOneReplica: Accepts a stream that one server keeps: what it acknowledged is lost with that
    ///     server.
    ///   - creates: Makes the stream and the bucket if they are missing.
    /// - Throws: `.unavailable` or `.unknown` while no server answers, `.misconfigured` if the stream would
    ///   lose entries by its set-up, or is missing.
    public static func open(
        _ options: NATSOptions, cache: String, shard: String, replicas: Int = 3,
        allowsOneReplica: Bool = false,
        creates: Bool = false
    ) async throws(LogError) -> JetStreamLog {
        let log = try JetStreamLog(
            options, cache: cache, shard: shard,
            LogRequirements(
                replicas: replicas, allowsOneReplica: allowsOneReplica,
                allowsOldServers: options.allowsOldServers, creates: creates))
        do throws(LogError) { try await log.requirePrepared() } catch {
            log.close()
            throw error
        }
        return log
    }

    /// Begins to connect. The stream is looked at before it is used.
    convenience init(
        _ options: NATSOptions, cache: String, shard: String, _ requirements: LogRequirements
    ) throws(LogError) {
        try Self.requireNames([cache, shard])
        self.init(try NATSConnection(options), cache: cache, shard: shard, requirements)
    }

    func requirePrepared() async throws(LogError) {
        guard let requirements = unmet.withLock({ $0 }) else { return }
        try await prepare(requirements)
        unmet.withLock { $0 = nil }
    }

    /// Names are parts of subjects and of names of streams.
    static func requireNames(_ names: [String]) throws(LogError) {
        for name in names
        where name.isEmpty
            || name.utf8.contains(where: { $0 <= 32 || $0 >= 127 || ".*>/\\".utf8.contains($0) })
        {
            throw .misconfigured("\"\(name)\" cannot be in the name of a stream")
        }
    }

    public func close() { connection.close() }

    // MARK: Who is in charge

    /// The server that leads the log, as it was heard last, and how often that was another one.
    private struct Leaders {
        var newest: String?
        var changes: UInt64 = 0

        mutating func note(_ cluster: JetStream.StreamCluster?) {
            // a server that is in no cluster leads for ever
            guard let leader = cluster?.leader else { return }
            let name = "\(leader) \(cluster?.leader_since ?? "")"
            if let newest, newest != name { changes += 1 }
            newest = name
        }
    }

    public var changes: UInt64 { leaders.withLock(\.changes) + connection.reconnections }

    // MARK: Entries

    public func append(_ entry: [UInt8]) async throws(LogError) -> UInt64 {
        if let limit = connection.maximumPayload, entry.count > limit {
            throw .tooLarge(entry.count, limit: limit)
        }
        try await requirePreparedToAppend()
        return try await connection.publish(subject, entry)
    }

    /// What may have happened was not an append.
    private func requirePreparedToAppend() async throws(LogError) {
        do throws(LogError) { try await requirePrepared() } catch {
            if case .unknown(let text) = error { throw .unavailable(text) }
            throw error
        }
    }

    public func bounds() async throws(LogError) -> LogBounds {
        try await requirePrepared()
        let info = try await connection.require("STREAM.INFO.\(stream)", as: JetStream.StreamInfo.self)
        leaders.withLock { $0.note(info.cluster) }
        let state = info.state
        return LogBounds(
            first: state.messages == 0 ? state.last_seq + 1 : state.first_seq, last: state.last_seq)
    }

    public func entries(after number: UInt64, limit: Int) async throws(LogError) -> [LogEntry] {
        let bounds = try await bounds()
        if number > bounds.last { throw .lost(after: bounds.last) }
        let count = min(bounds.last - number, UInt64(max(0, min(limit, Self.window))))
        if count == 0 { return [] }
        if bounds.first > number + 1 { throw .trimmed(through: bounds.first - 1) }
        let last = number + count
        let results = await withTaskGroup(of: Asked.self) { group in
            for next in number + 1...last { group.addTask { await self.ask(next) } }
            var results: [Asked] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.number < $1.number }
        }
        var entries: [LogEntry] = []
        for result in results { entries.append(try result.entry.get()) }
        return entries
    }

    /// What became of the question for one entry.
    private struct Asked {
        let number: UInt64
        let entry: Result<LogEntry, LogError>
    }

    private func ask(_ number: UInt64) async -> Asked {
        do throws(LogError) {
            return Asked(number: number, entry: .success(try await entry(number)))
        } catch { return Asked(number: number, entry: .failure(error)) }
    }

    /// The leader answers. Another server may lag behind, or keep an entry that the leader does not have.
    private func entry(_ number: UInt64) async throws(LogError) -> LogEntry {
        let request = JetStream.MessageRequest(seq: number)
        switch try await connection.call(
            "STREAM.MSG.GET.\(stream)", request, as: JetStream.StoredMessage.self)
        {
        case .value(let stored):
            let bytes = Array(stored.message.data ?? Data())
            return LogEntry(number: number, stamp: try stamp(stored.message.time), bytes: bytes)
        case .failure(let failure) where failure.isMissing: throw .trimmed(through: number)
        case .failure(let failure): throw failure.asError(stream)
        }
    }

    /// When the leader stored it, to the nanosecond: the text without the zeros at its end that servers leave
    /// out.
    func stamp(_ time: String?) throws(LogError) -> UInt64 {
        guard let time, time.hasSuffix("Z") else {
            throw .refused("\(stream): the servers do not say when they stored a message")
        }
        var digits = time.utf8.dropLast()
        if digits.contains(UInt8(ascii: ".")) {
            while digits.last == UInt8(ascii: "0") { digits.removeLast() }
            if digits.last == UInt8(ascii: ".") { digits.removeLast() }
        }
        return Digest.of(Array(digits))
    }

    public func tail() -> AsyncStream<LogSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(4 * Self.window)) { continuation in
            do throws(LogError) {
                let subscription = try connection.subscribe(tailSubject) { message in
                    guard let number = message.sequence else { return }
                    continuation.yield(.appended(number))
                }
                let token = connection.onInterruption { continuation.yield(.interrupted) }
                continuation.onTermination = { [connection] _ in
                    connection.ignore(token)
                    subscription.end()
                }
            } catch { continuation.finish() }
        }
    }

    public func trim(through number: UInt64) async throws(LogError) {
        let last = try await bounds().last
        if number > last { throw .lost(after: last) }
        let request = JetStream.PurgeRequest(seq: number + 1)
        _ = try await connection.require("STREAM.PURGE.\(stream)", request, as: JetStream.Done.self)
    }

    /// Which servers keep the log now.
    public func servers() async throws(LogError) -> LogServers {
        let info = try await connection.require("STREAM.INFO.\(stream)", as: JetStream.StreamInfo.self)
        let followers = (info.cluster?.replicas ?? []).map {
            LogServers.Follower(
                name: $0.name, isCurrent: $0.current ?? false, isAway: $0.offline ?? false)
        }
        // a server that is in no cluster does not speak of leaders
        let leader = info.cluster.map(\.leader) ?? "a server alone"
        return LogServers(
            leader: leader, followers: followers, version: info.config.version, bytes: info.state.bytes)
    }

    // MARK: Checkpoints

    public func newestCheckpoint() async throws(LogError) -> Checkpoint? {
        try Self.checkpoint(try await store.description(of: object).0)
    }

    private static let headers = (number: "Quire-Number", digest: "Quire-Digest", rules: "Quire-Rules")

    private static func checkpoint(_ description: ObjectStore.Description?) throws(LogError) -> Checkpoint? {
        guard let description else { return nil }
        func value(_ name: String) -> String? { description.headers[name]?.first }
        guard let number = value(headers.number).flatMap({ UInt64($0) }),
            let digest = value(headers.digest).flatMap({ UInt64($0, radix: 16) }),
            let rules = value(headers.rules).flatMap({ UInt16($0) })
        else { throw .refused("\(description.bucket): \(description.name) is not a checkpoint of Quire") }
        return Checkpoint(
            position: LogPosition(number: number, digest: digest), rules: rules, size: description.size)
    }

    public func putCheckpoint(_ path: String, _ checkpoint: Checkpoint) async throws(LogError) {
        let (stored, message) = try await store.description(of: object)
        let number = checkpoint.position.number
        if let stored = try Self.checkpoint(stored), stored.position.number >= number { return }
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        try await store.put(
            path, as: object, nuid: "\(shard)-\(number)-\(random)",
            headers: [
                Self.headers.number: [String(number)],
                Self.headers.digest: [String(checkpoint.position.digest, radix: 16)],
                Self.headers.rules: [String(checkpoint.rules)],
            ], replacing: message)
        // Those of older checkpoints, and of nodes that were killed while they stored one.
        try await store.forgetChunks { nuid in
            let parts = nuid.split(separator: "-")
            guard parts.count >= 3, parts.dropLast(2).joined(separator: "-") == shard,
                let older = UInt64(parts[parts.count - 2])
            else { return false }
            return older < number
        }
    }

    public func fetchCheckpoint(to path: String) async throws(LogError) -> Checkpoint? {
        let description = try await store.description(of: object).0
        guard let checkpoint = try Self.checkpoint(description), let description else { return nil }
        try await store.get(description, to: path)
        return checkpoint
    }

    // MARK: Set-up

    /// Makes what is missing, if allowed, and refuses a stream that would lose entries.
    func prepare(_ requirements: LogRequirements) async throws(LogError) {
        var wanted = JetStream.StreamConfig(
            name: stream, subjects: [subject], num_replicas: requirements.replicas)
        wanted.republish = JetStream.StreamConfig.Republish(src: subject, dest: tailSubject)
        let log = try await stream(wanted, requirements)
        try requirements.accept(log, isLog: true, payload: connection.maximumPayload)
        guard log.republish == wanted.republish else {
            throw .misconfigured("\(stream) does not republish \(subject) to \(tailSubject)")
        }
        let bucket = try await stream(store.configuration(replicas: requirements.replicas), requirements)
        try requirements.accept(bucket, isLog: false, payload: connection.maximumPayload)
    }

    /// The configuration that the stream has.
    private func stream(
        _ wanted: JetStream.StreamConfig, _ requirements: LogRequirements
    ) async throws(LogError) -> JetStream.StreamConfig {
        switch try await connection.call("STREAM.INFO.\(wanted.name)", as: JetStream.StreamInfo.self) {
        case .value(let info): return info.config
        case .failure(let failure) where failure.isMissing: break
        case .failure(let failure): throw failure.asError(wanted.name)
        }
        guard requirements.creates else {
            throw .misconfigured("there is no stream \(wanted.name), and it may not be made")
        }
        // Another node may make it at the same time, with the same configuration: both succeed.
        let made = try await connection.require(
            "STREAM.CREATE.\(wanted.name)", wanted, as: JetStream.StreamInfo.self)
        return made.config
    }
}
