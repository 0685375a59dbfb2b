import Testing

@testable import Quire

/// A check says how far it is, stops when it is told to, and stays within its limits.
@Suite struct CheckReportTests {
    private let forgery: Forgery

    init() throws {
        forgery = try Forgery()
        let cache = forgery.storage.cache
        let feed = try cache.feed(named: "long")
        try cache.batch { batch in
            for page in 0..<200 as Range<UInt64> {
                var answer = Answer(next: .token("more \(page)"))
                for id in 0..<60 as Range<UInt64> {
                    answer.append(id: PostID(20_000 - page * 60 - id), body: [1])
                }
                let place: Place = page == 0 ? .head : .tail
                _ = try batch[feed].ingest(answer, for: batch[feed].plan(place).request!.ticket)
            }
        }
    }

    @Test func progressGrowsToItsEnd() throws {
        var steps: [CheckProgress] = []
        let report = try forgery.storage.cache.check(.full) {
            steps.append($0)
            return true
        }
        #expect(report == CheckReport(findings: [], isComplete: true))
        #expect(steps.count > 4)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.done < $1.done })
        #expect(steps.allSatisfy { $0.done <= $0.total })
        let seen = steps.map(\.fraction)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 <= $1 } && seen.last! > 0.8, "\(seen)")
    }

    /// In a file all of whose pages are read before anybody knows how many entries are in them.
    @Test func progressNeverFalls() throws {
        let path = try forgery.copy()
        let verified = try fractions(of: { try Cache.verify(at: path, progress: $0) })
        #expect(verified.dropFirst().allSatisfy { $0 >= 0.5 }, "all pages were read: \(verified)")
        for seen in try [verified, compacting(path)] {
            #expect(seen.count > 4)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 <= $1 }, "\(seen)")
            #expect(seen.first! < 0.1 && seen.last! > 0.8, "\(seen)")
        }
    }

    private func fractions(of search: ((CheckProgress) -> Bool) throws -> CheckReport) throws -> [Double] {
        var seen: [Double] = []
        let report = try search {
            seen.append($0.fraction)
            return true
        }
        #expect(report == CheckReport(findings: [], isComplete: true))
        return seen
    }

    private func compacting(_ path: String) throws -> [Double] {
        var seen: [Double] = []
        try Cache.compact(at: path) { seen.append($0) }
        return seen
    }

    @Test func aQuickCheckCanBeStoppedToo() throws {
        let cache = forgery.storage.cache
        #expect(try fractions(of: { try cache.check(.quick, progress: $0) }).count == 1)
        #expect(try !cache.check(.quick) { _ in false }.isComplete)
    }

    @Test func itStopsWhenToldTo() throws {
        var calls = 0
        let stop: (CheckProgress) -> Bool = { _ in
            calls += 1
            return false
        }
        #expect(try !forgery.storage.cache.check(.full, progress: stop).isComplete)
        #expect(calls == 1)
        let path = try forgery.copy()
        #expect(try Cache.verify(at: path, progress: stop).findings == [])
        #expect(calls == 2)
    }

    @Test func itStopsAtItsLimit() throws {
        for (table, key, _) in try forgery.records("pages") { try forgery.put(table, key, nil) }
        let report = try forgery.storage.cache.check(.full, limit: 2) { _ in true }
        #expect(report.findings.count == 2 && !report.isComplete)
    }

    /// However few body records and pages it counts at a time.
    @Test func littleMemoryFindsTheSame() throws {
        let cache = forgery.storage.cache
        let pages = try forgery.records("pages")
        for atOnce in [1, 2, 3, 7] {
            #expect(try cache.check(.full, atOnce: atOnce) { _ in true }.findings == [], "\(atOnce)")
        }
        try forgery.edit("body-use", BodyUse.self) {
            $0.live += 1
            return true
        }
        for page in [pages[0], pages[2], pages[pages.count - 1]] {
            try forgery.put(page.table, page.key, nil)
        }
        let findings = Set(try cache.check())
        #expect(findings.count > 4)
        for atOnce in [1, 2, 3, 7] {
            #expect(
                Set(try cache.check(.full, atOnce: atOnce) { _ in true }.findings) == findings, "\(atOnce)")
        }
    }

    @Test func aQuickCheckSeesWhatFeedsSay() throws {
        let cache = forgery.storage.cache
        #expect(try cache.check(.quick) { _ in true } == CheckReport(findings: [], isComplete: true))
        let feeds = try forgery.records("feeds")
        let changes: [(inout FeedRecord) -> Void] = [
            { $0.counts.gaps += 1 }, { $0.counts.entries += 1 }, { $0.tail.number = $0.head.number },
            { $0.edgeNumbers = 1 }, { $0.counts.chunks = 0 },
        ]
        for change in changes {
            try forgery.edit("feeds", FeedRecord.self) {
                change(&$0)
                return true
            }
            #expect(try !cache.check(.quick) { _ in true }.findings.isEmpty)
            try forgery.put(feeds[0].table, feeds[0].key, feeds[0].value)
        }
        try forgery.remove("format")
        #expect(try cache.check(.quick) { _ in true }.findings.map(\.code) == [.header])
    }
}
