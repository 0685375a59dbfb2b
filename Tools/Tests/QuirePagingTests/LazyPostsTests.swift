import Foundation
import Quire
import QuireSimulator
import Testing

@testable import QuirePaging
@testable import TestSupport

/// Ids first; a body is fetched when a reader looks at its post.
@Suite(.timeLimit(.minutes(10))) struct LazyPostsTests {
    private static let ids = FeedOptions(order: .ranked, paging: .ids, pageSize: 4)

    private struct Item: Decodable, Equatable { var id: UInt64 }

    /// Answers a request for bodies with those of some ids.
    private static func bodies(_ request: PageRequest, but gone: Set<PostID> = []) -> PageResponse {
        guard case .bodies(let ids) = request.target else { return .page(Array((1...12).reversed())) }
        return .page(ids.filter { !gone.contains($0) }.map { UInt64($0.description)! })
    }

    /// What was asked for, without the list of ids.
    private func asked(_ notes: Notes) -> [String] { notes.lines.filter { $0.hasPrefix("bodies") } }

    private func pager(_ fixture: PagerFixture, _ notes: Notes, but gone: Set<PostID> = []) -> Pager {
        fixture.pager(
            Scripted { request in
                notes.write(request.target.text.replacing("\"", with: ""))
                return Self.bodies(request, but: gone)
            })
    }

    @Test func aBodyComesWithItsNeighbours() async throws {
        let (fixture, notes) = (try PagerFixture(Self.ids), Notes())
        let posts = pager(fixture, notes).posts(as: Item.self)
        let all = try await posts.all()
        #expect(all.map(\.id.description) == (1...12).reversed().map { "\($0)" })
        #expect(try fixture.picture.hasPrefix("[?12 ?11 ?10"))
        #expect(notes.lines == ["all ids"])
        #expect(try all[5].missing == .bodies([7]))
        #expect(try await all[5].decoded() == Item(id: 7))
        #expect(try fixture.picture == "[?12 ?11 ?10 ?9 8 7 6 5 ?4 ?3 ?2 ?1] |end")
        #expect(try all[5].missing == nil)
        #expect(try await all[6].body == Array(#"{"id":6}"#.utf8))
        #expect(try await all[11].decoded().id == 1)
        #expect(try await posts[9].decoded().id == 9)
        #expect(try fixture.picture == "[12 11 10 9 8 7 6 5 4 3 2 1] |end")
        #expect(asked(notes) == ["bodies 8 7 6 5", "bodies 4 3 2 1", "bodies 12 11 10 9"])
        #expect(try await posts.all().count == 12)
        #expect(notes.lines.count == 4)
    }

    /// Every order in which two readers may look, with every neighbour fetched before: a body is asked for
    /// once.
    @Test func noBodyIsAskedForTwice() async throws {
        for fetched in 1...12 as ClosedRange<UInt64> {
            for wanted in 1...12 as ClosedRange<UInt64> {
                let (fixture, notes) = (try PagerFixture(Self.ids), Notes())
                let pager = pager(fixture, notes)
                let posts = pager.posts(as: Item.self)
                _ = try await posts.all()
                async let first = posts[PostID(fetched)].decoded()
                async let second = posts[PostID(wanted)].decoded()
                async let rest = pager.append()
                #expect(try await first.id == fetched)
                #expect(try await second.id == wanted)
                _ = try await rest
                let ids = asked(notes).flatMap { $0.split(separator: " ").dropFirst() }
                #expect(Set(ids).count == ids.count, "\(fetched) and \(wanted): \(notes.lines)")
            }
        }
    }

    @Test func oneAnswerWakesAllWhoWaitForIt() async throws {
        let (fixture, source) = (try PagerFixture(Self.ids), Switchboard())
        let pager = fixture.pager(source)
        let posts = pager.posts(as: Item.self)
        async let list = posts.all()
        try source.answer(await source.next(), .page(Array((1...12).reversed())))
        _ = try await list
        func reader(of id: UInt64) -> Task<UInt64, any Error> {
            Task { try await posts[PostID(id)].decoded().id }
        }
        // the first one decides which neighbours are asked for: from 6 it would not be 8
        var readers = [reader(of: 7)]
        let call = try await source.next()
        readers += [6, 8, 7].map(reader)
        try await until { await pager.flights.values.first?.waiting.count == 4 }
        source.answer(call, Self.bodies(call.request))
        var read: [UInt64] = []
        for reader in readers { read.append(try await reader.value) }
        #expect(read == [7, 6, 8, 7] && source.count == 2)
    }

    @Test func aFailureIsEverybodysAndChangesNothing() async throws {
        let (fixture, source) = (try PagerFixture(Self.ids), Switchboard())
        let pager = fixture.pager(source)
        let posts = pager.posts(as: Item.self)
        async let list = posts.all()
        try source.answer(await source.next(), .page(Array((1...12).reversed())))
        _ = try await list
        let before = try fixture.picture
        let first = Task { try await posts[7].body }
        var call = try await source.next()
        let neighbour = Task { try await posts[6].body }
        let other = Task { try await posts[1].body }
        try await until { await pager.flights.values.first?.waiting.count == 3 }
        source.fail(call, PageFailure("down", isTransient: false))
        await #expect(throws: PageFailure.self) { try await first.value }
        await #expect(throws: PageFailure.self) { try await neighbour.value }
        call = try await source.next()  // who wanted another body asks for that
        #expect(try fixture.picture == before)
        source.answer(call, Self.bodies(call.request))
        #expect(try await other.value == Array(#"{"id":1}"#.utf8))
        #expect(source.count == 3)
    }

    @Test func aPostThatIsGoneLeaves() async throws {
        let (fixture, notes) = (try PagerFixture(Self.ids), Notes())
        let posts = pager(fixture, notes, but: [7]).posts(as: Item.self)
        _ = try await posts.all()
        let error = await #expect(throws: QuireError.self) { try await posts[7].body }
        #expect(error?.code == .notFound)
        #expect(try fixture.picture == "[?12 ?11 ?10 ?9 8 6 5 ?4 ?3 ?2 ?1] |end")
        await #expect(throws: QuireError.self) { try await posts[99].body }
        #expect(asked(notes).count == 1)
    }

    @Test func anEmptyAnswerIsNotBelieved() async throws {
        let (fixture, notes) = (try PagerFixture(Self.ids), Notes())
        let gone = Set((1...12).map { PostID(UInt64($0)) })
        let posts = pager(fixture, notes, but: gone).posts(as: Item.self)
        _ = try await posts.all()
        let before = try fixture.picture
        for _ in 0..<3 { await #expect(throws: IncompleteFeed.self) { try await posts[7].body } }
        #expect(try fixture.picture == before)
        #expect(asked(notes).count == 1)
    }

    /// Found by reading: the append asked for the page that it waited for, was refused at once because the
    /// last answer had led nowhere, and tried again for ever on the pager's thread.
    @Test func whoWaitsForAForcedRequestIsNotRefused() async throws {
        let (fixture, source) = (try PagerFixture(Self.ids), Switchboard())
        let pager = fixture.pager(source)
        async let list = pager.refresh()
        try source.answer(await source.next(), .page([3, 2, 1]))
        _ = try await list
        async let stopped = pager.fetchBody(of: 2)
        try source.answer(await source.next(), .page([]))
        _ = try await stopped
        async let forced = pager.fetchBody(of: 2, isForced: true)
        let call = try await source.next()
        async let tail = pager.append()
        try await until { await pager.flights.values.first?.waiting.count == 2 }
        source.answer(call, Self.bodies(call.request))
        #expect(try await forced?.verdict == .ok)
        _ = try await tail
        #expect(try fixture.picture == "[3 2 1] |end")
    }

    @Test func aRefreshInBetweenIsWaitedFor() async throws {
        let (fixture, source) = (try PagerFixture(Self.ids), Switchboard(heedsCancellation: false))
        let pager = fixture.pager(source)
        let posts = pager.posts(as: Item.self)
        async let list = posts.all()
        try source.answer(await source.next(), .page([3, 2, 1]))
        _ = try await list
        async let body = posts[2].body
        let late = try await source.next()
        async let refresh = pager.refresh()
        try await until { source.calls.count == 2 }
        source.answer(late, Self.bodies(late.request))
        try source.answer(await source.next(), .page([4, 3, 2]))
        _ = try await refresh
        let call = try await source.next()
        source.answer(call, Self.bodies(call.request))
        #expect(try await body == Array(#"{"id":2}"#.utf8))
        #expect(try fixture.picture == "[4 3 2] |end")
    }

    // MARK: Lists that come by the page

    @Test func allMeansWithoutAHole() async throws {
        let fixture = try PagerFixture()
        let server = ListServer(posts: 8, options: fixture.feed.options)
        let pager = fixture.pager(server)
        let posts = pager.posts(as: Item.self)
        await #expect(throws: IncompleteFeed.self) { try await posts.all(pages: 2) }
        #expect(try await posts.all(pages: 1).count == 8)
        #expect(server.requests.map(\.place) == [.head, .tail, .tail])
        server.insert(7)
        try await pager.refresh()
        #expect(try await posts.all().map(\.id.description) == (1...15).reversed().map { "\($0)" })
        #expect(try await posts.all().count == 15)
        #expect(server.requests.count == 6)
    }
}
