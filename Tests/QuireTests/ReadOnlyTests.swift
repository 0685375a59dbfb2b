import Foundation
import Testing

@testable import Quire
@testable import TestSupport

/// Opening for reading only. What needs another user is in Tests/C/readonly.c.
@Suite struct ReadOnlyTests {
    private let folder: TestFolderOfOne
    private var path: String { folder.path + "/test.quire" }
    private let readOnly = CacheOptions(isReadOnly: true)

    init() throws { folder = try TestFolderOfOne() }

    private func failure(_ body: () throws -> Void) -> QuireError? {
        do {
            try body()
            return nil
        } catch {
            return error as? QuireError
        }
    }

    private func fill(_ cache: Cache, _ ids: [PostID]) throws {
        let feed = try cache.feed(named: "f")
        var answer = Answer(next: .end)
        for id in ids { answer.append(id: id, body: Array("body".utf8)) }
        let request = try #require(try feed.plan(.head).request)
        #expect(try feed.ingest(answer, for: request.ticket).verdict == .ok)
    }

    private func posts(_ transaction: Transaction) throws -> UInt64 {
        let value = try #require(try transaction.get(.counters, NoKey()))
        return try Counters(value, "the counters").posts
    }

    @Test("Nothing is created, and nothing can be written")
    func writes() throws {
        let error = try #require(failure { _ = try Cache(at: path, options: readOnly) })
        #expect(error.code == .io && error.osError == ENOENT)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)

        try fill(Cache(at: path), ["1", "2"])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            let cache = try Cache(at: path, options: readOnly)
            #expect(cache.isReadOnly)
            let feed = try #require(try cache.existingFeed(named: "f"))
            #expect(try cache.withSnapshot { try $0.rows(of: feed, limit: 9).count } == 2)
            #expect(try cache.check().isEmpty)
            for write in [
                { _ = try feed.plan(.head) }, { try feed.delete("1") }, { _ = try cache.feed(named: "new") },
                { _ = try cache.dryRun { try $0[feed].reset() } }, { _ = try cache.reclaim() },
            ] {
                let error = try #require(failure(write))
                #expect(error.code == .noPermission)
                #expect(error.message == "\(path): is open for reading only")
            }
            let copy = folder.path + "/copy.quire"
            try cache.copy(to: copy)
            #expect(try Cache.verify(at: copy).isEmpty)
            // The same environment could not write.
            #expect(failure { _ = try Cache(at: path) }?.code == .busy)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try Cache(at: path).feeds().count == 1)
    }

    @Test("A cache that is open for writing can be opened for reading only, too, and is followed")
    func shares() throws {
        let writer = try Cache(at: path)
        try fill(writer, ["1"])
        let reader = try Cache(at: path, options: readOnly)
        #expect(reader.environment === writer.environment)
        let feed = try #require(try reader.existingFeed(named: "f"))
        #expect(failure { _ = try feed.plan(.head) }?.code == .noPermission)
        #expect(try writer.feed(named: "f").insertLocal("2", body: []))
        #expect(try reader.withSnapshot { try $0.rows(of: feed, limit: 9).count } == 2)
    }

    @Test("Without locks a commit is copied, and the copy has no name")
    func copies() throws {
        try fill(Cache(at: path), ["1", "2"])
        let companions = ["-lock", "-open"].map { path + $0 }
        for companion in companions { try FileManager.default.removeItem(atPath: companion) }
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let reader = try Environment.openUnlocked(path, readOnly)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == before)
        #if os(Linux)
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            #expect(maps.contains("quire-copy-") && !maps.contains(path))
        #endif

        // It stays as it was, whatever is written: more than enough commits to use all pages again.
        let writer = try Cache(at: path)
        for number in 3..<30 {
            #expect(try writer.feed(named: "f").insertLocal(PostID(UInt64(number)), body: [7]))
        }
        let seen = try reader.read { try posts($0) }
        #expect(seen == 2)
        #expect(failure { try reader.write { _ in } }?.code == .noPermission)
        #expect(try Environment.openUnlocked(path, readOnly).read { try posts($0) } == 29)
    }

    @Test("The file system of a test is not read-only for all")
    func mounts() throws {
        _ = try Cache(at: path)
        #expect(!FileCheck.isOnReadOnlyFileSystem(try FileCheck.key(path)))
        #expect(try Environment.mayLock(path))
    }
}
