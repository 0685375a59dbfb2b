import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// Lists whose next page is a place in it: posts slide over joins and past the end, or come at the end.
@Suite("quire pull from lists that slide under their links", .timeLimit(.minutes(10)))
struct PullSlidingTests {
    // MARK: Feeds

    enum Form: String, CaseIterable {
        case rss, atom, json

        private static let atomLink = "<link xmlns=\"http://www.w3.org/2005/Atom\" rel=\""

        /// A document with these posts, and its link to the next one.
        func document(_ ids: some Sequence<Int>, next: String?, relation: String = "next") -> String {
            let link = next.map { "\(Self.atomLink)\(relation)\" href=\"\($0)\"/>" } ?? ""
            switch self {
            case .rss:
                let items = ids.map { id in
                    "<item><guid isPermaLink=\"false\">\(id)</guid>"
                        + "<pubDate>\(id) Jan 2024 10:00:00 +0000</pubDate></item>"
                }
                return "<rss version=\"2.0\"><channel>\(link)\(items.joined())</channel></rss>"
            case .atom:
                let entries = ids.map { id in
                    let day = id < 10 ? "0\(id)" : "\(id)"
                    return "<entry><id>\(id)</id><updated>2024-01-\(day)T10:00:00Z</updated></entry>"
                }
                return "<feed xmlns=\"http://www.w3.org/2005/Atom\">\(link)\(entries.joined())</feed>"
            case .json:
                let items = ids.map { "{\"id\": \"\($0)\"}" }.joined(separator: ", ")
                let more = next.map { "\"next_url\": \"\($0.replacing("&amp;", with: "&"))\", " } ?? ""
                return "{\"version\": \"https://jsonfeed.org/version/1.1\", \(more)\"items\": [\(items)]}"
            }
        }
    }

