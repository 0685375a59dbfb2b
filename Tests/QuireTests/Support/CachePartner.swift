import Foundation
import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// One of several processes that keep the same cache open: what it does there, step by step.
final class CachePartner {
    /// An encoded ``CacheOperation``.
    struct Entry: Codable {
        let bytes: Data
        let issuer: UInt64
    }

    /// How a process opens the cache.
    struct Setting: Codable {
        var tuning = 0
        var budget = 0

        var options: CacheOptions {
            var options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)
            options.tuning = tuning == 0 ? Tuning() : .cramped
            var budget = CacheBudget()
            switch self.budget {
            case 0: return options
            case 1: budget.cache.posts = 9
            case 2: budget.feed.posts = 5
            case 3: (budget.cache.bodyBytes, budget.collection.posts) = (90, 8)
            default: (budget.feed.age, budget.feed.bodyBytes) = (25, 60)
            }
            options.budget = budget
            return options
        }
    }

    enum Step: Codable {
        case open(path: String, Setting)
        case close
        /// Operations, each in a commit of its own or up to three in one. None are an empty batch.
        case apply([Entry], seed: UInt64)
        /// The same in one batch that throws, or that is only tried.
        case undo([Entry], isDry: Bool)
        /// Reads everything, looks everything up, and follows the log of changes since the last time.
        case read
        /// Opens a snapshot, or ends it: what it shows must still be what it showed then.
        case hold
        /// Moves the window of a feed.
        case look(feed: UInt32, seed: UInt64)
        /// Says which posts of ``OperationChaos/ids`` the screen shows.
        case show(feed: UInt32, [Int])
        /// Makes a view, or makes its function known.
        case keepView(feed: UInt32, isSorted: Bool)
    }

    private struct Undone: Error {}
    private struct Mistake: Error { let description: String }

    private struct Held {
        let snapshot: OpenSnapshot
        let feeds: [Feed]
        let shown: String
    }

    /// The cache that is open.
    private(set) var cache: Cache?
    private var held: Held?
    private var mirror = Mirror()
    private var windows: [UInt32: (window: FeedWindow, list: [RowID])] = [:]

    private static let even = ViewJudge(name: "even", order: .feed) { id, _, body in
        body.count % 2 == 0 ? StoredViewEntry(section: Array("\(id)".utf8.suffix(1))) : nil
    }
    private static let sorted = ViewJudge(name: "sorted", order: .keys) { _, _, body in
        body.isEmpty ? nil : StoredViewEntry(key: body.suffix(2) + [])
    }

    static let failure = "failed: "

    /// Carries a step out and says what came of it. That is the same in every process.
    func answer(_ step: Step) -> String {
        do { return try carryOut(step) } catch { return "\(Self.failure)\(error)" }
    }

    private func carryOut(_ step: Step) throws -> String {
        switch step {
        case .open(let path, let setting):
            close()
            cache = try Cache(at: path, options: setting.options)
        case .close: close()
        case .apply(let entries, let seed):
            let cache = try #require(cache)
            if entries.isEmpty { try cache.batch { _ in } }
            let log = entries.map { (Array($0.bytes), $0.issuer) }
            return try "\(OperationLog.replay(log, into: cache, most: 3, seed: seed))"
        case .undo(let entries, let isDry): try undo(entries, isDry)
        case .read: return try read()
        case .hold: return try hold()
        case .look(let feed, let seed): return try look(at: feed, seed)
        case .show(let number, let ids):
            guard let feed = try feed(number) else { return "no feed" }
            feed.visible = Set(ids.map { OperationChaos.ids[$0] })
        case .keepView(let number, let isSorted):
            guard let feed = try feed(number) else { return "no feed" }
            _ = try (isSorted ? Self.sorted : Self.even).open(feed)
        }
        return "done"
    }

    private func close() { (held, mirror, windows, cache) = (nil, Mirror(), [:], nil) }

    private func feed(_ number: UInt32) throws -> Feed? {
        try #require(cache).feeds().first { $0.number == number }
    }

    private func undo(_ entries: [Entry], _ isDry: Bool) throws {
        let cache = try #require(cache)
        func apply(_ batch: borrowing Batch) throws {
            for entry in entries {
                _ = try batch.apply(CacheOperation(encoded: Array(entry.bytes)), issuer: entry.issuer)
            }
        }
        do {
            if isDry { return try cache.dryRun(apply) }
            try cache.batch {
                try apply($0)
                throw Undone()
            }
        } catch is Undone {
        } catch let error as QuireError where error.isDeterministic {}
    }

    // MARK: Reading

    private func read() throws -> String {
        let cache = try #require(cache)
        try mirror.follow(cache)
        let feeds = try cache.feeds()
        let views = try feeds.flatMap { try cache.views(of: $0) }
        return try cache.withSnapshot { snapshot in
            for view in views {
                let judge = view.name == Self.even.name ? Self.even : Self.sorted
                try judge.require(view, in: snapshot, mayWait: true, "a view")
            }
            return try Self.text(of: feeds, in: snapshot)
        }
    }

    private static func text(of feeds: [Feed], in snapshot: borrowing Snapshot) throws -> String {
        var lines: [String] = []
        for feed in feeds {
            let info = try snapshot.info(of: feed)
            lines.append("feed \(feed.number) \(info.name), \(info.posts) posts, \(info.pages) pages")
            lines.append("\(info.gaps) gaps, \(info.bodyBytes) bytes, \(info.head), \(info.tail)")
            for row in try snapshot.rows(of: feed, limit: .max) {
                lines.append("\(row)")
                guard case .post(let post) = row else { continue }
                lines.append("\(try snapshot.body(of: post).withUnsafeBytes { Array($0) })")
                lines.append("\(try snapshot.fields(of: post, in: feed).sorted { $0.key < $1.key })")
                lines.append("\(try snapshot.rank(of: post.id, in: feed) ?? -1)")
            }
            lines.append("\(try snapshot.contains(OperationChaos.ids, in: feed))")
        }
        return lines.joined(separator: "\n")
    }

    private func hold() throws -> String {
        let cache = try #require(cache)
        if let held = held.take() {
            let now = try held.snapshot.read { try Self.text(of: held.feeds, in: $0) }
            if now != held.shown { throw Mistake(description: "\(now)\n   instead of\n\(held.shown)") }
            return now
        }
        let (feeds, snapshot) = (try cache.feeds(), try OpenSnapshot(cache))
        let shown = try snapshot.read { try Self.text(of: feeds, in: $0) }
        held = Held(snapshot: snapshot, feeds: feeds, shown: shown)
        return shown
    }

    private func look(at number: UInt32, _ seed: UInt64) throws -> String {
        guard let cache, let feed = try feed(number) else { return "no feed" }
        var random = SplitMix64(seed: seed)
        return try cache.withSnapshot { snapshot in
            let all = try snapshot.rows(of: feed, limit: .max).map(\.name)
            guard var (window, list) = windows[number], !window.rows.isEmpty else {
                let rank = random.below(max(1, all.count))
                let window = try snapshot.window(of: feed, at: .rank(rank), above: 2, below: 3)
                windows[number] = (window, window.rows.map(\.name))
                return "\(window.rows)"
            }
            window.look(at: random.pick([nil, random.pick(window.rows).name]), above: 2, below: 3)
            let difference = try window.update(to: snapshot)
            let rows = window.rows.map(\.name)
            list = difference.applied(to: list) { rows[$0] }
            if list != rows { throw Mistake(description: "the differences give \(list), not \(rows)") }
            if rows != Array(all[window.rank...].prefix(rows.count)) {
                throw Mistake(description: "the window \(rows) is no slice of \(all)")
            }
            windows[number] = (window, list)
            return "\(window.rows)"
        }
    }
}
