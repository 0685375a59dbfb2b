import Testing

@testable import Quire
@testable import TestSupport

/// Bodies that lie in the memory map: the compiler keeps them, and snapshots, inside the snapshot they come from.
@Suite struct LentBodiesTests {
    @Test(
        .enabled(if: Compiler.modules != nil, "needs the build's modules"),
        arguments: [
            ("let size = try snapshot.body(of: row).byteCount; _ = size", nil),
            ("kept = try snapshot.body(of: row)", "escapes its scope"),
            ("let copy = snapshot; _ = copy.self", "cannot be consumed"),
            ("try snapshot.forEachPost(ofPage: 1, in: feed) { _ = $0.body.byteCount }", nil),
            ("try snapshot.forEachPost(ofPage: 1, in: feed) { kept = $0.body }", "escapes its scope"),
        ])
    func compiles(statement: String, complaint: String?) throws {
        let source = """
            import Quire
            func use(_ cache: Cache, _ feed: Feed) throws {
                var kept = RawSpan()
                try cache.withSnapshot { snapshot in
                    let row = try snapshot.find(1, in: feed)!
                    _ = row
                    \(statement)
                }
                _ = kept.byteCount
                kept = RawSpan()
            }
            """
        let output = try Compiler.compile(source)
        if let complaint {
            #expect(output.contains(complaint), "\(output)")
        } else {
            #expect(!output.contains("error:"), "\(output)")
        }
    }

    // MARK: Lending post by post

    private struct Stop: Error {}

    /// `[9 8 7] ~n7~ [4 3 2] |n2`, page 2 above page 1; the body of a post is its number in a row of that length.
    private func withTwoPages(_ body: (Feed, borrowing Snapshot) throws -> Void) throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "lent")
        for ids: [UInt64] in [[4, 3, 2], [9, 8, 7]] {
            var answer = Answer(next: .token("n\(ids[2])"))
            for id in ids {
                answer.append(id: PostID(id), body: [UInt8](repeating: UInt8(id), count: Int(id)))
            }
            _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        }
        try storage.cache.withSnapshot { try body(feed, $0) }
    }

    @Test func whatIsLentIsWhatIsRead() throws {
        try withTwoPages { feed, snapshot in
            let rows = try snapshot.rows(of: feed, limit: .max)
            #expect(rows.map { $0.gap != nil } == [false, false, false, true, false, false, false])
            for (after, limit) in [(nil, 99), (nil, 4), (nil, 0), (nil, -1), (rows[1].post!.position, 3)] {
                var lent: [FeedRow] = []
                try snapshot.forEachRow(of: feed, after: after, limit: limit) { post in
                    lent.append(.post(post.row))
                    let bytes = post.body.withUnsafeBytes { Array($0) }
                    let read = try snapshot.body(of: post.row).withUnsafeBytes { Array($0) }
                    #expect(bytes == read)
                } gap: {
                    lent.append(.gap($0))
                }
                #expect(try lent == snapshot.rows(of: feed, after: after, limit: limit))
            }
            for page in try snapshot.pages(of: feed, limit: .max) {
                var (byNumber, listed): ([PostRow], [PostRow]) = ([], [])
                try snapshot.forEachPost(ofPage: page.number, in: feed) { byNumber.append($0.row) }
                try snapshot.forEachPost(of: page, in: feed) { listed.append($0.row) }
                #expect(try byNumber == snapshot.posts(of: page, in: feed) && listed == byNumber)
                #expect(byNumber.count == 3)
            }
            try snapshot.forEachPost(ofPage: 77, in: feed) { _ in Issue.record("there is no page 77") }
        }
    }

    @Test func anErrorOfTheClosureEndsIt() throws {
        try withTwoPages { feed, snapshot in
            var calls = 0
            #expect(throws: Stop.self) {
                try snapshot.forEachPost(ofPage: 2, in: feed) { _ in
                    calls += 1
                    if calls == 2 { throw Stop() }
                }
            }
            #expect(calls == 2)
            #expect(throws: Stop.self) {
                try snapshot.forEachRow(of: feed, limit: 9) { _ in
                    calls += 1
                } gap: { _ in
                    throw Stop()
                }
            }
            #expect(calls == 5)
        }
    }
}
