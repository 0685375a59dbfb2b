import Quire
import QuireSimulator
import Testing

/// What each kind of server answers. A page is drawn as its posts and what it says of the end: `5 4 3 more`.
@Suite("Kinds of servers")
struct ServerKindTests {
    private static func server(_ count: Int, _ kind: ServerKind) -> SimulatedServer {
        var server = SimulatedServer(kind: kind)
        for _ in 0..<count { server.insertOnTop() }
        return server
    }

    private static func draw(
        _ server: SimulatedServer, _ target: Request.Target, limit: Int = 3, firstPage: Int = 1
    ) -> String {
        let options = FeedOptions(paging: .page, firstPage: firstPage)
        guard let reply = server.reply(to: target, limit: limit, options: options) else { return "refused" }
        let answer = reply.answer
        var words = answer.posts.map(\.id.description)
        if answer.opaqueRows > 0 { words.append("+\(answer.opaqueRows) without id") }
        if answer.next != .unknown { words.append("\(answer.next)") }
        if let total = answer.total { words.append("of \(total)") }
        return words.joined(separator: " ")
    }

    private static func page(_ server: SimulatedServer, _ number: Int, asked: Int) -> String {
        draw(server, .page(number: number, limit: asked))
    }

    private static func rows(_ server: SimulatedServer, _ offset: Int, asked: Int) -> String {
        draw(server, .position(offset: offset, limit: asked))
    }

    // MARK: Sizes

    @Test("a free server grants the size")
    func free() {
        let server = Self.server(7, ServerKind())
        #expect(Self.page(server, 2, asked: 3) == "4 3 2 more")
        #expect(Self.page(server, 1, asked: 7) == "7 6 5 4 3 2 1 end")
        #expect(Self.rows(server, 2, asked: 3) == "5 4 3 more")
    }

    @Test("a capped server grants less, and counts its pages by what it grants")
    func capped() {
        let server = Self.server(7, ServerKind(size: .capped(3)))
        #expect(Self.page(server, 1, asked: 5) == "7 6 5 more")
        #expect(Self.page(server, 2, asked: 5) == "4 3 2 more")
        #expect(Self.page(server, 2, asked: 2) == "5 4 more")
        #expect(Self.rows(server, 2, asked: 5) == "5 4 3 more")
    }

    @Test("another one refuses to send more than it grants")
    func refusing() {
        let server = Self.server(7, ServerKind(size: .refusedAbove(3)))
        #expect(Self.page(server, 1, asked: 4) == "refused")
        #expect(Self.page(server, 1, asked: 3) == "7 6 5 more")
        #expect(Self.rows(server, 1, asked: 4) == "refused")
    }

    @Test("a fixed size is sent whatever is asked for")
    func fixed() {
        let server = Self.server(5, ServerKind(size: .fixed(2)))
        #expect((1...4).map { Self.page(server, $0, asked: 9) } == ["5 4 more", "3 2 more", "1 end", "end"])
        #expect(Self.page(server, 2, asked: 1) == "3 2 more")
        #expect(Self.rows(server, 3, asked: 9) == "2 1 end")
        #expect(Self.draw(server, .page(number: 0, limit: 2), firstPage: 0) == "5 4 more")
    }

    // MARK: Ends

    @Test("a total is all that is said")
    func totals() {
        let server = Self.server(5, ServerKind(size: .fixed(3), end: .total))
        #expect(Self.page(server, 1, asked: 3) == "5 4 3 of 5")
        #expect(Self.page(server, 2, asked: 3) == "2 1 of 5")
    }

    @Test(
        "beyond the last page",
        arguments: [
            (ServerKind.Beyond.emptyPage, ""), (.lastPage, "1"), (.firstPage, "7 6 5"), (.refusal, "refused"),
        ])
    func beyond(_ beyond: ServerKind.Beyond, _ expected: String) {
        let server = Self.server(7, ServerKind(size: .fixed(3), beyond: beyond, end: .unsaid))
        #expect(Self.page(server, 3, asked: 3) == "1")
        #expect(Self.page(server, 4, asked: 3) == expected)
        #expect(Self.page(server, 9, asked: 3) == expected)
        #expect(Self.rows(server, 7, asked: 3) == expected)
    }

