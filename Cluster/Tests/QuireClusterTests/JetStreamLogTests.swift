import ClusterTesting
import Foundation
import Testing

@testable import QuireCluster

/// The driver with real servers: three on loopback, and one.
@Suite(
    .serialized, .timeLimit(.minutes(3)),
    .enabled(if: NATSServers.program != nil, "nats-server is not installed"))
struct JetStreamLogTests {
    let folder = ScratchFolder()

    private func connect(_ servers: NATSServers) throws -> NATSConnection {
        try NATSConnection(NATSOptions(servers: servers.addresses))
    }

    @Test func keepsEntriesAndCheckpoints() async throws {
        let servers = try NATSServers(3, in: folder.path)
        let connection = try connect(servers)
        defer { connection.close() }
        let log = JetStreamLog(connection, cache: "test", shard: "0")
        try await retried { () throws(LogError) in try await log.prepare(LogRequirements(creates: true)) }
        let seen = Task {
            var seen: [UInt64] = []
            for await signal in log.tail() {
                if case .appended(let number) = signal { seen.append(number) }
                if seen.count == 10 { break }
            }
            return seen
        }
        let texts = (1...10).map { Array("entry \($0)".utf8) }
        for (i, text) in texts.enumerated() { #expect(try await log.append(text) == UInt64(i + 1)) }
        let all = try await log.entries(after: 0, limit: 64)
        #expect(all.map(\.bytes) == texts)
        #expect(try await log.entries(after: 7, limit: 2) == Array(all[7..<9]))
        #expect(try await log.entries(after: 10, limit: 5) == [])
        #expect(try await log.bounds() == LogBounds(first: 1, last: 10))
        try await log.trim(through: 4)
        await #expect(throws: LogError.trimmed(through: 4)) { try await log.entries(after: 3, limit: 5) }
        #expect(try await log.entries(after: 4, limit: 1) == [all[4]])
        try await log.trim(through: 10)
        #expect(try await log.bounds() == LogBounds(first: 11, last: 10))
        #expect(try await log.entries(after: 10, limit: 1) == [])
        await #expect(throws: LogError.trimmed(through: 10)) { try await log.entries(after: 3, limit: 5) }
        // a number that the log has not given out
        for number in [11, .max] as [UInt64] {
            await #expect(throws: LogError.lost(after: 10)) {
                try await log.entries(after: number, limit: .max)
            }
            await #expect(throws: LogError.lost(after: 10)) { try await log.trim(through: number) }
        }
        seen.cancel()

        #expect(try await log.newestCheckpoint() == nil)
        let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/a"))
        func checkpoint(_ number: UInt64) -> Checkpoint {
            Checkpoint(
                position: LogPosition(number: number, digest: .max - number), rules: 2, size: bytes.count)
        }
        try await log.putCheckpoint("\(folder.path)/a", checkpoint(7))
        try await log.putCheckpoint("\(folder.path)/a", checkpoint(9))
        try await log.putCheckpoint("\(folder.path)/a", checkpoint(8))
        #expect(try await log.newestCheckpoint() == checkpoint(9))
        #expect(try await log.fetchCheckpoint(to: "\(folder.path)/b") == checkpoint(9))
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/b")) == Data(bytes))
        // the chunks of the older one are gone: four of 128 KiB and the description are left
        let info = try await connection.require("STREAM.INFO.OBJ_QUIRE_test", as: JetStream.StreamInfo.self)
        #expect(info.state.messages == 5)
    }

    @Test func readsAlong() async throws {
        let servers = try NATSServers(1, in: folder.path)
        let connection = try connect(servers)
        defer { connection.close() }
        let log = JetStreamLog(connection, cache: "test", shard: "0")
        let requirements = LogRequirements(replicas: 1, allowsOneReplica: true, creates: true)
        try await retried { () throws(LogError) in try await log.prepare(requirements) }
        var signals = log.tail().makeAsyncIterator()
        var number: UInt64 = 0
        // the first may be appended before the server knows of the subscription
        let appending = Task { while !Task.isCancelled { _ = try? await log.append([1, 2, 3]) } }
        for _ in 0..<20 {
            guard case .appended(let next)? = await signals.next() else { continue }
            #expect(next > number)
            number = next
        }
        appending.cancel()
        servers.killAll()
        try servers.start(0)
        while let signal = await signals.next() { if case .interrupted = signal { break } }
        #expect(number > 0)
    }

