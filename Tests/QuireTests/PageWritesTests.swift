import Testing

@testable import Quire

/// A refresh writes its own page and what borders it, however long the feed is. Counted in bytes that
/// the process hands to the kernel (LMDB writes whole pages of its own), not in time. Both feeds are in
/// one cache, so that the height of its tree is the same, and the short one is long enough for its top
/// and its record not to share an LMDB page.
@Suite struct PageWritesTests {
    static let pages = Specification.number("QUIRE_PAGES") ?? 3_000

    private let storage: TemporaryCache
    private let short: Feed
    private let long: Feed

    init() throws {
        storage = try TemporaryCache()
        let options = FeedOptions(order: .stable)
        short = try storage.cache.feed(named: "short", options: options)
        long = try storage.cache.feed(named: "long", options: options)
        try Self.fill(short, pages: 300, from: 1 << 40)
        try Self.fill(long, pages: Self.pages, from: 1 << 50)
    }

    @Test(.enabled(if: ThreadIO.isCounted, "needs /proc/thread-self/io")) func refreshCostsTheSame() throws {
        let ofShort = try Self.bytesPerRefresh(short, top: 1 << 40)
        let ofLong = try Self.bytesPerRefresh(long, top: 1 << 50)
        print("refresh on top of 300 pages: \(ofShort) bytes, of \(Self.pages): \(ofLong) bytes")
        #expect(ofLong * 10 <= ofShort * 12)
        #expect(try storage.cache.check().isEmpty)
    }

    private static func page(_ top: Int64, _ link: Link) -> Answer {
        var answer = Answer(next: link)
        for key in (0..<10).map({ top - $0 }) {
            answer.append(id: PostID(UInt64(key)), key: key, body: Array(repeating: 7, count: 90))
        }
        return answer
    }

    private static func fill(_ feed: Feed, pages: Int, from top: Int64) throws {
        for start in stride(from: 0, to: pages, by: 64) {
            try feed.cache.batch { batch in
                for number in start..<min(pages, start + 64) {
                    let place: Place = number == 0 ? .head : .tail
                    let request = try batch[feed].plan(place).request!
                    let answer = page(top - Int64(number) * 10, .token("p\(number + 1)"))
                    let outcome = try batch[feed].ingest(answer, for: request.ticket)
                    #expect(outcome.new.count == 10)
                }
            }
        }
    }

    /// The mean over 20 refreshes, planned and ingested, of five new posts above five known ones.
    private static func bytesPerRefresh(_ feed: Feed, top: Int64) throws -> Int {
        var top = top
        let before = try ThreadIO.count("wchar")
        for _ in 0..<20 {
            top += 5
            let request = try feed.plan(.head).request!
            let outcome = try feed.ingest(page(top, .token("p1")), for: request.ticket)
            #expect(outcome.new.count == 5 && outcome.duplicates.count == 5)
        }
        let written = try ThreadIO.count("wchar") - before
        #expect(try feed.cache.withSnapshot { try $0.info(of: feed).isInSequence })
        return written / 20
    }
}
