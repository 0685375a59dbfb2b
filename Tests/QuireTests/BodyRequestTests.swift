import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// Bodies of a feed of ids, asked for by name (R21).
@Suite struct BodyRequestTests {
    private let options = FeedOptions(order: .ranked, paging: .ids, pageSize: 4)
    private let ids: [PostID] = [4, 3, 2, 1]

    private func feed(_ cache: Cache, _ name: String) throws -> Feed {
        let feed = try cache.feed(named: name, options: options)
        let list = try #require(try feed.plan(.head).request)
        var answer = Answer()
        for id in ids { answer.append(id: id) }
        #expect(try feed.ingest(answer, for: list.ticket).verdict == .ok)
        return feed
    }

    /// `5 ?4 3`: a post whose body is missing has a question mark.
    private func picture(_ feed: Feed) throws -> String {
        try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: .max).compactMap(\.post)
                .map { ($0.isPlaceholder ? "?" : "") + "\($0.id)" }.joined(separator: " ")
        }
    }

    private func bodies(_ ids: [PostID]) -> Answer {
        var answer = Answer()
        for id in ids { answer.append(id: id, body: Array("\(id)".utf8)) }
        return answer
    }

    /// Everything that may be here, everything that may be wanted: what is missing of it is asked for, in the
    /// order in which they were asked for, and comes.
    @Test(arguments: [Tuning(), Tuning.cramped])
    func whatIsMissingIsAskedFor(tuning: Tuning) throws {
        for here in 0..<16 {
            let temporary = try TemporaryCache(tuning)
            for wanted in 0..<16 {
                let feed = try self.feed(temporary.cache, "\(wanted)")
                defer { try? feed.reset() }  // feeds lend each other bodies
                let present = ids.indices.filter { here >> $0 & 1 == 1 }.map { ids[$0] }
                if let request = try feed.plan(.bodies(present)).request {
                    _ = try feed.ingest(bodies(present), for: request.ticket)
                }
                let asked: [PostID] = ids.indices.filter { wanted >> $0 & 1 == 1 }.map { ids[$0] }.reversed()
                let missing = asked.filter { !present.contains($0) }
                let plan = try feed.plan(.bodies(asked + asked + [99]))
                guard let request = plan.request else {
                    #expect(missing.isEmpty && plan == .refused(.end), "\(here) \(wanted)")
                    continue
                }
                #expect(request.target == .bodies(missing), "\(here) \(wanted)")
                #expect(try feed.ingest(bodies(missing), for: request.ticket).new == missing)
                let expected = ids.map { (present + missing).contains($0) ? "\($0)" : "?\($0)" }
                #expect(try picture(feed) == expected.joined(separator: " "), "\(here) \(wanted)")
            }
        }
    }

    @Test func noMoreThanTheLimitIsAskedFor() throws {
        let temporary = try TemporaryCache()
        let feed = try feed(temporary.cache, "a")
        #expect(try feed.plan(.bodies([1, 3, 4]), limit: 2).request?.target == .bodies([1, 3]))
    }

    @Test func feedsOfPagesHaveNoMissingBodies() throws {
        let temporary = try TemporaryCache()
        let feed = try temporary.cache.feed(named: "a")
        #expect(try feed.plan(.bodies([1])) == .refused(.empty))
        let empty = try temporary.cache.feed(named: "b", options: options)
        #expect(try empty.plan(.bodies([1])) == .refused(.empty))
    }

    @Test func anAnswerThatComesAfterANewListIsStale() throws {
        let temporary = try TemporaryCache()
        let feed = try feed(temporary.cache, "a")
        let late = try #require(try feed.plan(.bodies([4, 2])).request)
        let list = try #require(try feed.plan(.head).request)
        var answer = Answer()
        for id in [6, 4] as [PostID] { answer.append(id: id) }
        _ = try feed.ingest(answer, for: list.ticket)
        #expect(try feed.ingest(bodies([4, 2]), for: late.ticket).verdict == .stale)
        #expect(try picture(feed) == "?6 ?4")
    }

    // MARK: Feeds in batches

    @Test func aFeedIsMadeInTheCommitThatFillsIt() throws {
        let temporary = try TemporaryCache()
        let cache = temporary.cache
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try cache.batch { batch in
                _ = try batch.feed(named: "a", options: options)
                throw Undone()
            }
        }
        #expect(try cache.feeds().isEmpty)
        let feed = try cache.batch { batch in
            let feed = try batch.feed(named: "a", options: options)
            #expect(try batch.feed(named: "a").number == feed.number)
            #expect(try batch[feed].insertLocal(7, body: [1]))
            return feed
        }
        #expect(try cache.feeds().map(\.number) == [feed.number])
        #expect(throws: QuireError.self) {
            try cache.batch { _ = try $0.feed(named: "a", options: FeedOptions()) }
        }
        #expect(throws: QuireError.self) { try cache.batch { _ = try $0.feed(named: "") } }
        #expect(try picture(feed) == "7")
    }
}
