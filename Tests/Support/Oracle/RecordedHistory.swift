@_spi(Unstable) import Quire
import QuireSimulator

/// Pages of a server with numbered pages of a fixed size, fetched while its list changed: in any order,
/// some of them lost.
struct RecordedCrawl: CustomStringConvertible {
    struct Page {
        let number: Int
        let answer: Answer
    }

    let pages: [Page]
    /// The list did not change meanwhile.
    let isFrozen: Bool
    /// Neighbours may have equal keys.
    let hasTies: Bool

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        hasTies = random.chance(0.5)
        isFrozen = random.chance(0.3)
        let size = random.number(in: 2...5)
        var server = SimulatedServer()
        for _ in 0..<random.number(in: 5...40) { server.insertOnTop() }
        var numbers = Array(1...server.ids.count / size + 1)
        if random.chance(0.5) { random.shuffle(&numbers) }  // fetched in parallel
        var pages: [Page] = []
        for number in numbers {
            if !isFrozen { Self.change(&server, &random) }
            let answer = Self.page(number, of: server, size: size, hasTies: hasTies)
            if !answer.posts.isEmpty && !random.chance(0.1) {
                pages.append(Page(number: number, answer: answer))
            }
        }
        if random.chance(0.6) { pages.sort { $0.number < $1.number } }
        self.pages = pages
    }

    private static func change(_ server: inout SimulatedServer, _ random: inout SplitMix64) {
        for _ in 0..<random.pick([0, 0, 1, 3, 8]) {
            switch random.below(5) {
            case 0, 1: server.insertOnTop()
            case 2, 3: if !server.isEmpty { server.bump(random.pick(server.ids)) }
            default: if !server.isEmpty { server.delete(random.pick(server.ids)) }
            }
        }
    }

    /// A recorded page does not say what follows; its number does.
    private static func page(_ number: Int, of server: SimulatedServer, size: Int, hasTies: Bool) -> Answer {
        let options = FeedOptions(order: .bump)
        var answer = server.answer(to: .page(number: number, limit: size), limit: size, options: options)
        answer.next = .unknown
        let width = SimulatedServer.stride * (hasTies ? 2 : 1)
        for at in answer.posts.indices {
            answer.posts[at].key = answer.posts[at].key.map { $0 / width }
        }
        return answer
    }

    var description: String {
        pages.map { page in
            "page \(page.number): "
                + page.answer.posts.map { "\($0.id)@\($0.key ?? 0)" }.joined(separator: " ")
        }.joined(separator: "\n")
    }
}

/// Reads a crawl into the engine and checks R24 and R25 by what was received.
final class RecordedHistory {
    private let crawl: RecordedCrawl
    private let subject: OracleSubject
    /// The largest key received for each post: a smaller one is outdated.
    private var keys: [PostID: Int64] = [:]

    init(_ crawl: RecordedCrawl, _ tuning: Tuning) throws {
        self.crawl = crawl
        subject = try OracleSubject(options: FeedOptions(order: .bump), tuning: tuning)
    }

    func run() throws {
        try readAll()
        let view = try OracleView(of: subject)
        try requireProof(view)
        if crawl.isFrozen && !crawl.hasTies { try requireExactGaps(view) }
        try subject.reopen()
        try readAll()
        // Marks of claims and gaps may differ, and the order of equal keys (R25.4).
        let again = try OracleView(of: subject)
        if Set(again.entries) != Set(view.entries) || (!crawl.hasTies && again.entries != view.entries) {
            throw OracleFailure(.ledger, "the same files again: \(view) became \(again)")
        }
    }

    private func readAll() throws {
        var run = Crawl(startingAt: .head(page: 1))
        for page in crawl.pages {
            let outcome = try subject.feed.ingest(page.answer, page: page.number, of: &run)
            guard [.ok, .gap, .joined].contains(outcome.verdict), outcome.removed.isEmpty else {
                throw OracleFailure(
                    .noWipe, "page \(page.number): \(outcome.verdict.rawValue) removed \(outcome.removed)")
            }
            for post in page.answer.posts {
                keys[post.id] = max(keys[post.id] ?? .min, post.key ?? .min)
            }
            try check()
        }
    }

    private func check() throws {
        let view = try OracleView(of: subject)
        try view.requireSoundStructure()
        let lost = Set(keys.keys).symmetricDifference(view.entries)
        if !lost.isEmpty { throw OracleFailure(.ledger, "\(lost) received, but not in \(view)") }
        let order = view.entries.compactMap { keys[$0] }
        if zip(order, order.dropFirst()).contains(where: { $0 < $1 }) {
            throw OracleFailure(.order, "keys \(order) in \(view)")
        }
    }

    /// Two neighbours that are not merely unverified are joined by answers: walking down from the upper
    /// key, there is always an answer that covers the next place.
    private func requireProof(_ view: OracleView) throws {
        let spans = crawl.pages.compactMap { page -> ClosedRange<Int64>? in
            let keys = page.answer.posts.compactMap(\.key)
            guard let low = keys.min(), let high = keys.max() else { return nil }
            return low...high
        }
        for (upper, lower) in zip(view.lines, view.lines.dropFirst()) {
            guard let upper = upper.entry, let lower = lower.entry, !lower.isUnverified,
                var place = keys[upper.id], let end = keys[lower.id]
            else { continue }
            while place > end {
                let reach = spans.filter { $0.lowerBound < place && place <= $0.upperBound }
                guard let low = reach.map(\.lowerBound).min() else {
                    throw OracleFailure(.hole, "no answer joins \(upper.id) to \(lower.id) in \(view)")
                }
                place = low
            }
        }
    }

    /// The list stood still: there is a gap exactly where a page is missing between two others.
    private func requireExactGaps(_ view: OracleView) throws {
        let numbers = Set(crawl.pages.map(\.number))
        let missing = numbers.filter { number in
            !numbers.contains(number + 1) && numbers.contains { $0 > number }
        }
        if view.gaps.count != missing.count {
            throw OracleFailure(.hole, "\(missing.count) gaps expected in \(view)")
        }
    }
}
