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
        #expect(Array(crawl.earlier(than: .max)).count <= Crawl.pageLimit)
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
        #expect(Array(crawl.earlier(than: 9)) == [5, 4, 3])
        #expect(Array(crawl.earlier(than: 100)) == [9, 5, 4, 3] && Array(crawl.earlier(than: 3)).isEmpty)
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
        #expect(Array(restored.earlier(than: 100)) == Array((15...20).reversed()))
    }

    private static func isSame(_ a: Crawl, _ b: Crawl) -> Bool {
        a.start == b.start && a.ends == b.ends && a.links == b.links && a.lastNumber == b.lastNumber
            && Array(a.earlier(than: .max)) == Array(b.earlier(than: .max))
    }
}

extension Crawl {
    fileprivate func noting(_ number: Int, _ end: PostID?, _ next: Link) -> Crawl {
        var crawl = self
        crawl.note(number, endedAt: end, next: next)
        return crawl
    }
}
