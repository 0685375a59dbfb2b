import Foundation
import Testing

@testable import Quire

/// `verify` accepts every file the engine writes and finds every byte that matters, without LMDB.
@Suite struct VerifyTests {
    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    private func path(_ name: String) -> String { storage.folder + "/" + name }

    /// A copy of the file as it is, which is what verify looks at: the cache itself is open.
    private func copy(_ name: String = "copy.quire") throws -> String {
        let data = try #require(FileManager.default.contents(atPath: storage.path))
        try data.write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    private func ingest(_ ids: [UInt64], into feed: Feed, bodySize: Int) throws {
        var answer = Answer(next: .token("n\(ids[0])"))
        for id in ids {
            answer.append(id: PostID(id), body: Array(repeating: UInt8(id % 251), count: bodySize))
        }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
    }

    /// After each of many commits, large and small, with deletions and pruning in between.
    @Test func whatTheEngineWritesIsSound() throws {
        #expect(try Cache.verify(at: copy()) == [])
        let feed = try storage.cache.feed(named: "f")
        var policy = PrunePolicy()
        policy.maximumPages = 5
        for round in 1...120 as ClosedRange<UInt64> {
            let start = round * 7
            try ingest(Array(start..<start + 10), into: feed, bodySize: Int(round * round % 3000))
            if round.isMultiple(of: 3) { try feed.delete(PostID(start)) }
            if round.isMultiple(of: 40) { _ = try feed.prune(policy) }
            #expect(try Cache.verify(at: copy()) == [], "commit \(round)")
        }
        try storage.cache.copy(to: path("compact.quire"))
        #expect(try Cache.verify(at: path("compact.quire")) == [])
    }

    @Test func aCacheThatIsOpenIsNotVerified() throws {
        #expect { try Cache.verify(at: storage.path) } throws: { ($0 as? QuireError)?.code == .badArgument }
    }

    @Test func whatIsNoCacheIsNamed() throws {
        try Data(repeating: 120, count: 9000).write(to: URL(fileURLWithPath: path("text")))
        for (name, code) in [("text", QuireError.Code.notACache), ("nothing", .io), ("", .notACache)] {
            #expect { try Cache.verify(at: path(name)) } throws: { ($0 as? QuireError)?.code == code }
        }
    }

    /// A file that ends early is refused by `verify` and by opening it, wherever it was cut; only free pages
    /// may be missing.
    @Test func everyTruncationIsFound() throws {
        let feed = try storage.cache.feed(named: "f")
        for round in 0...20 as ClosedRange<UInt64> {
            try ingest(Array(round * 10..<round * 10 + 10), into: feed, bodySize: 900)
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: copy("whole.quire")))
        let rows = try rowCount(whole, "whole.quire")
        for pages in 2..<whole.count / 4096 {
            let cut = whole.prefix(pages * 4096)
            try cut.write(to: URL(fileURLWithPath: path("cut.quire")))
            if let findings = try? Cache.verify(at: path("cut.quire")), findings.isEmpty {
                #expect(try rowCount(cut, "cut.quire") == rows, "\(pages) pages: only free ones were cut")
            } else {
                #expect(throws: QuireError.self, "\(pages) pages") { try Cache(at: path("cut.quire")) }
            }
        }
    }

    private func rowCount(_ file: Data, _ name: String) throws -> Int {
        try file.write(to: URL(fileURLWithPath: path(name)))
        let cache = try Cache(at: path(name))
        let feed = try #require(try cache.existingFeed(named: "f"))
        return try cache.withSnapshot { try $0.rows(of: feed, limit: .max) }.count
    }

    /// Every header field of the meta page that counts, with the values that hurt most.
    @Test func everyMetaFieldIsTested() throws {
        let feed = try storage.cache.feed(named: "f")
        for round in 0...9 as ClosedRange<UInt64> {
            try ingest([round * 2, round * 2 + 1], into: feed, bodySize: 90)
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: copy("whole.quire")))
        let newest = try LMDBFile(path("whole.quire")).soundMeta().header.number
        // field, size; the address and the size of the map are not used
        let fields = [
            (10, 2), (16, 4), (20, 4), (40, 4), (44, 2), (46, 2), (48, 8), (56, 8), (64, 8), (72, 8), (80, 8),
            (92, 2), (94, 2), (96, 8), (104, 8), (112, 8), (120, 8), (128, 8), (136, 8), (144, 8),
        ]
        for (offset, size) in fields {
            for value in [0, 1, 2, 3, .max, .max - 1, 1 << 31, 1 << 47] as [UInt64] {
                var damaged = whole
                let start = Int(newest) * 4096 + offset
                let field = withUnsafeBytes(of: value.littleEndian) { Data($0.prefix(size)) }
                if damaged[start..<start + size] == field { continue }
                damaged.replaceSubrange(start..<start + size, with: field)
                try damaged.write(to: URL(fileURLWithPath: path("damaged.quire")))
                let findings = try? Cache.verify(at: path("damaged.quire"))
                // an older commit is whole, too: a lower transaction number only goes back to it
                #expect(findings != [] || offset == 144, "field at \(offset) = \(value)")
            }
        }
    }

    /// An open looks at the file without a lock: between two reads others may commit, and use pages again.
    @Test func commitsBetweenTheReadsOfAnOpenAreNoDamage() throws {
        let feed = try storage.cache.feed(named: "f")
        let file = try LMDBFile(storage.path)
        var again = 0
        for round in 0..<200 as Range<UInt64> {
            let seen = try file.metaPages()
            for id in 3 * round + 1...3 * round + 3 { try ingest([id], into: feed, bodySize: 10) }
            let newest = try file.soundMeta(of: seen, true)
            if newest.transaction != MetaPage.newest(seen).transaction { again += 1 }
        }
        #expect(again > 0)
    }

    /// The same, when the page of the root that was read about has been used again, for other records.
    @Test func anOldRootThatIsUsedAgainMakesNoForeignFile() throws {
        let feed = try storage.cache.feed(named: "f")
        for id in 1...200 as ClosedRange<UInt64> { try ingest([id], into: feed, bodySize: 10) }
        let file = try LMDBFile(storage.path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: storage.path))
        let free = MetaPage.newest(try file.metaPages()).free.rootPage
        func isOther(_ page: Int) -> Bool {
            if UInt64(page) == free { return false }
            return Data(whole[page * 4096..<page * 4096 + 4096]).withUnsafeBytes { bytes in
                let header = PageHeader(bytes)
                if header.number != UInt64(page) || header.flags != PageHeader.leaf { return false }
                guard let key = Node.firstKey(of: bytes) else { return false }
                return Table.format.key(key) == nil
            }
        }
        let other = UInt64(try #require((2..<whole.count / 4096).last(where: isOther)))
        let read = [0, 1].map { page in
            var meta = Data(whole[page * 4096..<page * 4096 + MetaPage.size])
            meta.replaceSubrange(94..<96, with: [1, 0])  // the levels of the main tree
            meta.replaceSubrange(128..<136, with: withUnsafeBytes(of: other.littleEndian) { Data($0) })
            return meta.withUnsafeBytes { MetaPage($0) }
        }
        let newest = try file.soundMeta(of: read, true)
        #expect(try newest == MetaPage.newest(file.metaPages()))
    }
}
