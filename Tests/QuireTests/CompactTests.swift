import Foundation
import Testing

@testable import Quire

/// A compacted cache holds the same, and what was deleted is not in the file.
@Suite(.timeLimit(.minutes(10))) struct CompactTests {
    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    /// A closed copy of the cache.
    private func closed() throws -> String {
        let path = storage.folder + "/closed.quire"
        try storage.cache.copy(to: path)
        return path
    }

    private func ingest(_ ids: ClosedRange<UInt64>, into feed: Feed) throws {
        var answer = Answer(next: .token("n\(ids.lowerBound)"))
        for id in ids.reversed() {
            answer.append(
                id: PostID(id), body: Array("the body of \(id), \(String(repeating: "x", count: 300))".utf8))
        }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
    }

    @Test func whatWasDeletedIsGone() throws {
        let feed = try storage.cache.feed(named: "f")
        for start in stride(from: 10, through: 300, by: 10) as StrideThrough<UInt64> {
            try ingest(start...start + 9, into: feed)
        }
        try feed.delete(PostID(155))
        _ = try storage.cache.update(PostID(77), body: Array("new".utf8))
        _ = try feed.evict((200...209).map { PostID($0) })
        let path = try closed()
        let portrait = try CacheDump(storage.cache)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(before.range(of: Data("the body of 155,".utf8)) != nil, "dead within a record of others")
        let freed = try Cache.compact(at: path)
        let after = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(Int64(before.count - after.count) == freed)
        for id in [155, 77, 200, 209] {
            #expect(after.range(of: Data("the body of \(id),".utf8)) == nil, "post \(id)")
        }
        #expect(after.range(of: Data("the body of 154,".utf8)) != nil)
        #expect(try CacheDump(Cache(at: path)) == portrait)
        #expect(try Cache.verify(at: path) + Cache(at: path).check() == [])
        #expect(try Cache.compact(at: path) == 0, "nothing is left to do")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: storage.folder).filter {
                $0.contains("compacted")
            } == [])
    }

    /// What is written aside is as private as the cache, at every moment that is seen here.
    @Test func theDraftsArePrivate() throws {
        let feed = try storage.cache.feed(named: "f")
        try ingest(1...50, into: feed)
        try feed.delete(PostID(20))  // so that a second draft is made
        let path = try closed()
        var seen: Set<String> = []
        try Cache.compact(at: path) { _ in
            let files = try FileManager.default.contentsOfDirectory(atPath: storage.folder)
            for name in files where name.hasPrefix("closed.quire.compacted") {
                let file = storage.folder + "/" + name
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
                #expect(mode as? Int == 0o600, "\(name)")
                seen.insert(name)
            }
        }
        #expect(seen.isSuperset(of: ["closed.quire.compacted", "closed.quire.compacted-2"]))
    }

    /// It is an error, as for every other write, and no signal that ends the process.
    @Test func aLimitOfFileSizesIsKept() async {
        await #expect(processExitsWith: .success) {
            let storage = try TemporaryCache()
            let feed = try storage.cache.feed(named: "f")
            var answer = Answer(next: .end)
            for id in 1...50 as ClosedRange<UInt64> {
                answer.append(id: PostID(id), body: Array(repeating: 1, count: 4_000))
            }
            _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
            let path = storage.folder + "/closed.quire"
            try storage.cache.copy(to: path)
            limitFileSizes(to: 100_000)
            do {
                try Cache.compact(at: path)
                _exit(1)
            } catch let error as QuireError {
                if error.code != .diskFull { _exit(2) }
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: storage.folder)
            if files.contains(where: { $0.contains("compacted") }) { _exit(3) }
        }
    }

    @Test func aCacheThatIsOpenIsRefused() throws {
        for attempt in [{ _ = try Cache.compact(at: $0) }, { _ = try Cache.repair(at: $0) }]
            as [(String) throws -> Void]
        {
            #expect { try attempt(storage.path) } throws: { ($0 as? QuireError)?.code == .badArgument }
            let link = storage.folder + "/link.quire"
            try? FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: storage.path)
            #expect { try attempt(link) } throws: { ($0 as? QuireError)?.code == .badArgument }
            #expect { try attempt(storage.folder + "/none") } throws: { ($0 as? QuireError)?.code == .io }
        }
    }

    @Test func aDamagedCacheIsNotCompacted() throws {
        try ingest(1...50, into: storage.cache.feed(named: "f"))
        let path = try closed()
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(file.range(of: Data("the body of 20".utf8)))
        file[place.lowerBound] ^= 1
        try file.write(to: URL(fileURLWithPath: path))
        #expect { try Cache.compact(at: path) } throws: { ($0 as? QuireError)?.code == .corrupt }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
    }

    private struct Enough: Error {}

    /// What the callback throws ends both, and nothing has changed.
    @Test func bothCanBeStopped() throws {
        try ingest(1...50, into: storage.cache.feed(named: "f"))
        let path = try closed()
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        for limit in [0, 0.3, 0.6, 0.9] {
            #expect(throws: Enough.self) {
                try Cache.compact(at: path) { done in if done >= limit { throw Enough() } }
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
        }
        var damaged = file
        damaged[try #require(damaged.range(of: Data("the body of 20".utf8))).lowerBound] ^= 1
        try damaged.write(to: URL(fileURLWithPath: path))
        for limit in [0, 0.3, 0.6, 0.9] {
            #expect(throws: Enough.self) {
                try Cache.repair(at: path) { done in if done >= limit { throw Enough() } }
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: storage.folder)
        #expect(files.filter { $0.contains("corrupt") || $0.contains("repaired") } == [])
    }
}
