import ClusterTesting
import Foundation
import Quire
import QuireSimulator
import Synchronization
import Testing

@testable import QuireCluster

/// Nodes with real servers.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NATSServers.program != nil, "nats-server is not installed"))
struct ClusterCacheTests {
    private let folder = ScratchFolder()
    private let options = FeedOptions(order: .keyless)

    private static let server = {
        var server = SimulatedServer()
        for _ in 0..<60 { server.insertOnTop() }
        return server
    }()

    private func node(_ i: Int, _ servers: NATSServers) async throws -> ClusterCache {
        var options = ClusterOptions()
        options.checkpointInterval = 0
        options.margin = 8
        options.timeout = .seconds(60)
        return try await ClusterCache.open(
            NATSOptions(servers: servers.addresses), folder: "\(folder.path)/node-\(i)", cache: "test",
            options: options)
    }

    /// The name of the server that leads the log.
    private func leader(_ servers: NATSServers) async throws -> Int {
        let connection = try NATSConnection(NATSOptions(servers: servers.addresses))
        defer { connection.close() }
        var leader: Int?
        try await retried { () throws(LogError) in
            let info = try await connection.require(
                "STREAM.INFO.QUIRE_test_0", as: JetStream.StreamInfo.self)
            leader = info.cluster?.leader.flatMap { NATSServers.index(ofLeader: $0) }
            if leader == nil { throw .unavailable("no leader") }
        }
        return try #require(leader)
    }

    /// Loads the feed to its end through a node; what is below its end stays.
    private func load(_ feed: ClusterFeed, from server: SimulatedServer, pages: Int) async throws -> Int {
        var loaded = 0
        for _ in 0..<pages {
            do {
                let outcome = try await feed.load(loaded == 0 ? .head : .tail, limit: 3) { request in
                    server.answer(to: request.target, limit: 3, options: self.options)
                }
                if outcome.verdict == .ok { loaded += 1 }
            } catch is Refusal { break }
        }
        return loaded
    }

    private func requireEqual(_ nodes: [ClusterCache]) async throws {
        // what one node writes last is applied by all
        _ = try await nodes[0].submit([.setAttribute("a", to: [7])])
        let end = try nodes[0].applied()
        for node in nodes {
            try await node.wait(for: end.number)
            #expect(try node.applied() == end)
            #expect(try Model.dump(node.local()) == Model.dump(nodes[0].local()))
            #expect(try node.local().check() == [])
        }
    }

    /// Leaders are killed while nodes write, one server comes back with an empty disk, a node joins behind
    /// the trim.
    @Test func nodesStayEqualAndNothingIsLost() async throws {
        let servers = try NATSServers(3, in: folder.path)
        let server = Self.server
        let nodes = [try await node(0, servers), try await node(1, servers)]
        let first = try await nodes[0].feed(named: "f", options: options)
        let end = try nodes[0].applied()
        try await nodes[1].wait(for: end.number)
        let second = try await nodes[1].feed(named: "f", options: options)
        #expect(try await load(first, from: server, pages: 4) == 4)
        for round in 0..<2 {
            let killed = try await leader(servers)
            servers.kill(killed)
            // through both, while the others choose a leader
            for (i, feed) in [first, second].enumerated() {
                let value = UInt8(round * 2 + i)
                _ = try await feed.write([.feed(feed.feed.number, .setAttribute("n", to: [value]))])
                let outcome = try await feed.load(.tail, limit: 3) { request in
                    server.answer(to: request.target, limit: 3, options: options)
                }
                #expect(outcome.verdict == .ok)
            }
            if round == 1 { try servers.wipe(killed) }
            try servers.start(killed)
        }
        try await requireEqual(nodes)
        #expect(try first.feed.attribute("n") == [3])
        // 4 pages, and 4 more, of 3 posts
        #expect(try ClusterWorld.rows(of: first.feed).count == 24)
        // the server with the empty disk has just come back
        try await retried { () throws(LogError) in
            do { try await nodes[0].checkpoint() } catch { throw error as? LogError ?? .refused("\(error)") }
        }
        let third = try await node(2, servers)
        try await requireEqual(nodes + [third])
        #expect(third.status[0].rebuilds == 1 && third.status[0].lost == 0)
        for node in nodes + [third] { await node.close() }
    }

