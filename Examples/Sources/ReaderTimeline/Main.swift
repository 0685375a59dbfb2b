import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

struct Status: Decodable, Sendable {
    var id: String
    var content: String
}

/// A reader's timeline on a terminal. It opens where the reader stopped, although 40 posts have come since
/// and the first page does not reach down to what is here: nothing on the screen moves, and the gap is filled
/// when it comes into view.
@main struct ReaderTimeline {
    @MainActor static func open(_ path: String, _ server: String) throws -> Screen {
        let profile = Profile.named("mastodon")!
        let feed = try Cache(at: path).feed(named: "home", options: profile.options)
        let source = try HTTPSource(
            "\(server)/api/v1/timelines/home?limit={limit}&max_id={below}", profile: profile)
        let pager = Pager(feed, source: source, options: PagerOptions(pageSize: 20))
        let start = try feed.reading.start() ?? .head
        return Screen(try FeedModel(pager, as: Status.self, at: start, reach: 2))
    }

    /// A timeline of Mastodon, in small.
    static func reply(_ question: Question, newest: Int) -> Reply {
        let top = question.number("max_id").map { $0 - 1 } ?? newest
        let ids = Array(stride(from: top, to: 0, by: -1).prefix(question.number("limit") ?? 20))
        let items = ids.map { #"{"id":"\#($0)","content":"post \#($0)"}"# }
        let next = "</api/v1/timelines/home?limit=20&max_id=\(ids.last ?? 1)>; rel=\"next\""
        return Reply(
            "[\(items.joined(separator: ","))]", headers: (ids.last ?? 1) > 1 ? ["Link": next] : [:])
    }

    @MainActor static func main() async throws {
        let newest = Shared(60)
        let server = try await LocalServer.start { reply($0, newest: newest.value) }
        try await withCache { path in
            if CommandLine.arguments.contains("--keys") {
                newest.value = 500
                return try await play(try open(path, server.address))
            }
            try await firstRun(path, server)
            newest.value = 100
            try await secondRun(path, server)
        }
    }

    @MainActor static func firstRun(_ path: String, _ server: LocalServer) async throws {
        let screen = try open(path, server.address)
        await screen.model.refresh()
        for _ in 0..<16 {
            screen.scroll(by: 1)
            await screen.look()
        }
        screen.draw("the first run, scrolled down:")
        print("asked:", server.takeRequests())
        try await screen.save()
    }

    @MainActor static func secondRun(_ path: String, _ server: LocalServer) async throws {
        let screen = try open(path, server.address)
        screen.draw("the second run, before anything is asked:")
        let before = screen.lines
        await screen.model.refresh()
        print("40 posts have come:", try screen.model.pager.feed.picture)
        print("the screen is as it was:", screen.lines == before, "with \(screen.above) rows above")
        _ = server.takeRequests()
        while screen.above > 18 { screen.scroll(by: -1) }
        screen.draw("scrolled up to the gap:")
        await screen.look()
        screen.draw("a moment later:")
        print("asked:", server.takeRequests())
        while screen.above > 0 {
            screen.scroll(by: -1)
            await screen.look()
        }
        screen.draw("on top:")
        print("read in one piece:", try screen.model.pager.feed.picture)
    }

    /// For people: j and k scroll, r refreshes, q leaves; each with the return key.
    @MainActor static func play(_ screen: Screen) async throws {
        await screen.model.refresh(.ifStale)
        while true {
            screen.draw("\u{1B}[2J\u{1B}[H\(screen.above) rows above; j, k, r or q")
            guard let key = await Task.detached(operation: { readLine() }).value, key != "q" else { break }
            switch key {
            case "j": screen.scroll(by: 1)
            case "k": screen.scroll(by: -1)
            case "r": await screen.model.refresh()
            default: break
            }
            await screen.look()
        }
        try await screen.save()
    }
}
