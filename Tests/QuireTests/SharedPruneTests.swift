import QuireSimulator
import Testing

@testable import Quire

/// Pages that leave, of feeds that share posts, and come back at the same positions.
///
///     a   [9 8 7] [6 5 4] [3 2 1]      a prune of a's last page: 3 stays in b, with its body, and 2 and 1 are gone
///     b   [8 6 3]
@Suite struct SharedPruneTests {
    private enum Step: CaseIterable {
        case page, other, prune, pruneTwo, pruneAboveLast, pruneOther, delete, evict
    }

    /// Each history of five steps: whatever is done, the cache keeps its invariants, and holds what a model
    /// says.
    @Test func everyHistory() throws {
        var histories: [[Step]] = [[]]
        for _ in 0..<5 { histories = histories.flatMap { history in Step.allCases.map { history + [$0] } } }
        let temporary = try TemporaryCache()
        // what begins with nothing to leave is a shorter history
        for (i, history) in histories.enumerated()
        where history[0] == .page && [.page, .other].contains(history[1]) {
            let world = try World(temporary.cache, "\(i)")
            for step in history { try world.take(step) }
            if let mistake = try world.mistake() {
                Issue.record("\(history): \(mistake)")
                return
            }
            try world.drop()
        }
        #expect(try temporary.cache.check() == [])
    }

    private final class World {
        let cache: Cache
        let name: String
        let (a, b): (Feed, Feed)
        /// The pages of each feed.
        var (inA, inB): ([[UInt64]], [[UInt64]]) = ([], [])

        init(_ cache: Cache, _ name: String) throws {
            (self.cache, self.name) = (cache, name)
            let options = FeedOptions(order: .keyless, collection: name)
            a = try cache.feed(named: "a" + name, options: options)
            b = try cache.feed(named: "b" + name, options: options)
        }

        func take(_ step: Step) throws {
            switch step {
            case .page:
                let top = UInt64(9 - inA.count * 3)
                // pages come again in whole rows only, the first one if none is left
                if top < 3 || inA.contains(where: { $0.count != 3 }) { return }
                if !inA.isEmpty && inA.last != [top + 3, top + 2, top + 1] { return }
                let page = [top, top - 1, top - 2]
                if try ingest(page, into: a, inA.isEmpty ? .head : .tail) { inA.append(page) }
            case .other:
                if inB.isEmpty, try ingest([8, 6, 3], into: b, .head) { inB = [[8, 6, 3]] }
            case .prune: inA.removeLast(try prune(a, pages: 1))
            case .pruneTwo: inA.removeLast(try prune(a, pages: 2))
            case .pruneAboveLast:
                if inA.count < 2 { return }
                let left = try prune(a, pages: 1, visible: inA.last!)
                if left > 0 { inA.remove(at: inA.count - 2) }
            case .pruneOther: inB.removeLast(try prune(b, pages: 1))
            case .delete:
                try a.delete(8)
                inA = Self.without([8], inA)
            case .evict:
                try a.evict([3, 6])
                inA = Self.without([3, 6], inA)
            }
        }

        private static func without(_ ids: Set<UInt64>, _ pages: [[UInt64]]) -> [[UInt64]] {
            pages.map { $0.filter { !ids.contains($0) } }.filter { !$0.isEmpty }
        }

        private func ingest(_ ids: [UInt64], into feed: Feed, _ place: Place) throws -> Bool {
            guard let request = try feed.plan(place).request else { return false }
            var answer = Answer(next: .token("after \(ids.last!)"))
            for id in ids { answer.append(id: PostID(id), body: Array("\(id) of \(name)".utf8)) }
            return try feed.ingest(answer, for: request.ticket).verdict == .ok
        }

        private func prune(_ feed: Feed, pages: Int, visible: [UInt64] = []) throws -> Int {
            var policy = PrunePolicy()
            policy.visible = Set(visible.map { PostID($0) })
            policy.maximumPages = max(
                0, try cache.withSnapshot { try $0.pages(of: feed, limit: 9).count } - pages)
            return try feed.prune(policy).pages
        }

        func mistake() throws -> String? {
            let findings = try cache.check()
            if !findings.isEmpty { return "\(findings)" }
            return try cache.withSnapshot { snapshot in
                for id in 1...9 as ClosedRange<UInt64> {
                    for (feed, ids) in [(a, inA.joined()), (b, inB.joined())] {
                        guard let row = try snapshot.find(PostID(id), in: feed) else {
                            if ids.contains(id) { return "\(id) is not in \(feed.name)" }
                            continue
                        }
                        if !ids.contains(id) { return "\(id) is in \(feed.name)" }
                        let body = try snapshot.body(of: row)
                        let text = body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                        if text != "\(id) of \(name)" { return "the body of \(id) is \(text)" }
                    }
                }
                let posts = try snapshot.statistics().posts
                let held = Set((inA + inB).joined()).count
                return posts == held ? nil : "\(posts) posts, not \(held)"
            }
        }

        func drop() throws {
            try a.drop()
            try b.drop()
        }
    }
}
