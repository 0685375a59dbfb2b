import ClusterTesting
import Foundation
import Quire
import QuireCluster

/// What a commit, a read and a new node cost here: `quire-cluster-demo figures`. Servers, nodes and this
/// program share the machine.
struct Figures {
    private let folder = ScratchFolder()
    private let servers: NATSServers
    private static let pages = 300

    init() throws { servers = try NATSServers(3, in: folder.path) }

    private func node(_ name: String) async throws -> ClusterCache {
        while true {
            do { return try await Demo.open("\(folder.path)/\(name)", servers.addresses) } catch LogError
                .unavailable
            {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Thirty posts with bodies of 760 bytes: a page of 23 kB.
    private static func answer(_ first: Int, next: Link) -> Answer {
        var answer = Answer(next: next, fetchedAt: 0)
        for i in first..<first + 30 {
            answer.append(
                id: PostID(UInt64(i + 1)), key: nil, version: 1,
                body: Array(repeating: UInt8(32 + i % 90), count: 760))
        }
        return answer
    }

    struct Times {
        var all: [Duration] = []

        func text(_ name: String) -> String {
            let sorted = all.sorted()
            func part(_ share: Double) -> String {
                String(format: "%.2f", sorted[Int(Double(sorted.count - 1) * share)] / .milliseconds(1))
            }
            return
                "\(name): p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, longest \(part(1)) ms, of \(sorted.count)"
        }
    }

    /// Plans and takes in pages at the tail. A page is two commits.
    private static func fill(_ feed: ClusterFeed, from first: Int, pages: Int) async throws -> Times {
        var times = Times()
        for page in 0..<pages {
            let number = feed.feed.number
            let place: Place = page == 0 ? .head : .tail
            let began = ContinuousClock.now
            let replies = try await feed.write([.feed(number, .plan(place, limit: 30))])
            let planned = ContinuousClock.now
            times.all.append(planned - began)
            guard case .plan(.request(let request), let issuer)? = replies.first else { break }
            let answer = answer(first + page * 30, next: .token("\(first + page)"))
            _ = try await feed.write([.feed(number, .ingest(answer, for: request.ticket, issuer: issuer))])
            times.all.append(ContinuousClock.now - planned)
        }
        return times
    }

    func run() async throws {
        let nodes = [try await node("a"), try await node("b"), try await node("c")]
        let feed = try await nodes[0].feed(named: "one", options: NodeWork.options)
        print(
            try await Self.fill(feed, from: 0, pages: Self.pages).text(
                "commit, one writer, half are pages of 23 kB"))
        let others = try await (
            nodes[0].feed(named: "two", options: NodeWork.options),
            nodes[1].feed(named: "three", options: NodeWork.options)
        )
        async let left = Self.fill(others.0, from: 100_000, pages: 100)
        async let right = Self.fill(others.1, from: 200_000, pages: 100)
        let both = try await Times(all: left.all + right.all)
        print(both.text("commit, two nodes write at the same time"))
        try await shareAFeed(nodes)
        try await newNodes(nodes[0])
        try await readWithoutLeader(nodes[0], feed)
        for node in nodes { await node.close() }
        for shards in [1, 2, 4] { try await saturate(shards) }
    }

    /// Both write pages to one feed; who comes second gets a stale answer.
    private func shareAFeed(_ nodes: [ClusterCache]) async throws {
        let first = try await nodes[0].feed(named: "both", options: NodeWork.options)
        try await nodes[1].wait(for: nodes[0].applied().number)
        let second = try await nodes[1].feed(named: "both", options: NodeWork.options)
        async let left = Self.fill(first, from: 300_000, pages: 150)
        async let right = Self.fill(second, from: 300_000, pages: 150)
        print(try await Times(all: left.all + right.all).text("commit, two nodes write to one feed"))
    }

    /// Sixteen feeds are written at the same time through one node, two others follow.
    private func saturate(_ count: Int) async throws {
        let servers = try NATSServers(3, in: ScratchFolder.made(under: folder.path, "\(count)"))
        let shards = (0..<count).map { "s\($0)" }
        var nodes: [ClusterCache] = []
        for i in 0..<3 {
            nodes.append(
                try await ClusterCache.open(
                    NATSOptions(servers: servers.addresses), folder: "\(folder.path)/many-\(count)-\(i)",
                    cache: "many", shards: shards))
        }
        let node = nodes[0]
        var feeds: [ClusterFeed] = []
        for i in 0..<16 {
            let shard = shards[i % count]
            feeds.append(try await node.feed(named: "f\(i)", options: NodeWork.options, shard: shard))
        }
        let (pages, bytes, began) = (40, Self.bytesOnLoopback(), ContinuousClock.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (i, feed) in feeds.enumerated() {
                group.addTask { _ = try await Self.fill(feed, from: i * 10_000, pages: pages) }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        for shard in shards {
            for other in nodes { try await other.wait(for: node.applied(in: shard).number, in: shard) }
        }
        let total = pages * feeds.count
        var text = "\(count) shards, 16 feeds: \(Int(Double(total) / seconds)) pages/s"
        if let bytes, let after = Self.bytesOnLoopback() {
            text += ", \((after - bytes) / total) bytes on the wire for a page (three servers, three nodes)"
        }
        print(text)
        for node in nodes { await node.close() }
    }

    /// What this machine has sent to itself; nil where Linux does not say.
    private static func bytesOnLoopback() -> Int? {
        let text = try? String(contentsOfFile: "/sys/class/net/lo/statistics/tx_bytes", encoding: .utf8)
        return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    private func newNodes(_ node: ClusterCache) async throws {
        let end = try node.applied().number
        for kind in ["replay of \(end) entries", "checkpoint"] {
            if kind == "checkpoint" {
                try await node.checkpoint()
                let log = try await JetStreamLog.open(
                    NATSOptions(servers: servers.addresses), cache: "demo", shard: "0")
                try await log.trim(through: end)
                log.close()
            }
            let began = ContinuousClock.now
            let fresh = try await self.node("new \(kind)")
            try await fresh.wait(for: end)
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            print("new node, \(kind): \(String(format: "%.2f", seconds)) s")
            await fresh.close()
        }
    }

    private func readWithoutLeader(_ node: ClusterCache, _ feed: ClusterFeed) async throws {
        let log = try await JetStreamLog.open(
            NATSOptions(servers: servers.addresses), cache: "demo", shard: "0")
        if let leader = try await log.servers().leader.flatMap({ NATSServers.index(ofLeader: $0) }) {
            servers.kill(leader)
        }
        log.close()
        var times = Times()
        for _ in 0..<10_000 {
            let began = ContinuousClock.now
            let local = feed.feed
            try local.cache.withSnapshot { snapshot in
                for row in try snapshot.rows(of: local, limit: 30) {
                    if case .post(let post) = row { _ = try snapshot.body(of: post).byteCount }
                }
            }
            times.all.append(ContinuousClock.now - began)
        }
        print(times.text("read of 30 rows with bodies while the log has no leader"))
    }
}
