import Foundation
import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// Random operations, dealt at random to two processes that both keep the cache open. What a process keeps
/// from one commit to the next must not show: the file has the same records, byte by byte, as one that
/// nothing was kept for.
///
///     QUIRE_HISTORIES=5000 QUIRE_START=1000        other seeds
///
/// Other seeds may also meet a new local or sticky post that shares the chunk below it only if that was
/// loaded (1070, 2290): the rows are the same, but not their positions. That is not allowed for.
@Suite struct KeptStateTests {
    private static let variable = "QUIRE_KEPT_STATE"
    private static let count = Specification.number("QUIRE_HISTORIES") ?? 50
    private static let start = Specification.number("QUIRE_START") ?? 0

    /// What a process is told: what to do, and with which of its two caches.
    private struct Order: Codable {
        let partner: Int
        let step: CachePartner.Step
    }

    private struct Difference: Error { let description: String }

    @Test(.timeLimit(.minutes(5 + count / 20))) func nothingThatIsKeptShows() throws {
        let child = try TalkingChild<Order>("KeptStateTests/child", [Self.variable: "yes"])
        for seed in UInt64(Self.start)..<UInt64(Self.start + Self.count) {
            do {
                try History(seed, child).run()
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            if Task.isCancelled { return }
        }
    }

    /// Is not a test unless a parent started it: the other process.
    @Test func child() throws {
        guard ProcessInfo.processInfo.environment[Self.variable] != nil else { return }
        let partners = [CachePartner(), CachePartner()]
        try TalkingChild<Order>.answer { partners[$0.partner].answer($0.step) }
    }

    /// The operations of a seed, and what the other file gets them from.
    ///
    ///     without a budget, without views    from a cache that is opened anew for each operation
    ///     with them                          from the same process, which forgets what it has loaded before
    ///                                        each operation: what is visible, what was read and evicted and
    ///                                        the functions of views are in no file, so a cache that is
    ///                                        opened anew may write something else
    private final class History {
        private let (folder, child): (String, TalkingChild<Order>)
        private let seed: UInt64
        private var random: SplitMix64
        private let isAnew: Bool
        private let settings: [CachePartner.Setting]
        /// This process's: of the file that both share, and of the other one.
        private let here = [CachePartner(), CachePartner()]
        private var entries: [CachePartner.Entry] = []

        init(_ seed: UInt64, _ child: TalkingChild<Order>) throws {
            (self.seed, self.child) = (seed, child)
            random = SplitMix64(seed: seed)
            isAnew = !seed.isMultiple(of: 3)
            folder = try TestFolder.make()
            // the same for both: who cuts chunks shorter does so to those that are loaded
            let setting = CachePartner.Setting(tuning: random.below(2))
            var settings = [setting, setting]
            if !isAnew {
                settings[0].budget = random.below(5)
                settings[1].budget = random.pick([0, settings[0].budget, random.below(5)])
            }
            self.settings = settings
            var chaos = try OperationChaos(seed: seed, Tuning(), isWide: random.chance(0.6))
            let log = try OperationLog(chaos.storage.cache)
            let openings = try OperationLog.openings(of: chaos.storage.cache)
            for _ in 0..<70 { try chaos.step(log) }
            entries = (openings + log.entries).map { .init(bytes: Data($0.bytes), issuer: $0.issuer) }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        private static func entry(_ operation: CacheOperation) -> CachePartner.Entry {
            .init(bytes: Data(operation.encoded), issuer: 0)
        }

        private func path(_ partner: Int) -> String {
            folder + (partner == 0 ? "/shared.quire" : "/other.quire")
        }

        func run() throws {
            // copies of one file have the same secret
            _ = try Cache(at: path(0), options: settings[0].options)
            try FileManager.default.copyItem(atPath: path(0), toPath: path(1))
            for process in 0...1 {
                for partner in 0...(isAnew ? 0 : 1) {
                    _ = try tell(process, partner, .open(path: path(partner), settings[process]))
                }
            }
            defer { close() }
            var at = 0
            while at < entries.count {
                if random.chance(0.5) {
                    try between(at)
                } else {
                    let count = random.chance(0.8) ? 1 : random.number(in: 1...min(3, entries.count - at))
                    try both(random.below(2), .apply(Array(entries[at..<at + count]), seed: random.next()))
                    at += count
                }
                if random.chance(0.03) { try compare() }
            }
            try compare()
        }

        private func close() {
            for process in 0...1 { for partner in 0...1 { _ = try? tell(process, partner, .close) } }
        }

        // MARK: Steps

        /// Something between two operations: mostly a write that changes nothing. LMDB gives its number to
        /// the next commit, of any process.
        private func between(_ at: Int) throws {
            let (process, feed) = (random.below(2), UInt32(random.number(in: 1...4)))
            switch random.below(isAnew ? 19 : 23) {
            case 0...7: try both(process, .apply(idle(feed), seed: 0))
            case 8, 9:
                let some = (0...random.below(3)).map { _ in random.pick(entries) }
                try kept(process, .undo(some, isDry: random.chance(0.5)))
            // the same again: mostly it changes nothing any more
            case 10 where at > 0: try both(process, .apply([entries[at - 1]], seed: 0))
            case 11...13: try both(process, .read)
            case 14, 15: try kept(process, .hold)
            case 16...18: try kept(process, .look(feed: feed, seed: random.next()))
            default:
                if random.chance(0.5) {
                    try both(process, .keepView(feed: feed, isSorted: random.chance(0.5)))
                } else {
                    let shown = OperationChaos.ids.indices.filter { _ in random.chance(0.2) }
                    try both(process, .show(feed: feed, shown))
                }
            }
        }

        private func idle(_ feed: UInt32) -> [CachePartner.Entry] {
            let operations: [FeedOperation] = [
                .plan(.gap(GapID(7_777))), .plan(.tail), .evict([]), .prune(PrunePolicy()),
                .cancel(Ticket(1)), .ingest(Answer(), for: Ticket(9_999)), .unpin(7_777),
            ]
            return random.chance(0.2) ? [] : [Self.entry(.feed(feed, random.pick(operations)))]
        }

        /// What writes nothing. It is of no concern to a file that is opened anew; a budget notes reads.
        private func kept(_ process: Int, _ step: CachePartner.Step) throws {
            if isAnew { _ = try tell(process, 0, step) } else { try both(process, step) }
        }

        /// A step of both files, from which the same must come.
        private func both(_ process: Int, _ step: CachePartner.Step) throws {
            let mine = try tell(process, 0, step)
            var other: String
            if isAnew {
                _ = try tell(0, 1, .open(path: path(1), settings[process]))
                other = try tell(0, 1, step)
                _ = try tell(0, 1, .close)
            } else {
                _ = try tell(process, 1, .undo([], isDry: true))
                other = try tell(process, 1, step)
            }
            if mine != other { throw Difference(description: "\(step): \(mine)\n   instead of\n\(other)") }
        }

        private func tell(_ process: Int, _ partner: Int, _ step: CachePartner.Step) throws -> String {
            let answer =
                process == 0
                ? here[partner].answer(step) : try child.ask(Order(partner: partner, step: step))
            if answer.hasPrefix(CachePartner.failure) {
                throw Difference(description: "process \(process), file \(partner), \(step): \(answer)")
            }
            return answer
        }

        // MARK: Judging

        private func compare() throws {
            if isAnew { _ = try tell(0, 1, .open(path: path(1), settings[0])) }
            let caches = try here.map { try #require($0.cache) }
            if let difference = try CacheRecords.difference(caches[0], caches[1]) {
                throw Difference(description: difference)
            }
            if isAnew { _ = try tell(0, 1, .close) }
            let findings = try caches[0].check()
            if !findings.isEmpty { throw Difference(description: "\(findings)") }
        }
    }
}
