import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// What a rule looks for far away is found in chunks that stay unloaded: a placeholder in a list of ids, the
/// end of a page. Counted in chunks that an operation loads, in a short feed and in a long one.
@Suite struct SoughtTests {
    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    /// `[a b … ?y ?z]`: the topmost missing bodies are below those that are there.
    @Test(arguments: [500, 10_000]) func bodiesOfAList(count: Int) throws {
        let feed = try storage.cache.feed(named: "ids", options: FeedOptions(paging: .ids))
        let ids = (1...count).map { PostID(UInt64($0)) }
        var list = Answer()
        for id in ids { list.append(id: id) }
        let request = try #require(try feed.plan(.head).request)
        #expect(try feed.ingest(list, for: request.ticket).verdict == .ok)
        for start in stride(from: 0, to: count / 2, by: 50) {
            let wanted = Array(ids[start..<start + 50])
            try storage.cache.batch { batch in
                let request = try #require(try batch[feed].plan(.tail, limit: 50).request)
                #expect(request.target == .bodies(wanted))
                let recent = try #require(batch.session.loaded.recent)
                #expect(recent.chunks.all.count <= 4)
                var answer = Answer()
                for id in wanted { answer.append(id: id, body: Array("\(id)".utf8)) }
                #expect(try batch[feed].ingest(answer, for: request.ticket).new == wanted)
                let after = try #require(batch.session.loaded.recent)
                #expect(after.chunks.all.count <= 4)
            }
        }
        #expect(try storage.cache.check().isEmpty)
    }

    /// `[a b c][c d e][e f g]`: each page begins with the last post of the page above, which belongs to it
    /// then. So no page ends at a post of its own, and a prune looks in vain for a link up to the top.
    @Test(arguments: [40, 400]) func prunedWhereNoPageEnds(pages: Int) throws {
        let feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .stable))
        var crawl = Crawl(startingAt: .head(page: 1))
        for page in 0..<pages {
            var answer = Answer(next: .token("page=\(page + 2)"))
            for key in page * 9...page * 9 + 9 { answer.append(id: PostID(UInt64(key)), key: Int64(-key)) }
            #expect(try feed.ingest(answer, page: nil, of: &crawl).verdict == .ok)
        }
        var policy = PrunePolicy()
        (policy.maximumPages, policy.budget) = (pages / 2, 100)
        var isDone = false
        while !isDone {
            try storage.cache.batch { batch in
                isDone = try batch[feed].prune(policy).isDone
                let recent = try #require(batch.session.loaded.recent)
                #expect(recent.chunks.all.count <= 4)
            }
        }
        #expect(try feed.plan(.tail).request?.target == .link(.head))
        #expect(try storage.cache.check().isEmpty)
    }
}
