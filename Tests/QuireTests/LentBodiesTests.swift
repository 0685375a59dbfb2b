import Testing

@testable import Quire
@testable import TestSupport

/// Bodies that lie in the memory map: the compiler keeps them, and snapshots, inside the snapshot they come
/// from.
@Suite struct LentBodiesTests {
    @Test(
        .enabled(if: Compiler.modules != nil, "needs the build's modules"),
        arguments: [
            ("let size = try snapshot.body(of: row).byteCount; _ = size", nil),
            ("kept = try snapshot.body(of: row)", "escapes its scope"),
            ("let copy = snapshot; _ = copy.self", "cannot be consumed"),
            ("try snapshot.forEachPost(ofPage: 1, in: feed) { _ = $0.body.byteCount }", nil),
            ("try snapshot.forEachPost(ofPage: 1, in: feed) { kept = $0.body }", "escapes its scope"),
            ("var c = try snapshot.cursor(ofPage: 1, in: feed); _ = try c.next()!.body.byteCount", nil),
            ("var c = try snapshot.cursor(of: feed, limit: 9); kept = try c.next()!.body", "escapes"),
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

    /// `[9 8 7] ~n7~ [4 3 2] |n2`, page 2 above page 1; the body of a post is its number in a row of that
    /// length.
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
                    requireSame(post)
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

    /// What a lent post says is what its row says.
    private func requireSame(_ post: borrowing PostView) {
        let row = post.row
        #expect(post.id == row.id && post.number.map { PostID($0) } ?? row.id == row.id)
        #expect(post.key == row.key && post.page == row.page && post.version == row.version)
        #expect(post.isDetached == row.isDetached && post.isPinned == row.isPinned)
        #expect(post.isPlaceholder == row.isPlaceholder && post.isChecked == row.isChecked)
        #expect(post.isOutdated == row.isOutdated && post.detail == row.detail && post.doubt == row.doubt)
        #expect(post.position == row.position && post.body.byteCount == row.bodySize)
    }

    /// Posts of all kinds, in chunks of three: a pinned one that left, one without a body, an outdated one, a
    /// local one with a text as its id, an updated one.
    @Test func postsOfAllKinds() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "kinds", options: FeedOptions(order: .stable))
        var answer = Answer(next: .token("more"))
        for id in (1...9 as ClosedRange<UInt64>).reversed() {
            answer.append(
                id: PostID(id), key: Int64(id), version: 2, detail: id == 4 ? .summary : .full,
                body: [UInt8](repeating: UInt8(id), count: Int(id)))
        }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        try feed.pin(7)
        try feed.insertLocal("mine", body: [1, 2, 3])
        _ = try storage.cache.update(6, body: [6], version: 3)
        _ = try storage.cache.update(2, body: [], version: 3)
        try storage.cache.withSnapshot { snapshot in
            let rows = try snapshot.rows(of: feed, limit: 99)
            for after in [nil] + rows.map(\.post?.position) {
                var lent: [FeedRow] = []
                var cursor = try snapshot.cursor(of: feed, after: after, limit: 99)
                while let post = try cursor.next() {
                    requireSame(post)
                    lent.append(.post(post.row))
                    let read = try snapshot.body(of: post.row).withUnsafeBytes { Array($0) }
                    #expect(post.body.withUnsafeBytes { Array($0) } == read)
                    // a look-up in between moves the cursors that both use
                    #expect(try snapshot.find(post.id, in: feed) == post.row)
                }
                #expect(try cursor.nextGap() == nil && cursor.next() == nil)
                #expect(try lent == snapshot.rows(of: feed, after: after, limit: 99))
            }
        }
    }

    /// Two feeds share every second post, so that a reader of one goes to and fro between two records of
    /// bodies. Small records stand in leaves of the tree, which each commit moves.
    @Test func bodiesOfTwoRecordsAreFoundInEachCommit() throws {
        let storage = try TemporaryCache()
        func ingest(_ ids: [UInt64], into name: String) throws {
            let feed = try storage.cache.feed(named: name)
            var answer = Answer(next: .end)
            for id in ids { answer.append(id: PostID(id), body: [UInt8](repeating: UInt8(id), count: 20)) }
            _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        }
        try ingest([2, 4, 6], into: "shared")
        try ingest(Array(1...6), into: "read")
        let feed = try storage.cache.feed(named: "read")
        for step in 10...99 as ClosedRange<UInt64> {
            try storage.cache.withSnapshot { snapshot in
                var id: UInt8 = 0
                try snapshot.forEachRow(of: feed, limit: 9) { post in
                    id += 1
                    let body = post.body.withUnsafeBytes { Array($0) }
                    #expect(body == [UInt8](repeating: id, count: 20), "before page \(step)")
                } gap: { _ in
                }
                #expect(id == 6)
            }
            try ingest([step], into: "other")
        }
    }

    /// A page that was listed is read where it was found, but only in the same commit.
    @Test func aListedPageIsReadInLaterCommits() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "listed")
        var answer = Answer(next: .end)
        for id in 1...9 as ClosedRange<UInt64> { answer.append(id: PostID(id), body: [UInt8(id)]) }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        let page = try #require(try storage.cache.withSnapshot { try $0.page(at: 0, of: feed) })
        func bodies(_ page: PageInfo) throws -> [[UInt8]] {
            try storage.cache.withSnapshot { snapshot in
                var bodies: [[UInt8]] = []
                try snapshot.forEachPost(of: page, in: feed) { post in
                    bodies.append(post.body.withUnsafeBytes { Array($0) })
                }
                return bodies
            }
        }
        #expect(try bodies(page) == (1...9).map { [$0] })
        _ = try storage.cache.update(4, body: [44, 44])
        #expect(try bodies(page).map(\.first) == [1, 2, 3, 44, 5, 6, 7, 8, 9])
        for _ in 0..<9 { try feed.insertLocal("other", body: [UInt8](repeating: 0, count: 9_000)) }
        #expect(try bodies(page).map(\.count) == [1, 1, 1, 2, 1, 1, 1, 1, 1])
        let again = try #require(try storage.cache.withSnapshot { try $0.page(at: 0, of: feed) })
        #expect(again == page)
    }

    /// What one snapshot found must not be taken for what the next one has.
    @Test func aCommitInBetweenIsSeen() throws {
        let storage = try TemporaryCache()
        let feed = try storage.cache.feed(named: "kept")
        for count in 1...40 as ClosedRange<UInt64> {
            try feed.insertLocal(PostID(count), body: [UInt8](repeating: 1, count: Int(count)))
            try storage.cache.withSnapshot { snapshot in
                #expect(
                    try snapshot.contains([PostID(count), PostID(count + 1)], in: feed) == [true, false])
                var sizes: [Int] = []
                try snapshot.forEachRow(of: feed, limit: 99) {
                    sizes.append($0.body.byteCount)
                } gap: { _ in
                }
                #expect(sizes.reduce(0, +) == Int(count * (count + 1) / 2))
                #expect(try snapshot.post(PostID(count))?.bodySize == Int(count))
            }
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
