import Foundation
import Testing

@testable import Quire

/// I29 and I30: violations that no record has, planted in the bytes of a file.
@Suite struct FileInvariantTests {
    private let forgery: Forgery
    private let path: String
    private let whole: Data
    /// Where the newest meta page begins, and the root of the tree, a branch.
    private let meta: Int
    private let root: Int

    init() throws {
        forgery = try Forgery()
        let feed = try forgery.storage.cache.feed(named: "long")
        for page in 1...20 as ClosedRange<UInt64> {
            var answer = Answer(next: .token("more"))
            for id in 0..<10 as Range<UInt64> {
                answer.append(id: PostID(1000 + page * 10 + id), body: Array(repeating: 7, count: 200))
            }
            _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        }
        path = try forgery.copy()
        whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let newest = try LMDBFile(path).soundMeta()
        meta = Int(newest.header.number) * 4096
        root = Int(try #require(newest.main.rootPage)) * 4096
        #expect(newest.main.depth > 1)
        #expect(try Cache.verify(at: path) == [])
    }

    private func number<T: FixedWidthInteger>(at place: Int, _ type: T.Type) -> T {
        whole.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: T.self) }
    }

    private func put<T: FixedWidthInteger>(_ number: T, at place: Int, in file: inout Data) {
        file.withUnsafeMutableBytes { $0.storeBytes(of: number, toByteOffset: place, as: T.self) }
    }

    /// What `verify` says of the changed file.
    private func codes(_ change: (inout Data) -> Void) throws -> Set<Finding.Code> {
        var file = whole
        change(&file)
        try file.write(to: URL(fileURLWithPath: path))
        return Set(try Cache.verify(at: path).map(\.code))
    }

    /// Where the page begins to which the first node of a branch leads.
    private var leaf: Int {
        let node = root + Int(number(at: root + 16, UInt16.self))
        let low = Int(number(at: node, UInt16.self)) | Int(number(at: node + 2, UInt16.self)) << 16
        return low * 4096
    }

    @Test("I29: counters of pages and entries")
    func wrongCounts() throws {
        for place in [96, 104, 112, 120] {
            let count = number(at: meta + place, UInt64.self)
            #expect(try codes { put(count + 1, at: meta + place, in: &$0) } == [.space], "field at \(place)")
        }
    }

    @Test("I29: a page that is neither in use nor free")
    func aLostPage() throws {
        let last = UInt64(whole.count / 4096)
        let codes = try codes {
            put(last, at: meta + 136, in: &$0)
            $0.append(Data(count: 4096))
        }
        #expect(codes.contains(.space), "\(codes)")
    }

    @Test("I29: a page in another place, of another kind, or marked as being written")
    func strangePages() throws {
        for page in [root, leaf] {
            #expect(try codes { put(UInt64(page / 4096 + 1), at: page, in: &$0) }.contains(.page))
            for flags in [0, 1 | 2, 4, 8, 16 | 2, 32 | 2] as [UInt16] {
                #expect(try codes { put(flags, at: page + 10, in: &$0) }.contains(.page), "flags \(flags)")
            }
        }
    }

    @Test("I29: keys that are not in order")
    func swappedKeys() throws {
        let (first, second) = (number(at: leaf + 18, UInt16.self), number(at: leaf + 20, UInt16.self))
        let codes = try codes {
            put(second, at: leaf + 18, in: &$0)
            put(first, at: leaf + 20, in: &$0)
        }
        #expect(codes.contains(.page), "\(codes)")
        // it is one of the first pages, at which opening looks
        #expect { try Cache(at: path) } throws: { ($0 as? QuireError)?.code == .corrupt }
    }

    @Test("I30: a file without its last page in use")
    func aFileThatEndsEarly() throws {
        var pages = whole.count / 4096
        while pages > 2 {
            pages -= 1
            let cut = try codes { $0 = $0.prefix(pages * 4096) }
            if cut.isEmpty { continue }  // only free pages were missing
            #expect(cut == [.page])
            #expect { try Cache(at: path) } throws: { ($0 as? QuireError)?.code == .corrupt }
            return
        }
        Issue.record("no page was missed")
    }

    @Test("a cache that is opened with Cache(verifying:) has no finding")
    func openingVerifies() throws {
        do {
            let cache = try Cache(verifying: path)
            #expect(try cache.check() == [])
            #expect(throws: Never.self) { try Cache(verifying: path) }
        }
        #expect(throws: Never.self) { try Cache(verifying: path + "-new") }
        let entries = number(at: meta + 120, UInt64.self)
        _ = try codes { put(entries + 1, at: meta + 120, in: &$0) }
        #expect { try Cache(verifying: path) } throws: {
            let error = $0 as? QuireError
            return error?.code == .corrupt && error!.message.contains("space: tree")
        }
    }
}
