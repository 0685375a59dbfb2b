import Foundation
import Quire
import QuireCluster

/// Opens the replicas that the nodes leave behind, and compares them with each other and with what was
/// acknowledged.
struct Judge {
    let address: String
    let judge: ClusterCache
    let servers: [String]

    /// Servers that have not agreed on what the log holds.
    private func differences() async throws -> [String] {
        let copies = try await JetStreamLog.copies(
            NATSOptions(servers: servers), cache: "torture", shard: "0")
        return copies.compactMap { copy in
            guard let first = copy.different.first, let last = copy.different.last else { return nil }
            return "\(copy.different.count) entries of \(first) to \(last) are others on \(copy.server) "
                + "than on the leader"
        }
    }

    func run(_ nodes: [WorkerProcess], lists: [String: Int]) async throws {
        _ = try await judge.submit([.setAttribute("judge", to: [1])])
        let end = try judge.applied()
        var wanted: UInt64?
        var troubles: [String] = []
        for (name, list) in lists.sorted(by: { $0.key < $1.key }) {
            let held = try ids(of: name, in: judge.local())
            let acknowledged = nodes.reduce(into: Set<Int>()) { $0.formUnion($1.pages[name] ?? []) }
            let lost = acknowledged.filter { !SwiftWorker.ids($0, of: list).allSatisfy(held.contains) }
            print(
                "  feed \(name): \(held.count) posts, \(acknowledged.count) acknowledged pages, \(lost.count) lost"
            )
            if !lost.isEmpty {
                troubles.append("pages of feed \(name) are lost: \(lost.sorted().prefix(10))")
            }
        }
        for node in nodes + [nil] {
            var cluster = judge
            if let node { cluster = try await ClusterCache.open(address, folder: node.folder) }
            try await cluster.wait(for: end.number)
            let hash = try Self.hash(of: cluster.local())
            let findings = try cluster.local().check()
            let name = node?.name ?? "the judge"
            print(
                "  \(name): entry \(try cluster.applied().number), hash \(String(hash, radix: 16)), "
                    + "check: \(findings.count) findings")
            if wanted ?? hash != hash { troubles.append("\(name) is not equal to the others") }
            if !findings.isEmpty { troubles.append("\(name): \(findings)") }
            wanted = hash
            if node != nil { await cluster.close() }
        }
        troubles += try await differences()
        if !troubles.isEmpty { throw Trouble(troubles.joined(separator: "; ")) }
    }

    private func ids(of feed: String, in cache: Cache) throws -> Set<PostID> {
        guard let feed = try cache.existingFeed(named: feed) else { return [] }
        return try cache.withSnapshot {
            Set(try $0.rows(of: feed, limit: .max).compactMap { $0.post?.id })
        }
    }

    /// A hash of all rows, gaps, pages and bodies.
    private static func hash(of cache: Cache) throws -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        for feed in try cache.feeds() {
            add("\(feed.name) \(feed.number)")
            try cache.withSnapshot { snapshot in
                for page in try snapshot.pages(of: feed, limit: .max) {
                    add("\(page.number) \(page.next) \(page.own)")
                }
                for row in try snapshot.rows(of: feed, limit: .max) {
                    switch row {
                    case .gap(let gap): add("gap \(gap.id) \(gap.down) \(gap.up)")
                    case .post(let post):
                        add("\(post.id) \(post.page ?? 0)")
                        add(
                            try snapshot.body(of: post).withUnsafeBytes {
                                String(decoding: $0, as: UTF8.self)
                            })
                    }
                }
            }
        }
        return hash
    }
}
