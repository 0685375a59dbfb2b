import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// A dry run says what a batch would do, and the cache stays as it was:
///
///     cache.batch { op op op }   ->  the same results   ->  [1 2 3]
///     cache.dryRun { op op op }  ->  the same results   ->  [ ]
@Suite struct DryRunTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }
    private let feed: Feed

    init() throws {
        storage = try TemporaryCache()
        feed = try storage.cache.feed(named: "a")
        for id in UInt64(1)...3 { try feed.insertLocal(PostID(id), body: [UInt8(id)]) }
    }

    private func picture() throws -> String {
        try cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: 100).map { "\($0.post!.id)" }.joined(separator: " ")
        }
    }

    private func operations(_ batch: borrowing Batch) throws -> [Bool] {
        let a = batch[feed]
        let b = try batch.feed(named: "b")
        return [
            try a.removeLocal(2), try a.removeLocal(7), try a.insertLocal(4, body: [4]), try a.pin(3),
            try batch[b].insertLocal(9, body: [9]), try batch.update(1, body: [1, 1]) == .changed,
        ]
    }

    @Test func saysWhatABatchDoesAndDoesNothing() throws {
        let before = (try CacheContents(cache), try cache.withSnapshot { try $0.generation })
        let said = try cache.dryRun { try operations($0) }
        let after = (try CacheContents(cache), try cache.withSnapshot { try $0.generation })
        #expect(after.0.difference(from: before.0) == nil && after.1 == before.1)
        #expect(try picture() == "3 2 1" && cache.feeds().map(\.name) == ["a"])
        #expect(try cache.batch { try operations($0) } == said)
        #expect(try picture() == "4 3 1" && cache.feeds().map(\.name) == ["a", "b"])
        #expect(try cache.check().isEmpty)
    }

    @Test func anErrorEndsIt() throws {
        #expect(throws: QuireError.self) { try cache.dryRun { try $0[feed].evictPage(at: 5) } }
        #expect(try picture() == "3 2 1")
        try feed.removeLocal(2)
        #expect(try picture() == "3 1")
    }

    /// Writers that wait meanwhile neither join its transaction nor lose their own.
    @Test func otherWritersCommit() async throws {
        let (cache, feed) = (cache, feed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in UInt64(10)..<50 {
                group.addTask {
                    if id.isMultiple(of: 2) {
                        _ = try cache.dryRun { try $0[feed].insertLocal(PostID(id), body: []) }
                    } else {
                        try feed.insertLocal(PostID(id), body: [])
                    }
                }
            }
            try await group.waitForAll()
        }
        let ids = try cache.withSnapshot { try $0.rows(of: feed, limit: 100).map { $0.post!.id } }
        #expect(
            Set(ids) == Set((1...3).map { PostID($0) } + stride(from: 11, to: 50, by: 2).map { PostID($0) }))
        #expect(try cache.check().isEmpty)
    }
}