    /// A feed whose documents lead on by numbers, as `link` writes them.
    private static func numbered(
        _ form: Form, _ list: Held, by name: String, _ link: @escaping @Sendable (Int) -> String,
        before play: @escaping @Sendable (_ start: Int, inout [Int]) -> Void
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let number = request.query[name].flatMap { Int($0) } ?? 1
            let start = name == "start-index" ? number - 1 : number * 10 - 10
            let ids = list.ids.withLock { ids in
                play(start, &ids)
                return ids
            }
            let host = request.headers[HTTPHeader("Host")] ?? ""
            let next = start + 10 < ids.count ? "http://\(host)\(link(start + 10))" : nil
            return .json(form.document(ids.dropFirst(start).prefix(10), next: next))
        }
    }

    private final class Held: Sendable {
        let ids: Mutex<[Int]>
        init(_ ids: [Int]) { self.ids = Mutex(ids) }
        var all: [String] { ids.withLock { $0.map(String.init) } }
        func change(_ body: (inout [Int]) -> Void) { ids.withLock { body(&$0) } }
    }

    @Test(
        "a feed whose next link is a place: a post that slides over a join is doubted, and found",
        arguments: Form.allCases, ["paged", "page", "start-index"])
    func feeds(form: Form, name: String) async throws {
        let gone = Mutex(false)
        let list = Held(Array((1...25).reversed()))
        let server = try await Self.numbered(form, list, by: name) { start in
            name == "start-index"
                ? "/feeds/7/posts?start-index=\(start + 1)&amp;max-results=10"
                : "/feed/?\(name)=\(start / 10 + 1)"
        } before: { start, ids in
            let isNow =
                start == 20
                && gone.withLock { gone in
                    defer { gone = true }
                    return !gone
                }
            if isNow { ids.removeAll { $0 == 12 } }
        }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/feed")
        let words = name == "start-index" ? "offsets (start-index=11)" : "page numbers (\(name)=2)"
        #expect(first.err.contains("its links are \(words)"), "\(first)")
        #expect(first.out.contains("unverified"), "\(first)")
        for _ in 1...2 { #expect(try await box.pull("f", "--verify").status == 0) }
        let shown = try await box.rows(of: "f").filter { $0 != "12" }
        #expect(shown == list.all)
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("a feed that shows later how it goes on is no list of cursors", arguments: Form.allCases)
    func laterFeed(form: Form) async throws {
        let list = Held(Array((1...5).reversed()))
        let server = try await LoopbackServer.start { request in
            let start = (request.query["paged"].flatMap { Int($0) } ?? 1) * 10 - 10
            if start == 20 { list.change { $0.removeAll { $0 == 12 } } }
            let ids = list.ids.withLock(\.self)
            let next = start + 10 < ids.count ? "/feed?paged=\(start / 10 + 2)" : nil
            return .json(form.document(ids.dropFirst(start).prefix(10), next: next))
        }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/feed")
        #expect(first.out.contains("the end was not seen"), "\(first)")
        list.change { $0 = Array((1...25).reversed()) }
        let second = try await box.pull("f")
        #expect(second.out.contains("unverified"), "\(second)")
        for _ in 1...2 { #expect(try await box.pull("f", "--verify").status == 0) }
        let shown = try await box.rows(of: "f").filter { $0 != "12" && $0 != "~" }
        #expect(shown == list.all)
    }

    @Test("archives do not change, whatever their addresses are", arguments: [Form.rss, .atom])
    func archives(form: Form) async throws {
        let server = try await LoopbackServer.start { request in
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            let next = page < 3 ? "/feed?page=\(page + 1)" : nil
            let ids = (1...25).reversed().dropFirst(page * 10 - 10).prefix(10)
            return .json(form.document(ids, next: next, relation: "prev-archive"))
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/feed")
        #expect(!run.err.contains("its links are"), "\(run)")
        #expect(run.out.contains("whole: no gaps, head closed, end reached\n"), "\(run)")
    }

    // MARK: Numbers in the header `Link`

    private static func rows(_ ids: some Sequence<Int>, at host: String = "api.github.com") -> String {
        let rows = ids.map { id in
            #"{"id": \#(id), "url": "https://\#(host)/repos/o/r/issues/\#(id)", "#
                + #""created_at": \#(1_700_000_000 + 60 * id)}"#
        }
        return "[\(rows.joined(separator: ","))]"
    }

    /// A list in the manner of GitHub, 30 posts on a page.
    private static func gitHub(
        _ list: Held, by name: String = "page", isHeader: Bool = true
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let ids = list.ids.withLock(\.self)
            let number = request.query[name].flatMap { Int($0) }
            let start =
                name == "since"
                ? ids.firstIndex { $0 > number ?? 0 } ?? ids.count : ((number ?? 1) - 1) * 30
            let shown = ids.dropFirst(start).prefix(30)
            let value = name == "since" ? shown.last ?? 0 : start / 30 + 2
            let next = start + 30 < ids.count ? "/list?\(name)=\(value)" : nil
            if isHeader {
                let links = next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:]
                return .json(rows(shown), headers: links)
            }
            let text = next.map { "\"\($0)\"" } ?? "null"
            return .json(#"{"results": \#(rows(shown, at: "a.example")), "next": \#(text)}"#)
        }
    }

    @Test("posts that slide before the page that is asked for are no end", arguments: [6, 35, 62])
    func slidPastEnd(count: Int) async throws {
        let list = Held(Array((1...95).reversed()))
        let server = try await Self.gitHub(list)
        let box = try Sandbox()
        #expect(try await box.pull("f", server.address + "/list", "--pages", "3").status == 0)
        list.change { $0.removeSubrange(20..<(20 + count)) }
        let before = server.requests.count
        let run = try await box.pull("f")
        #expect(run.out.contains("whole: no gaps, head closed, end reached"), "\(run)")
        #expect(Set(try await box.rows(of: "f")).isSuperset(of: list.all), "\(run)")
        #expect(server.requests.count - before <= 2 + (count + 29) / 30, "\(run)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    // MARK: Oldest first

    @Test(
        "a list with its oldest post first gets what comes at its end",
        arguments: ["page in a header", "since in a header", "page", "since"], [5, 30, 65])
    func oldestFirst(link: String, count: Int) async throws {
        let (name, isHeader) = (String(link.prefix { $0 != " " }), link.contains("header"))
        let list = Held(Array(1...count))
        let server = try await Self.gitHub(list, by: name, isHeader: isHeader)
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/list")
        #expect(first.err.contains("oldest first: its last page is asked for again"), "\(first)")
        for more in [1, 0, 24, 40] {
            list.change { $0 += ($0.count + 1)..<($0.count + 1 + more) }
            let before = server.requests.count
            let run = try await box.pull("f")
            #expect(try await box.rows(of: "f") == list.all, "\(more): \(run)")
            #expect(server.requests.count - before <= 2 + more / 30 + 1, "\(run)")
            #expect(run.status == 0, "\(run)")
            if isHeader { #expect(run.out.contains("whole: no gaps, head closed, end"), "\(run)") }
        }
        #expect(try await box.other("check", box.cache).status == 0)
    }
}
