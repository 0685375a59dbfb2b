import Foundation
import Quire
import Testing

@testable import QuirePaging
@testable import TestSupport

/// Bands with their albums: a page of the one brings first pages of the others.
@Suite(.timeLimit(.minutes(10))) struct EmbeddedPageTests {
    private static let albums = FeedOptions(order: .keyless, pageSize: 3)

    private struct Band: Codable {
        var id: UInt64
        var albums: [UInt64]
        /// What the server says about further albums.
        var next: String?
    }

    /// A server of bands that notes what it is asked; each band brings its albums.
    private static func bands(_ bands: [Band], notes: Notes = Notes()) -> Scripted {
        Scripted { request in
            notes.write("\(request.feed) \(request.target.text.replacing("\"", with: ""))")
            var answer = Answer(next: .end)
            for band in bands {
                answer.append(id: PostID(band.id), body: Array(try JSONEncoder().encode(band)))
            }
            return PageResponse(answer)
        }
    }

    private static func albums(_ band: Band, _ next: Link) -> EmbeddedPage {
        var answer = Answer(next: next)
        for id in band.albums { answer.append(id: PostID(id), body: Array("{\"id\":\(id)}".utf8)) }
        return EmbeddedPage(of: "albums of \(band.id)", options: albums, answer)
    }

    private static let embedding = Interceptor.embedding { _, body in
        let band = try JSONDecoder().decode(Band.self, from: Data(body))
        return [albums(band, band.next.map { .token($0) } ?? .end)]
    }

    /// A pager for the albums of a band, whose server has 100 of them.
    private func pager(_ band: UInt64, _ fixture: PagerFixture, _ notes: Notes) throws -> Pager {
        let feed = try fixture.feed.cache.feed(named: "albums of \(band)", options: Self.albums)
        let source = Scripted { request in
            notes.write("\(request.feed) \(request.target.text.replacing("\"", with: ""))")
            switch request.target {
            case .link(.token): return .page([53, 52, 51], next: .end)
            default: return .page([56, 55, 54], next: .token("below 54"))
            }
        }
        return Pager(feed, source: source, clock: fixture.clock.pagerClock())
    }

    private func ids(_ pager: Pager) async throws -> [String] {
        try await pager.posts(as: [String: Int].self).all().map(\.id.description)
    }

    private func fixture() throws -> PagerFixture { try PagerFixture(FeedOptions()) }

    @Test func aCompleteListIsNotAskedFor() async throws {
        let (fixture, notes) = (try fixture(), Notes())
        let before = try fixture.generation
        let source = Self.bands([Band(id: 1, albums: [12, 11]), Band(id: 2, albums: [])])
        try await fixture.pager(source, [Self.embedding]).refresh()
        #expect(try fixture.generation == before + 2, "one commit for the plan, one for all pages")
        for (band, albums) in [(1, ["12", "11"]), (2, [])] as [(UInt64, [String])] {
            let pager = try pager(band, fixture, notes)
            #expect(try await ids(pager) == albums)
            #expect(try await pager.refresh(.ifStale) == .fresh)
            #expect(try await pager.append() == .refused(band == 1 ? .end : .empty))
        }
        #expect(notes.lines.isEmpty)
        fixture.clock.advance(.seconds(400))
        try await pager(1, fixture, notes).refresh(.ifStale)
        #expect(notes.lines == ["albums of 1 link head"])
    }

    @Test func theFirstOfManyGoOnWhereTheyEnd() async throws {
        let (fixture, notes) = (try fixture(), Notes())
        let band = Band(id: 5, albums: [56, 55, 54], next: "below 54")
        try await fixture.pager(Self.bands([band]), [Self.embedding]).refresh()
        let pager = try pager(5, fixture, notes)
        #expect(try fixture.picture(of: pager.feed) == "[56 55 54] |…")
        #expect(try await ids(pager) == ["56", "55", "54", "53", "52", "51"])
        #expect(notes.lines == ["albums of 5 link below 54"])
    }

    /// Without a link the first page is asked for again; what came along stays.
    @Test func theFirstOfManyWithoutALinkAreAskedForAgain() async throws {
        let (fixture, notes) = (try fixture(), Notes())
        let unlinked = Interceptor.embedding { _, body in
            [Self.albums(try JSONDecoder().decode(Band.self, from: Data(body)), .unknown)]
        }
        let source = Self.bands([Band(id: 5, albums: [56, 55])])
        try await fixture.pager(source, [unlinked]).refresh()
        let pager = try pager(5, fixture, notes)
        #expect(try await ids(pager) == ["56", "55", "54", "53", "52", "51"])
        #expect(notes.lines == ["albums of 5 link head", "albums of 5 link below 54"])
        #expect(try fixture.picture(of: pager.feed) == "[56 55 54 53 52 51] |end")
    }

    /// What is known of a list is judged like any other first page: no hole, nothing lost.
    @Test func aKnownListIsRefreshed() async throws {
        let (fixture, notes) = (try fixture(), Notes())
        let pager = try pager(5, fixture, notes)
        #expect(try await ids(pager).count == 6)
        let far = Band(id: 5, albums: [99, 98], next: "below 98")
        try await fixture.pager(Self.bands([far]), [Self.embedding]).refresh()
        #expect(try fixture.picture(of: pager.feed) == "[99 98] ~ [56 55 54 53 52 51] |end")
        let near = Band(id: 5, albums: [100, 99, 98, 56], next: "below 56")
        try await fixture.pager(Self.bands([near]), [Self.embedding]).refresh()
        #expect(try fixture.picture(of: pager.feed) == "[100 99 98 56 55 54 53 52 51] |end")
        #expect(notes.lines.count == 2)
    }

    @Test func idsComeWithOrWithoutBodies() async throws {
        let (fixture, notes) = (try fixture(), Notes())
        let ids = FeedOptions(order: .ranked, paging: .ids, pageSize: 3)
        let listing = Interceptor.embedding { _, _ in
            var answer = Answer()
            for id in [7, 6, 5] as [UInt64] {
                answer.append(id: PostID(id), body: id == 6 ? Array(#"{"id":6}"#.utf8) : [])
            }
            return [EmbeddedPage(of: "ids", options: ids, answer)]
        }
        try await fixture.pager(Self.bands([Band(id: 1, albums: [])]), [listing]).refresh()
        let feed = try fixture.feed.cache.feed(named: "ids", options: ids)
        let posts = Pager(
            feed,
            source: Scripted { request in
                notes.write(request.target.text.replacing("\"", with: ""))
                return .page([7, 5])
            }, clock: fixture.clock.pagerClock()
        ).posts(as: [String: Int].self)
        #expect(try fixture.picture(of: feed) == "[?7 6 ?5] |end")
        #expect(try await posts.all().count == 3)
        #expect(try await posts[6].decoded()["id"] == 6)
        #expect(notes.lines.isEmpty)
        #expect(try await posts[7].decoded()["id"] == 7)
        #expect(notes.lines == ["bodies 7 5"])
    }

    @Test func aRefusedPageBringsNothing() async throws {
        let fixture = try PagerFixture()  // pages with keys, which these have not
        let source = Self.bands([Band(id: 1, albums: [12, 11])])
        #expect(try await fixture.pager(source, [Self.embedding]).refresh().verdict == .contradiction)
        #expect(try fixture.feed.cache.feeds().map(\.name) == ["main"])
    }

    @Test func aFailureLeavesTheCacheAsItWas() async throws {
        let fixture = try fixture()
        _ = try fixture.feed.cache.feed(named: "albums of 2", options: FeedOptions(order: .ranked))
        let source = Self.bands([Band(id: 1, albums: [12, 11]), Band(id: 2, albums: [21])])
        let pager = fixture.pager(source, [Self.embedding])
        let error = await #expect(throws: QuireError.self) { try await pager.refresh() }
        #expect(error?.code == .optionsDiffer)
        #expect(try fixture.picture == "[] |…")
        #expect(try fixture.feed.cache.feeds().map(\.name) == ["albums of 2", "main"])
        struct Wrong: Error {}
        let failing = fixture.pager(source, [.embedding { _, _ in throw Wrong() }])
        await #expect(throws: Wrong.self) { try await failing.refresh() }
        #expect(try fixture.picture == "[] |…")
    }
}

extension PagerFixture {
    /// Another feed of the cache in one line, like ``picture``.
    fileprivate func picture(of feed: Feed) throws -> String {
        try feed.cache.withSnapshot { snapshot in
            var text = "["
            for row in try snapshot.rows(of: feed, limit: .max) {
                if case .post(let post) = row {
                    text += (text.last == "[" ? "" : " ") + (post.isPlaceholder ? "?" : "") + "\(post.id)"
                } else {
                    text += "] ~ ["
                }
            }
            return text + "] |" + (try snapshot.info(of: feed).tail == .end ? "end" : "…")
        }
    }
}
