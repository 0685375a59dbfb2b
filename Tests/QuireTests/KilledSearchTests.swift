import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// R26.3: a client is killed while it searches upwards for its border, because posts above have gone. It
/// refreshes when it starts again. Before a quiet server a kill costs that refresh and nothing else.
@Suite struct KilledSearchTests {
    static let settings = [
        FeedOptions(paging: .page, sizes: .fixed(1)), FeedOptions(paging: .page, sizes: .unknown),
        FeedOptions(paging: .page, sizes: .free), FeedOptions(paging: .offset, sizes: .unknown),
    ]

    @Test(arguments: settings)
    func goesOn(options: FeedOptions) throws {
        let count = UInt64(Specification.number("QUIRE_SEEDS") ?? 25)
        var kills = 0
        for seed in 0..<count {
            let whole = try Client(seed, options).run(killedAfter: .max)
            for requests in [1, 2, 5] {
                let killed = try Client(seed, options).run(killedAfter: requests)
                kills += killed.starts - 1
                let most = whole.requests + killed.starts - 1
                #expect(
                    killed.requests <= most,
                    "seed \(seed), \(options.paging), \(options.sizes), killed after \(requests)")
            }
        }
        #expect(kills > count)
    }

    /// A client that has read a part of a list, of which many posts have left since.
    private final class Client {
        private let temporary: TemporaryCache
        private let options: FeedOptions
        private let size: Int
        private var server: [UInt64]
        private var requests = 0

        init(_ seed: UInt64, _ options: FeedOptions) throws {
            var random = SplitMix64(seed: seed)
            size = random.number(in: 2...6)
            var options = options
            if case .fixed = options.sizes { options.sizes = .fixed(size) }
            self.options = options
            temporary = try TemporaryCache(seed % 2 == 0 ? Tuning.cramped : Tuning())
            server = (0..<UInt64(random.number(in: 40...120) * size / 2)).map { $0 }
            let wanted = random.number(in: server.count / 2...server.count * 3 / 4)
            _ = try ask(.head)
            while try ids().count < wanted { _ = try ask(.tail) }
            let border = try ids().last!
            let share = 0.2 + 0.6 * Double(random.below(100)) / 100
            server = server.filter { $0 + 3 >= border || random.chance(share) }
        }

        private func ids() throws -> [UInt64] {
            let feed = try feed()
            return try temporary.cache.withSnapshot { snapshot in
                try snapshot.rows(of: feed, limit: .max).compactMap { $0.post.flatMap { UInt64("\($0.id)") } }
            }
        }

        private func feed() throws -> Feed { try temporary.cache.feed(named: "f", options: options) }

        private func ask(_ place: Place) throws -> Bool {
            let feed = try feed()
            guard let request = try feed.plan(place, limit: size).request else { return false }
            requests += 1
            var (start, limit) = (0, size)
            switch request.target {
            case .page(let number, let asked):
                limit = min(asked ?? size, size)
                start = (number - 1) * (asked ?? size)
            case .position(let offset, let asked): (start, limit) = (offset, min(asked ?? size, size))
            default: throw Unexpected(target: request.target)
            }
            let rows = server.dropFirst(start).prefix(limit)
            var answer = Answer(next: !rows.isEmpty && rows.endIndex == server.endIndex ? .end : .unknown)
            for id in rows { answer.append(id: PostID(id)) }
            _ = try feed.ingest(answer, for: request.ticket)
            return true
        }

        private struct Unexpected: Error { let target: Request.Target }

        /// Refreshes and reads on until something new, or the end, was found below.
        func run(killedAfter limit: Int) throws -> (requests: Int, starts: Int) {
            requests = 0
            let known = Set(try ids())
            var starts = 0
            while starts < 500 {
                starts += 1
                try temporary.reopen()
                _ = try ask(.head)
                var left = limit
                while left > 0 {
                    left -= 1
                    let gap = try temporary.cache.withSnapshot { try $0.gaps(of: try feed()).first?.id }
                    let isAsked = try ask(gap.map { .gap($0) } ?? .tail)
                    if try !isAsked || !known.isSuperset(of: ids()) { return (requests, starts) }
                }
            }
            return (.max, starts)
        }
    }
}