    /// Equal plans of two nodes: one fetch.
    @Test func aPageIsFetchedOnceForTheFleet() async throws {
        let servers = try NATSServers(3, in: folder.path)
        let server = Self.server
        let nodes = [try await node(0, servers), try await node(1, servers)]
        let first = try await nodes[0].feed(named: "f", options: options)
        try await nodes[1].wait(for: nodes[0].applied().number)
        let second = try await nodes[1].feed(named: "f")
        let fetches = Mutex(0)
        let fetch: @Sendable (Request) async throws -> Answer = { request in
            fetches.withLock { $0 += 1 }
            // as long as it takes the others to see the plan
            while try nodes[1].applied().number < nodes[0].applied().number {
                try Task.checkCancellation()
                await Task.yield()
            }
            return server.answer(to: request.target, limit: 5, options: FeedOptions(order: .keyless))
        }
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for feed in [first, second, first, second] {
                group.addTask { try await feed.load(.head, limit: 5, fetch: fetch) }
            }
            var outcomes: [Outcome] = []
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        #expect(outcomes.allSatisfy { $0.verdict == .ok })
        // who came after the answer asked again
        #expect(fetches.withLock(\.self) < 4)
        print("4 equal requests, \(fetches.withLock(\.self)) fetched")
        try await requireEqual(nodes)
        for node in nodes { await node.close() }
    }

    /// Servers that demand certificates, and a password.
    @Test func nodesSpeakTLS() async throws {
        let path = folder.path
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=quire",
            "-addext", "subjectAltName=IP:127.0.0.1,DNS:quire", "-keyout", "\(path)/key", "-out",
            "\(path)/cert",
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
        let servers = try NATSServers(
            1, in: path,
            extra: """
                tls { cert_file: "\(path)/cert", key_file: "\(path)/key", ca_file: "\(path)/cert", verify: true }
                authorization { user: u, password: p }
                """)
        let address = servers.addresses[0].replacing("nats://", with: "nats://u:p@")
        var options = NATSOptions(servers: [address])
        (options.certificateAuthority, options.hostname) = ("\(path)/cert", "quire")
        (options.certificate, options.key) = ("\(path)/cert", "\(path)/key")
        let node = try await ClusterCache.open(
            options, folder: "\(path)/node", cache: "test", replicas: 1, allowsOneReplica: true)
        #expect(try await node.submit([.setAttribute("a", to: [1])]) == [.done])
        await node.close()
        // without a certificate, with another password
        var others = [options, options]
        (others[0].certificate, others[0].key) = (nil, nil)
        others[1].servers = [address.replacing("u:p", with: "u:q")]
        var impatient = ClusterOptions()
        impatient.timeout = .milliseconds(300)
        for (i, other) in others.enumerated() {
            let node = try await ClusterCache.open(
                other, folder: "\(path)/other-\(i)", cache: "test", replicas: 1, allowsOneReplica: true,
                options: impatient)
            await #expect(throws: LogError.self) { try await node.submit([.setAttribute("a", to: [2])]) }
            await node.close()
        }
    }

    /// No server at all: what was applied is there, and a node opens.
    @Test func withoutServersReadingGoesOn() async throws {
        let servers = try NATSServers(3, in: folder.path)
        do {
            let node = try await node(0, servers)
            _ = try await node.submit([.setAttribute("a", to: [1])])
            servers.killAll()
            #expect(try node.local().withSnapshot { try $0.attribute("a") } == [1])
            await node.close()
        }
        var options = ClusterOptions()
        options.timeout = .milliseconds(500)
        let node = try await ClusterCache.open(
            NATSOptions(servers: servers.addresses), folder: "\(folder.path)/node-9", cache: "test",
            options: options)
        #expect(try node.local().withSnapshot { try $0.attribute("a") } == nil)
        do {
            _ = try await node.submit([.setAttribute("a", to: [2])])
            Issue.record("written without servers")
        } catch LogError.unavailable {}
        #expect(node.status[0].applied == .beginning)
        await node.close()
    }
}
