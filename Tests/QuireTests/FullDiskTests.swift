import Foundation
import Testing

@testable import Quire

/// What needs room on the disk, and what is kept free so that a cache can be made smaller.
@Suite(.timeLimit(.minutes(10))) struct FullDiskTests {
    /// The file system does not know of it yet.
    @Test func whatACommitHasYetToWriteIsCounted() throws {
        let storage = try TemporaryCache()
        func headroom(_ unwritten: Int, _ freeInFile: UInt64 = 0) throws -> Int {
            try DiskSpace.requireHeadroom(storage.path, forUnwritten: unwritten, freeInFile: freeInFile)
        }
        #expect(try headroom(0) > 0)
        for freeInFile in [0, 1 << 60] as [UInt64] {
            #expect { _ = try headroom(1 << 60, freeInFile) } throws: {
                ($0 as? QuireError)?.code == .diskFull
            }
        }
        #expect(try headroom(1 << 60, 1 << 61) == 0, "what a prune has freed is used again")
        let feed = try storage.cache.feed(named: "f")
        let progress = try #require(
            try storage.cache.environment.write { transaction in
                transaction.mark.map { progress in
                    progress.headroom = 1 << 60  // it is not asked
                    return progress
                }
            })
        try storage.cache.write { session in
            for _ in 1...3 { try session.requireHeadroom(for: 1_000) }
            #expect(progress.unwritten == 3 * (1_250 + 128))
        }
        _ = try feed.plan(.head)
        #expect(progress.unwritten == 0, "of each commit by itself")
    }

    /// A commit that forgets 10,000 posts needs more room than one that forgets a part of them.
    @Test func aPruneTakesWhatThereIsRoomFor() async {
        await #expect(processExitsWith: .success) {
            let storage = try TemporaryCache()
            let full = try storage.cache.feed(named: "f")
            for page in 1...200 as ClosedRange<UInt64> {
                var answer = Answer(next: .token("n\(page)"))
                for id in 0..<100 as Range<UInt64> {
                    answer.append(id: PostID((200 - page) * 100 + id), body: Array(repeating: 1, count: 100))
                }
                _ = try full.ingest(answer, for: full.plan(page == 1 ? .head : .tail).request!.ticket)
            }
            let path = storage.folder + "/copy.quire"  // nothing in it is free
            try storage.cache.copy(to: path)
            let feed = try Cache(at: path).feed(named: "f")
            let size = Int(try FileCheck.size(path))
            var policy = PrunePolicy()
            policy.maximumPosts = 100
            var first: PruneResult?
            var room = 0
            while first == nil {
                room += 1 << 13
                limitFileSizes(to: size + room)
                do { first = try feed.prune(policy) } catch let error as QuireError {
                    if error.code != .diskFull { throw error }
                }
            }
            if first!.isDone || first!.posts == 0 || first!.posts >= 10_000 { _exit(1) }
            limitFileSizes(to: .max)
            while try !feed.prune(policy).isDone {}
            if try feed.cache.withSnapshot({ try $0.statistics().posts }) != 100 { _exit(2) }
            if try !feed.cache.check().isEmpty { _exit(3) }
        }
    }
}
