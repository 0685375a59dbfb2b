import ClusterTesting
import Foundation
import Quire

@testable import QuireCluster

/// What a plain cache makes of a log: the newest checkpoint, if there is one, and what follows it. It is
/// written anew here, by what Docs/cluster.md says, and shares nothing with the nodes but the rules.
struct Model {
    let cache: Cache
    private(set) var position = LogPosition.beginning
    private(set) var applied: Set<ClusterWorld.Acknowledged> = []
    /// It began with the first entry, so that it knows all that was applied.
    let isWhole: Bool

    init(of log: LyingLog, in folder: String) async throws {
        let path = "\(folder)/model.quire"
        let checkpoint = try await log.fetchCheckpoint(to: path)
        isWhole = checkpoint == nil
        let replica = try Replica(at: path)
        cache = replica.cache
        position = checkpoint?.position ?? .beginning
        var digests: [UInt64: UInt64] = [0: 0]
        if let checkpoint {
            for number in 0...checkpoint.position.number {
                digests[number] = try cache.withSnapshot { snapshot in
                    try DigestBlocks.digest(after: number) { try snapshot.attribute($0) }
                }
            }
        }
        for entry in log.content where entry.number > position.number {
            guard entry.number == position.number + 1 else {
                throw WorldFailure("the log has no entry \(position.number + 1)")
            }
            let next = position.next(entry.fingerprint)
            defer {
                position = next
                digests[next.number] = next.digest
            }
            guard let content = try? OperationEntry(encoded: entry.bytes),
                digests[content.base.number] == content.base.digest
            else { continue }
            let write = ClusterWorld.Acknowledged(writer: content.writer, counter: content.counter)
            if applied.contains(write) { continue }
            if checkpoint != nil, try wasApplied(write) { continue }
            applied.insert(write)
            do {
                try replica.batch { batch in
                    for operation in content.operations {
                        _ = try batch.apply(operation, issuer: next.digest)
                    }
                }
            } catch let error as QuireError where error.isDeterministic {}
        }
    }

    /// What the checkpoint says.
    private func wasApplied(_ write: ClusterWorld.Acknowledged) throws -> Bool {
        let name = HistoryNames.writer(write.writer)
        guard let bytes = try cache.withSnapshot({ try $0.attribute(name) }) else { return false }
        return WriterWindow(encoded: bytes).map { !$0.mayApply(write.counter) } ?? false
    }

    private static func text(of post: PostRow, in snapshot: borrowing Snapshot) throws -> String {
        try snapshot.body(of: post).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Rows with gap numbers, pages and bodies, counters and the cache's attribute.
    static func dump(_ cache: Cache) throws -> String {
        var lines: [String] = []
        for feed in try cache.feeds() {
            try cache.withSnapshot { snapshot in
                let info = try snapshot.info(of: feed)
                lines.append(
                    "\(feed.name) \(feed.number) \(info.posts) \(info.gaps) \(info.head) \(info.tail)")
                for row in try snapshot.rows(of: feed, limit: .max) {
                    switch row {
                    case .gap(let gap): lines.append("  \(gap.id)")
                    case .post(let post):
                        let body = try Self.text(of: post, in: snapshot)
                        lines.append("  \(post.id) \(post.page ?? 0) \(post.isUnverified) \(body)")
                    }
                }
            }
        }
        lines.append("a: \(try cache.withSnapshot { try $0.attribute("a") } ?? [])")
        return lines.joined(separator: "\n")
    }
}
