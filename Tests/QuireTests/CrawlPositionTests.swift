import Testing

@testable import Quire

@Suite("Crawls")
struct CrawlPositionTests {
    /// Random pages, some of them missing or out of order, with and without links of their own.
    private struct History: CustomTestStringConvertible, Sendable {
        var start: Crawl.Start
        var pages = 40
        /// It is stored and restored each time that this many pages were ingested.
        var every = 1
        /// It goes on from what was restored; else from what was there all the time.
        var goesOnRestored: Bool
        var seed: UInt64
        var testDescription: String { "\(pages) pages from \(start), seed \(seed)" }

        static let all: [History] =
            (1...13).flatMap { seed in
                [Crawl.Start.head(page: 3), .tail, .gap(GapID(7))].map { start in
                    History(start: start, goesOnRestored: seed % 2 == 0, seed: seed)
                }
            } + [History(start: .gap(GapID(7)), pages: 3_000, every: 500, goesOnRestored: true, seed: 99)]
    }

    @Test("a crawl goes on from its checkpoint as it would have", arguments: History.all)
    private func checkpoint(_ history: History) throws {
        var values = RandomValues(seed: history.seed)
        var crawl = Crawl(startingAt: history.start)
        var number = 1
        for step in 0..<history.pages {
            var restored = crawl
            if step % history.every == 0 {
                restored = try Crawl(checkpoint: crawl.checkpoint)
                #expect(Self.isSame(restored, crawl), "step \(step)")
            }
            number += Int(values.random.next() % 4) - (step % 3)
            let link: Link = values.random.next() % 3 == 0 ? .token("t\(step)") : .unknown
            let end = values.random.next() % 9 == 0 ? nil : PostID(values.random.next() >> 20)
            crawl.note(number, endedAt: end, next: link)
            if history.goesOnRestored { crawl = restored.noting(number, end, link) }
        }
        #expect(Array(crawl.earlier(than: .max)).count <= CrawlPages.limit)
        var damaged = crawl.checkpoint
        damaged[damaged.count / 2] ^= 1
        #expect(throws: QuireError.self) { try Crawl(checkpoint: damaged) }
        #expect(throws: QuireError.self) { try Crawl(checkpoint: []) }
    }

    @Test("a checkpoint with a page that cannot be counted on from is refused")
    func hostileNumbers() throws {
        for number in [Int64.min, .max] {
            var writer = ByteWriter()
            writer.byte(1)
            writer.optional(number) { $0.signed($1) }
            writer.list([number]) { writer, number in
                writer.signed(number)
                PostID(1).encode(&writer)
            }
            writer.list([number]) { writer, number in
                writer.signed(number)
                Link.end.encode(&writer)
            }
            let bytes = writer.sealed()
            #expect(throws: QuireError.self) { try Crawl(checkpoint: bytes) }
        }
    }

    @Test("earlier pages come nearest first, however they arrived")
    func earlier() {
        var crawl = Crawl(startingAt: .tail)
        for number in [5, 3, 9, 4, 9] { crawl.note(number, endedAt: PostID(UInt64(number)), next: .unknown) }
        func earlier(than number: Int) -> [Int] { crawl.earlier(than: number).map(\.number) }
        #expect(earlier(than: 9) == [5, 4, 3])
        #expect(earlier(than: 100) == [9, 5, 4, 3] && earlier(than: 3).isEmpty)
    }

    @Test("a page number that cannot be counted on from is never remembered")
    func extremeNumbers() {
        for number in [Int.min, .max] {
            var crawl = Crawl(startingAt: .head(page: number))
            crawl.follow(.token("a"), to: number)
            _ = crawl.descend(by: .token("b"), number, isFirst: false)
            _ = crawl.descend(by: .token("c"), number, isFirst: false, page: number)
            _ = crawl.leap(to: .token("d"), number)
            _ = crawl.beginAtHead(by: .token("e"), number, page: number)
            #expect(crawl == Crawl(startingAt: .head(page: number)))
        }
    }

    @Test("a copy of a crawl does not change with it, however the pages came")
    func copies() {
        var values = RandomValues(seed: 5)
        var crawl = Crawl(startingAt: .tail)
        var ends: [Int: PostID] = [:]
        for step in 0..<3_000 {
            let (copy, before) = (crawl, Array(crawl.earlier(than: .max)))
            let number = step % 7 == 0 ? Int(values.random.next() % 2_000) : step
            crawl.note(number, endedAt: PostID(UInt64(step)), next: .unknown)
            ends[number] = PostID(UInt64(step))
            #expect(Array(copy.earlier(than: .max)) == before, "step \(step)")
        }
        let highest = ends.keys.sorted(by: >).prefix(CrawlPages.limit)
        #expect(crawl.earlier(than: .max).map(\.number) == Array(highest))
        for number in highest { #expect(crawl.known(above: number + 1)?.end == ends[number]) }
    }

    @Test("ids too long to be kept leave out the pages with the lowest numbers")
    func longIDs() throws {
        var crawl = Crawl(startingAt: .tail)
        for number in 1...20 {
            let bytes = Array("\(number)".utf8) + [UInt8](repeating: 0x78, count: 9_000)
            crawl.note(number, endedAt: PostID(bytes: bytes), next: .unknown)
        }
        let checkpoint = crawl.checkpoint
        #expect(checkpoint.count <= 60_000)
        let restored = try Crawl(checkpoint: checkpoint)
        #expect(restored.earlier(than: 100).map(\.number) == (15...20).reversed())
    }

    private static func isSame(_ a: Crawl, _ b: Crawl) -> Bool {
        a == b && a.hashValue == b.hashValue
    }
}

extension Crawl {
    fileprivate func noting(_ number: Int, _ end: PostID?, _ next: Link) -> Crawl {
        var crawl = self
        crawl.note(number, endedAt: end, next: next)
        return crawl
    }
}