    @Test(
        "an empty list has an empty first page",
        arguments: [ServerKind.Beyond.lastPage, .firstPage, .refusal])
    func empty(_ beyond: ServerKind.Beyond) {
        let server = Self.server(0, ServerKind(size: .fixed(1), beyond: beyond))
        #expect(Self.page(server, 1, asked: 1) == "end")
        #expect(Self.page(server, 2, asked: 1) == (beyond == .refusal ? "refused" : "end"))
    }

    // MARK: Filters

    @Test("filtered rows count, whether they are left out or sent without an id")
    func filtered() throws {
        let kind = ServerKind(size: .fixed(10), filter: .leftOut(percent: 30), end: .total)
        var server = Self.server(100, kind)
        let hidden = server.ids.filter(server.hides)
        #expect((15...45).contains(hidden.count))
        #expect(hidden.allSatisfy { !server.shows($0) })

        var seen: [PostID] = []
        for number in 1...10 {
            let reply = try #require(
                server.reply(to: .page(number: number, limit: 10), limit: 10, options: FeedOptions()))
            seen += reply.shown
            let rows = server.ids[(number - 1) * 10..<number * 10]
            #expect(reply.shown == rows.filter { !server.hides($0) })
            // The answer speaks for the rows that it leaves out as well.
            if number == 5 {
                #expect(reply.covered?.upperBound == server.position(of: rows.first!))
                #expect(reply.covered?.lowerBound == server.position(of: rows.last!))
            }
        }
        #expect(seen == server.ids.filter { !server.hides($0) })

        server.kind.filter = .withoutID(percent: 30)
        let pages = (1...10).compactMap {
            server.reply(to: .page(number: $0, limit: 10), limit: 10, options: FeedOptions())
        }
        #expect(pages.map(\.answer.opaqueRows).reduce(0, +) == hidden.count)
        #expect(pages.allSatisfy { $0.answer.opaqueRows + $0.shown.count == 10 && $0.answer.total == 100 })
    }

    // MARK: Links that are positions

    @Test("links name the number of a page")
    func numberLinks() {
        var server = Self.server(5, ServerKind(size: .fixed(2), linksAreNumbers: true))
        #expect(Self.draw(server, .link(.head)) == "5 4 page=2")
        #expect(Self.draw(server, .link(.token("page=2"))) == "3 2 page=3")
        #expect(Self.draw(server, .link(.token("page=3"))) == "1 end")
        let middle = server.answer(to: .link(.token("page=2")), limit: 2, options: FeedOptions())
        #expect(middle.previous == .token("page=1"))
        let top = server.answer(to: .link(.head), limit: 2, options: FeedOptions())
        #expect(top.previous == .end)
        #expect(Self.draw(server, .link(.token("b17"))) == "refused")
        server.kind.end = .unsaid
        #expect(Self.draw(server, .link(.token("page=3"))) == "1 page=4")
        #expect(Self.draw(server, .link(.token("page=4"))) == "page=5")
    }

    // MARK: Changes between two requests

    @Test("rows slide over the borders of pages", arguments: [false, true])
    func sliding(linksAreNumbers: Bool) {
        func page(_ server: SimulatedServer, _ number: Int) -> String {
            let target: Request.Target =
                linksAreNumbers ? .link(.token("page=\(number)")) : .page(number: number, limit: 3)
            return Self.draw(server, target).split(separator: " ").dropLast().joined(separator: " ")
        }
        var server = Self.server(9, ServerKind(size: .fixed(3), linksAreNumbers: linksAreNumbers))
        #expect(page(server, 1) == "9 8 7")
        server.insertOnTop()
        #expect(page(server, 2) == "7 6 5")
        server.delete(10)
        server.delete(8)
        #expect(page(server, 2) == "5 4 3")
        server.insert(at: 4)
        #expect(page(server, 2) == "5 11 4")
    }
}