    /// The leader of the log is killed while entries are appended: what was acknowledged is there, in its
    /// order.
    @Test func losesNothingWithItsLeader() async throws {
        let servers = try NATSServers(3, in: folder.path)
        let log = try await opened(servers)
        defer { log.close() }
        let connection = try connect(servers)
        defer { connection.close() }
        var acknowledged: [UInt64: [UInt8]] = [:]
        var killed: [Int] = []
        for round in 0..<2 {
            for i in 0..<30 {
                let entry = Array("entry \(i) of round \(round)".utf8)
                // one whose answer was lost may be in the log twice
                try await retried { () throws(LogError) in acknowledged[try await log.append(entry)] = entry }
                guard i == 10 else { continue }
                try await retried { () throws(LogError) in
                    let info = try await connection.require(
                        "STREAM.INFO.QUIRE_test_0", as: JetStream.StreamInfo.self)
                    guard let leader = info.cluster?.leader.flatMap({ NATSServers.index(ofLeader: $0) })
                    else {
                        throw .unavailable("no leader")
                    }
                    servers.kill(leader)
                    killed.append(leader)
                }
            }
            try servers.start(killed[round])
        }
        var entries: [LogEntry] = []
        while true {
            var next: [LogEntry] = []
            try await retried { () throws(LogError) in
                next = try await log.entries(after: UInt64(entries.count), limit: 64)
            }
            if next.isEmpty { break }
            entries += next
        }
        #expect(entries.map(\.number) == Array(1...UInt64(entries.count)))
        for (number, entry) in acknowledged { #expect(entries[Int(number) - 1].bytes == entry) }
        #expect(acknowledged.count == 60)
    }

    /// Opens the log as a program does, once the servers have chosen leaders.
    private func opened(_ servers: NATSServers) async throws(LogError) -> JetStreamLog {
        var log: JetStreamLog?
        try await retried { () throws(LogError) in
            log = try await JetStreamLog.open(
                NATSOptions(servers: servers.addresses), cache: "test", shard: "0", creates: true)
        }
        return log!
    }

    @Test func refusesNamesThatNoStreamHas() async {
        for name in ["", "a.b", "a b", "*", ">"] {
            await expectRefusal("cannot be in the name") { () throws(LogError) in
                _ = try await JetStreamLog.open(
                    NATSOptions(servers: ["nats://127.0.0.1:1"]), cache: name, shard: "0")
            }
            await expectRefusal("cannot be in the name") { () throws(LogError) in
                _ = try await ClusterCache.reports(
                    NATSOptions(servers: ["nats://127.0.0.1:1"]), cache: name)
            }
        }
    }

    @Test func refusesWhatWouldLoseEntries() async throws {
        let servers = try NATSServers(1, in: folder.path)
        let connection = try connect(servers)
        defer { connection.close() }
        let log = JetStreamLog(connection, cache: "test", shard: "0")
        let requirements = LogRequirements(replicas: 1, allowsOneReplica: true)
        await expectRefusal("there is no stream QUIRE_test_0") {
            () throws(LogError) in try await log.prepare(requirements)
        }
        func stream(_ change: (inout JetStream.StreamConfig) -> Void) async throws {
            var config = JetStream.StreamConfig(
                name: "QUIRE_test_0", subjects: ["quire.test.0"], num_replicas: 1)
            config.republish = .init(src: "quire.test.0", dest: "quire.test.0.tail")
            change(&config)
            _ = try? await connection.require("STREAM.DELETE.QUIRE_test_0", as: JetStream.Done.self)
            _ = try await connection.require(
                "STREAM.CREATE.QUIRE_test_0", config, as: JetStream.StreamInfo.self)
        }
        let prepare: @Sendable () async throws(LogError) -> Void = { () throws(LogError) in
            try await log.prepare(requirements)
        }
        try await stream { $0.discard = "old" }
        await expectRefusal("discards old messages", prepare)
        try await stream { $0.max_age = 3_600_000_000_000 }
        await expectRefusal("by age", prepare)
        try await stream { $0.storage = "memory" }
        await expectRefusal("in memory", prepare)
        try await stream { $0.max_msg_size = 1000 }
        await expectRefusal("takes messages of 1000 bytes", prepare)
        try await stream { $0.republish = nil }
        await expectRefusal("does not republish", prepare)
        try await stream { _ in }
        await expectRefusal("there is no stream OBJ_QUIRE_test", prepare)
        await expectRefusal("one replica") { () throws(LogError) in try await log.prepare(LogRequirements()) }
    }

    /// Servers of old versions lose what they acknowledged when one is cut off from the others.
    @Test func refusesOldServers() async throws {
        var requirements = LogRequirements()
        let accept: @Sendable (String?, Int, LogRequirements) throws(LogError) -> Void = {
            version, replicas, requirements throws(LogError) in
            var config = JetStream.StreamConfig(name: "QUIRE_test_0", num_replicas: replicas)
            config.metadata = version.map { ["_nats.ver": $0] }
            try requirements.accept(config, isLog: true, payload: nil)
        }
        for version in ["2.11.9", "2.9.10", "1.99", "x", nil] {
            let error = #expect(throws: LogError.self) { try accept(version, 3, requirements) }
            #expect(error?.description.contains("2.12 or later is wanted") == true)
        }
        for version in ["2.12.0", "2.15.1-RC.1", "3.0.0"] { try accept(version, 3, requirements) }
        requirements.allowsOldServers = true
        try accept(nil, 3, requirements)
        // one server agrees with itself
        (requirements.allowsOldServers, requirements.allowsOneReplica) = (false, true)
        try accept(nil, 1, requirements)
    }

    /// Two servers that never agreed stand in for two that do not agree any more.
    @Test func comparesWhatServersKeep() async throws {
        let servers = try (0..<2).map { try NATSServers(1, in: "\(folder.path)/\($0)") }
        for (i, server) in servers.enumerated() {
            let connection = try connect(server)
            defer { connection.close() }
            let log = JetStreamLog(connection, cache: "test", shard: "0")
            let requirements = LogRequirements(replicas: 1, allowsOneReplica: true, creates: true)
            try await retried { () throws(LogError) in try await log.prepare(requirements) }
            for n in 0..<70 as Range<UInt8> { _ = try await log.append([UInt8(i), n]) }
        }
        let same = try await JetStreamLog.copies(
            NATSOptions(servers: servers[0].addresses), cache: "test", shard: "0")
        #expect(same.map(\.compared) == [70] && same.map(\.different) == [[]])
        let nowhere = "nats://127.0.0.1:1"
        let copies = try await JetStreamLog.copies(
            NATSOptions(servers: servers.flatMap(\.addresses) + [nowhere]), cache: "test", shard: "0")
        #expect(copies.map(\.compared) == [70, 70, 0])
        #expect(copies.map(\.different.count).sorted() == [0, 0, 70])
    }

    @Test func refusesServersWithSmallMessages() async throws {
        let servers = try NATSServers(1, in: folder.path, extra: "max_payload: 65536")
        let connection = try connect(servers)
        defer { connection.close() }
        let log = JetStreamLog(connection, cache: "test", shard: "0")
        await expectRefusal("the servers take messages of 65536 bytes") { () throws(LogError) in
            try await log.prepare(LogRequirements(replicas: 1, allowsOneReplica: true, creates: true))
        }
    }

    /// The sentence says so. While the server starts, it is asked again.
    private func expectRefusal(_ text: String, _ body: @Sendable () async throws(LogError) -> Void) async {
        do throws(LogError) {
            try await retried(body)
            Issue.record("accepted, though: \(text)")
        } catch {
            guard case .misconfigured(let sentence) = error, sentence.contains(text) else {
                Issue.record("\(error), not: \(text)")
                return
            }
        }
    }
}

/// Asks again while the servers choose a leader.
func retried(_ body: () async throws(LogError) -> Void) async throws(LogError) {
    while true {
        do throws(LogError) { return try await body() } catch {
            switch error {
            case .unavailable, .unknown:
                if Task.isCancelled { throw error }
                await Task.yield()
            default: throw error
            }
        }
    }
}
