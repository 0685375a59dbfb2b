import Quire
import QuirePaging
import Testing

/// Asking only for what has changed (R29).
@Suite("Deltas", .timeLimit(.minutes(10))) struct DeltaTests {
    private static func answer(_ ids: Int64..., deleted: [PostID] = [], since: String?, next: Link = .unknown)
        -> PageResponse
    {
        var answer = Answer(next: next)
        for id in ids { answer.append(id: PostID(UInt64(id)), key: id, body: Array("{\"n\":\(id)}".utf8)) }
        (answer.deleted, answer.since) = (deleted, since)
        return PageResponse(answer)
    }

    @Test("without a token a refresh, then only what has changed")
    func update() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .stable))
        let pager = fixture.pager(
            Scripted { request in
                switch request.target {
                case .delta("s1"): Self.answer(7, 11, 10, deleted: [8], since: "s2")
                case .delta("s2"): Self.answer(deleted: [9], since: "s3")
                default: Self.answer(9, 8, 7, since: "s1", next: .end)
                }
            })
        try await pager.update()
        #expect(try fixture.picture == "[9 8 7] |end")
        let result = try await pager.update()
        #expect(try fixture.picture == "[11 10 9 7] |end")
        guard case .loaded(let outcome) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(outcome.new == [11, 10] && outcome.removed == [8])
        try await pager.update()
        #expect(try fixture.picture == "[11 10 7] |end")
    }

    @Test("the parts of a delta are one answer; what a later part says counts")
    func parts() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .stable))
        let pager = fixture.pager(
            Scripted { request in
                switch (request.target, request.rest) {
                case (.delta("s1"), nil): Self.answer(11, 12, deleted: [9, 8], since: nil, next: .token("2"))
                case (.delta("s1"), .token("2")): Self.answer(8, 10, deleted: [12], since: "s2", next: .end)
                default: Self.answer(9, 8, since: "s1", next: .end)
                }
            })
        try await pager.refresh()
        try await pager.update()
        #expect(try fixture.picture == "[11 10 8] |end")
    }

    @Test("a failed part changes nothing, and the same is asked again")
    func failure() async throws {
        let fixture = try PagerFixture(FeedOptions(order: .stable))
        let pager = fixture.pager(
            Scripted { request in
                if request.rest != nil { throw PageFailure("gone", isTransient: false) }
                if case .delta = request.target { return Self.answer(11, since: "s2", next: .token("2")) }
                return Self.answer(9, since: "s1", next: .end)
            })
        try await pager.refresh()
        for _ in 1...2 {
            await #expect(throws: PageFailure.self) { try await pager.update() }
            #expect(try fixture.picture == "[9] |end")
        }
    }
}
