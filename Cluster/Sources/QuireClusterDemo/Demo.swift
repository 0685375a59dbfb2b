import ClusterTesting
import Foundation
import Quire
import QuireCluster
import QuireSimulator

/// Three servers of NATS and three nodes on this machine pull one feed; the leader of the log is killed
/// meanwhile, and then a node. Everything that was started is stopped at the end, also if this program is
/// killed.
@main struct Demo {
    static let pages = 40

    static func main() async {
        do {
            if CommandLine.arguments.dropFirst().first == "node" {
                try await NodeWork(Array(CommandLine.arguments.dropFirst(2))).run()
            } else if CommandLine.arguments.dropFirst().first == "figures" {
                try await Figures().run()
            } else {
                try await run()
            }
        } catch {
            FileHandle.standardError.write(Data("quire-cluster-demo: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        guard NATSServers.program != nil else { throw DemoFailure("nats-server is not installed") }
        let folder = ScratchFolder()
        let began = ContinuousClock.now
        func say(_ text: String) { print("\(seconds(since: began))  \(text)") }
        let servers = try NATSServers(3, in: folder.path)
        say("three servers of NATS listen on \(servers.addresses.joined(separator: ", "))")
        var nodes = try (0..<3).map { try NodeProcess($0, folder.path, servers.addresses) }
        defer { for node in nodes { node.kill() } }
        say("three nodes start, processes \(nodes.map { String($0.identifier) }.joined(separator: ", "))")
        try await nodes[0].waitForWrites(20)
        let log = try await JetStreamLog.open(
            NATSOptions(servers: servers.addresses), cache: "demo", shard: "0")
        guard let leader = try await log.servers().leader.flatMap({ NATSServers.index(ofLeader: $0) }) else {
            throw DemoFailure("the log has no leader")
        }
        servers.kill(leader)
        say("server \(leader), the leader of the log, is killed (SIGKILL)")
        let before = nodes.map(\.written)
        let paused = ContinuousClock.now
        for (node, count) in zip(nodes, before) { try await node.waitForWrites(count + 5) }
        say("all nodes write again; the pause was at most \(seconds(since: paused))")
        try servers.start(leader)
        nodes[1].kill()
        say("node 1 is killed (SIGKILL) after \(nodes[1].written) acknowledged writes, and starts again")
        let acknowledged = nodes[1].written
        nodes[1] = try NodeProcess(1, folder.path, servers.addresses)
        for node in nodes { try await node.waitForEnd() }
        let counts = nodes.map(\.written)
        say("the nodes have finished: \(counts.reduce(0, +)) acknowledged writes")
        try await judge(counts, acknowledged, servers, folder.path)
        say("nothing is lost, and all nodes are equal. Everything is stopped.")
    }

    private static func seconds(since began: ContinuousClock.Instant) -> String {
        let milliseconds = (ContinuousClock.now - began) / .milliseconds(1)
        return String(format: "%5.1f s", milliseconds / 1000)
    }

    /// A fourth node replays the log, and has what the others acknowledged; their files are equal to its own.
    private static func judge(
        _ counts: [Int], _ acknowledged: Int, _ servers: NATSServers, _ folder: String
    ) async throws {
        let judge = try await open("\(folder)/judge", servers.addresses)
        let feed = try await judge.feed(named: "demo", options: NodeWork.options)
        _ = try await feed.write([.feed(feed.feed.number, .setAttribute("judge", to: [1]))])
        for (i, count) in counts.enumerated() {
            let value = try feed.feed.attribute("writes-\(i)").map(NodeWork.number) ?? 0
            print("       node \(i): \(count) writes were acknowledged, the log has \(value)")
            if value < count { throw DemoFailure("a write is lost") }
        }
        if counts[1] < acknowledged { throw DemoFailure("node 1 went back") }
        let rows = try feed.feed.cache.withSnapshot { try $0.rows(of: feed.feed, limit: .max) }
        let gaps = rows.filter { if case .gap = $0 { true } else { false } }.count
        print("       the feed: \(rows.count - gaps) posts, \(gaps) gaps")
        let wanted = try contents(of: feed.feed)
        for i in counts.indices {
            let node = try await open("\(folder)/node-\(i)", servers.addresses)
            try await node.wait(for: judge.applied().number)
            let own = try await node.feed(named: "demo")
            if try contents(of: own.feed) != wanted { throw DemoFailure("node \(i) is not equal") }
            let findings = try node.local().check()
            if !findings.isEmpty { throw DemoFailure("node \(i): \(findings)") }
            await node.close()
        }
        await judge.close()
    }

    static func open(_ folder: String, _ servers: [String]) async throws -> ClusterCache {
        var options = ClusterOptions()
        options.timeout = .seconds(60)  // on a busy machine servers choose a leader in more than ten
        return try await ClusterCache.open(
            NATSOptions(servers: servers), folder: folder, cache: "demo", options: options)
    }

    private static func contents(of feed: Feed) throws -> [String] {
        try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: .max).map { row in
                switch row {
                case .gap(let gap): return "\(gap.id)"
                case .post(let post):
                    let body = try snapshot.body(of: post).withUnsafeBytes {
                        String(decoding: $0, as: UTF8.self)
                    }
                    return "\(post.id) \(post.page ?? 0) \(body)"
                }
            }
        }
    }
}

/// What went wrong.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
}
