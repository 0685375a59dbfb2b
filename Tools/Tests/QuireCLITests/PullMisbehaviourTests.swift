import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// What people reported of paged APIs: each of these servers was somebody's.
@Suite("quire pull and servers that misbehave", .timeLimit(.minutes(10)), .serialized)
struct PullMisbehaviourTests {
    private static let count = 35
    private static let all = (1...count).reversed().map(String.init)

    /// The posts from a place in the list on, as JSON.
    private static func rows(_ start: Int, _ size: Int = 10) -> String {
        let rows = (start..<min(count, start + size)).map {
            #"{"id": \#(count - $0), "created_at": \#(1_700_000_000 + 60 * (count - $0)), "title": "é"}"#
        }
        return "[\(rows.joined(separator: ","))]"
    }

    private static func page(_ request: HTTPRequest) -> Int { Int(request.query["page"] ?? "1") ?? 1 }

    /// A server of pages in a bare list, with links in the header. `play` answers in its place.
    private static func linked(
        _ link: @escaping @Sendable (String, Int) -> String = { _, page in "</list?page=\(page)>" },
        play: @escaping @Sendable (_ request: HTTPRequest, _ page: Int, _ number: Int) -> HTTPResponse? = {
            _, _, _ in nil
        }
    ) async throws -> LoopbackServer {
        let number = Mutex(0)
        return try await LoopbackServer.start { request in
            let page = page(request)
            let now = number.withLock { number in
                number += 1
                return number
            }
            if let answer = play(request, page, now) { return answer }
            let host = request.headers[HTTPHeader("Host")] ?? ""
            let next = page * 10 < count ? ["Link": "\(link(host, page + 1)); rel=\"next\""] : [:]
            return .json(rows((page - 1) * 10), headers: next)
        }
    }

    // MARK: Links

    @Test(
        "links that are relative, or have the other scheme, lead on",
        arguments: [
            "</list?page=%>", "<?page=%>", "<https://HOST/list?page=%>", "<https://NAME/list?page=%>",
        ])
    func links(link: String) async throws {
        let server = try await Self.linked { host, page in
            link.replacing("%", with: "\(page)").replacing("HOST", with: host)
                .replacing("NAME", with: host.prefix { $0 != ":" })
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 0 && run.out.contains("whole: no gaps, head closed, end reached"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test(
        "an address and links with characters that must be escaped are not escaped twice",
        arguments: ["props=a|b", "page[size]=10", "q=a b", "q=é"])
    func escapes(parameter: String) async throws {
        let rest = parameter.split(separator: "=")[1]
        @Sendable func cursor(_ start: Int) -> String { "a|\(start)=" }
        let server = try await LoopbackServer.start { request in
            let name = String(parameter.prefix { $0 != "=" })
            let start = request.query["cursor"] ?? cursor(0)
            guard request.query[name] == String(rest), start.hasPrefix("a|"), start.hasSuffix("=") else {
                return .json(#"{"error": "no such place"}"#, status: 400)
            }
            let at = Int(start.dropFirst(2).dropLast())!
            let next = at + 10 < Self.count ? "\"\(cursor(at + 10))\"" : "null"
            return .json(#"{"data": \#(Self.rows(at)), "next": \#(next)}"#)
        }
        let box = try Sandbox()
        let list = server.address + "/list?\(parameter)"
        let run = try await box.pull("f", list + "&cursor={token}")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
        let links = try await Self.linked(
            { _, page in "</list?\(parameter)&c=%7C\(page)&page=\(page)>" },
            play: { request, page, _ in
                page == 1 || request.query["c"] == "|\(page)" ? nil : .json("[]", status: 400)
            })
        let followed = try await box.pull("g", links.address + "/list")
        #expect(followed.out.contains("whole: no gaps"), "\(followed)")
        #expect(try await box.rows(of: "g") == Self.all)
    }

    @Test(
        "tokens that no address can hold as they are lead on",
        arguments: [
            "page=%&x=a#b", "page=%&x=%zz", "page=%&x=\u{1}é|", "?page=%&x=50%", "HTTP://HOST/list?page=%",
        ])
    func oddTokens(token: String) async throws {
        let server = try await LoopbackServer.start { request in
            let page = Self.page(request)
            let next = token.replacing("page=%", with: "page=\(page + 1)")
                .replacing("HOST", with: request.headers[HTTPHeader("Host")] ?? "")
            let text = try String(decoding: JSONEncoder().encode(page == 4 ? nil : next), as: UTF8.self)
            return .json(#"{"data": \#(Self.rows((page - 1) * 10)), "next": \#(text)}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test("\"not modified\" to a request that compares nothing is asked again, and names the place")
    func unaskedNotModified() async throws {
        let server = try await Self.linked(play: { _, page, number in
            page == 2 && number == 2 ? .json("", status: 304) : nil
        })
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        #expect(run.err.contains("page=2: try 1 of 3 failed") && run.err.contains("HTTP 304"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test(
        "a server that takes a name behind its proxy for its own is asked with --links-here only",
        arguments: ["http://internal.invalid:8080/list?page=%", "http://127.0.0.1:9/list?page=%"])
    func proxy(link: String) async throws {
        let server = try await Self.linked { _, page in "<\(link.replacing("%", with: "\(page)"))>" }
        let box = try Sandbox()
        let refused = try await box.pull("f", server.address + "/list")
        let name = link.prefix(while: { $0 != "?" }).dropLast("/list".count)
        #expect(refused.status == 65, "\(refused)")
        #expect(refused.out.contains("another server, \(name); --links-here asks"), "\(refused)")
        #expect(refused.out.contains("10 posts (10 new, 1 request)") && server.requests.count == 1)
        try await box.other("drop", box.cache, "f").isFine()
        let run = try await box.pull("f", server.address + "/list", "--links-here")
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
        #expect(run.out.contains("4 requests") && server.requests.count == 5)
    }

    @Test(
        "tokens that repeat or go in circles end the work, and what they brought stays",
        arguments: [(35, 35), (20, 20), (10, 35)])
    func circles(last: Int, circle: Int) async throws {
        let server = try await LoopbackServer.start { request in
            let at = Int((request.query["cursor"] ?? "c0").dropFirst()) ?? 0
            let next = at + 10 >= circle ? min(last, circle) : at + 10
            return .json(#"{"rows": \#(Self.rows(at)), "next_cursor": "c\#(next)"}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?cursor={token}")
        #expect(run.status == 0 && run.out.contains("not whole: the list goes on"), "\(run)")
        #expect(run.out.contains("its answers change nothing") && server.requests.count < 10)
        let shown = last == 20 ? Array(Self.all.prefix(30)) : Self.all
        #expect(try await box.rows(of: "f") == shown)
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test(
        "a last page that always names another token ends the work, in each call", arguments: [true, false])
    func endless(isEmpty: Bool) async throws {
        let server = try await LoopbackServer.start { request in
            let at = request.query["cursor"].flatMap { Int($0.dropFirst()) } ?? 0
            let rows = at < Self.count ? Self.rows(at) : isEmpty ? "[]" : Self.rows(30)
            return .json(#"{"rows": \#(rows), "next_cursor": "c\#(at + 10)"}"#)
        }
        let box = try Sandbox()
        for call in 1...2 {
            let run = try await box.pull("f", server.address + "/list?cursor={token}", "--pages", "150")
            let reason = isEmpty ? "20 in a row, are empty" : "below the last post comes nothing new"
            #expect(run.status == 0 && run.out.contains(reason), "\(run)")
            #expect(server.requests.count < (isEmpty ? 26 : 50) * call)
        }
        #expect(try await box.rows(of: "f") == Self.all)
    }

    /// A server whose cursors hold as long as `life` stays, and never, if `isAlwaysDead`.
    private static func expiring(
        _ life: ServerLife, isAlwaysDead: Bool = false
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let now = life.now.withLock(\.self)
            let cursor = request.query["cursor"]
            let token = (cursor ?? "0-\(now)").split(separator: "-").compactMap { Int($0) }
            if token[1] != now || isAlwaysDead && cursor != nil {
                return .json(#"{"message": "cursor expired"}"#, status: 410)
            }
            let next = token[0] + 10 < count ? "\"\(token[0] + 10)-\(now)\"" : "null"
            return .json(#"{"rows": \#(rows(token[0])), "next_cursor": \#(next)}"#)
        }
    }

    private final class ServerLife: Sendable { let now = Mutex(0) }

    @Test("a link that expired is forgotten, and the list goes on from the first page; no post is lost")
    func expired() async throws {
        let life = ServerLife()
        let server = try await Self.expiring(life)
        let box = try Sandbox()
        #expect(try await box.pull("f", server.address + "/list?cursor={token}", "--pages", "3").status == 0)
        life.now.withLock { $0 = 1 }
        let before = server.requests.count
        let run = try await box.pull("f")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(run.err.contains("tail: an old link is refused, and forgotten"), "\(run)")
        // the head, two refused links, two pages of posts that are cached, one of new ones
        #expect(server.requests.count - before == 6 && run.out.contains("(5 new, 6 requests)"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("a limit of requests on the way over what is cached: the next call goes on there")
    func expiredAndLimited() async throws {
        let life = ServerLife()
        let server = try await Self.expiring(life)
        let box = try Sandbox()
        #expect(try await box.pull("f", server.address + "/list?cursor={token}", "--pages", "3").status == 0)
        for call in 1...3 {
            life.now.withLock { $0 += call < 3 ? 1 : 0 }
            let run = try await box.pull("f", "--pages", "3")
            #expect(run.status == 0 && run.out.contains("--pages") == (call < 3), "\(call): \(run)")
            #expect(try await box.rows(of: "f").starts(with: Self.all.prefix(30)))
        }
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test("a server that refuses the links that it has just given ends the work, in each call")
    func deadAtOnce() async throws {
        let server = try await Self.expiring(ServerLife(), isAlwaysDead: true)
        let box = try Sandbox()
        for call in 1...2 {
            let run = try await box.pull("f", server.address + "/list?cursor={token}")
            #expect(run.status == 65 && run.out.contains("cursor expired"), "\(run)")
            #expect(server.requests.count == 2 * call, "\(call): \(run)")
            #expect(try await box.rows(of: "f") == Array(Self.all.prefix(10)))
        }
    }

    @Test("a page without posts in the middle leads on", arguments: ["[]", "null"])
    func emptyPage(list: String) async throws {
        let server = try await LoopbackServer.start { request in
            let cursor = request.query["cursor"] ?? "c0"
            if cursor == "c20" { return .json(#"{"rows": \#(list), "next_cursor": "d20"}"#) }
            let at = Int(cursor.dropFirst()) ?? 0
            let next = at + 10 < Self.count ? "\"c\(at + 10)\"" : "null"
            return .json(#"{"rows": \#(Self.rows(at)), "next_cursor": \#(next)}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?cursor={token}")
        #expect(run.status == 0 && run.out.contains("whole") && !run.out.contains("not whole"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test(
        "a last page that is null and says that there is no next one is the end",
        arguments: ["null", "false", "\"\""])
    func nullList(none: String) async throws {
        let server = try await LoopbackServer.start { request in
            let page = Self.page(request)
            let next = page < 5 ? "\"/list?page=\(page + 1)\"" : none
            return .json(
                #"{"results": \#(page < 5 ? Self.rows((page - 1) * 10) : "null"), "next": \#(next)}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    // MARK: Numbers

    @Test(
        "a server that shows its last page for every number beyond, fills it up, or counts wrongly",
        arguments: ["again", "filled", "double"])
    func beyond(kind: String) async throws {
        let server = try await LoopbackServer.start { request in
            let page = Self.page(request)
            return switch kind {
            case "again": .json(#"{"rows": \#(Self.rows((min(page, 4) - 1) * 10))}"#)
            case "filled":
                .json(#"{"rows": \#(page == 4 ? Self.rows(25) : Self.rows(min(35, (page - 1) * 10)))}"#)
            default: .json(#"{"total": 70, "rows": \#(Self.rows(min(35, (page - 1) * 10)))}"#)
            }
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?page={page}")
        let state =
            kind == "double"
            ? ", not whole: the server counts 70 posts" : ", whole: no gaps, head closed, end assumed"
        #expect(run.status == 0 && run.out.contains(state), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all && server.requests.count < 12)
    }

    @Test("a server that does not know the parameter for the page is not taken for one with a single page")
    func ignored() async throws {
        let single = Mutex(true)
        let server = try await LoopbackServer.start { request in
            let page = single.withLock { $0 } ? 1 : Self.page(request)
            return .json(#"{"rows": \#(Self.rows(min(35, (page - 1) * 10)))}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?page={page}")
        #expect(run.status == 0 && run.out.contains("not whole: the end was not seen"), "\(run)")
        #expect(run.out.contains("the server does not know the parameter for the page"), "\(run)")
        let again = try await box.pull("f", "--json").objects().last
        #expect(again?["whole"] as? Bool == false && again?["stopped"] as? String == "stuck")
        #expect(try await box.rows(of: "f") == Array(Self.all.prefix(10)))
    }

    @Test("a list with one page, after which pages are empty, is whole")
    func onePage() async throws {
        let server = try await LoopbackServer.start { request in
            .json(#"{"rows": \#(Self.page(request) == 1 ? Self.rows(0) : "[]")}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?page={page}", "--json").objects().last
        #expect(run?["whole"] as? Bool == true && run?["end_assumed"] as? Bool == true)
    }

    // MARK: Answers that are none

    @Test(
        "an answer with status 200 that is not JSON is asked for again",
        arguments: ["html", "empty", "cut", "gzip", "dropped"], [1, 2])
    func notJSON(kind: String, broken: Int) async throws {
        let box = try Sandbox()
        try box.write("page.json", Self.rows(10))
        #expect(try box.shell("gzip -n page.json").status == 0)
        let packed = FileManager.default.contents(atPath: box.path("page.json.gz")) ?? Data()
        let server = try await Self.linked(play: { _, page, number in
            if page != broken || number > broken + 1 { return nil }
            return switch kind {
            case "html":
                .json("<!DOCTYPE html>\n<html><body><H1 class=x>Too Many\n Requests</H1></body></html>")
            case "empty": .json("")
            case "cut": .json(String(Self.rows(10).dropLast(300)))
            case "gzip":
                HTTPResponse(
                    statusCode: .ok, headers: [HTTPHeader("Content-Encoding"): "gzip"],
                    body: packed.dropLast(20))
            default: .dropped
            }
        })
        let run = try await PullInside(box, "f", server.address + "/list")
        #expect(run.end.whole && server.requests.count == 6, "\(run.end) \(run.notes)")
        if kind == "html" {
            #expect(run.notes.contains { $0.contains(#"page for people: "Too Many Requests""#) })
        }
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test("a page for people that stays ends the work with its title, for a later call")
    func login() async throws {
        let server = try await Self.linked(play: { _, page, _ in
            page == 3 ? .json("<html><head><title>Sign in\u{1B}[2J</title></head></html>") : nil
        })
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 75 && run.out.contains(#"page for people: "Sign in"#), "\(run)")
        #expect(!run.out.contains("\u{1B}") && !run.err.contains("\u{1B}"))
        #expect(try await box.rows(of: "f") == Array(Self.all.prefix(20)))
    }

    @Test("a mark of byte order, rows that are null, a pause in fractions of a second")
    func oddities() async throws {
        let server = try await Self.linked(play: { _, page, number in
            if number == 2 {
                return .json(#"{"error": "slow"}"#, status: 429, headers: ["Retry-After": "0.493"])
            }
            let next = page * 10 < Self.count ? ["Link": "</list?page=\(page + 1)>; rel=\"next\""] : [:]
            return .json("\u{FEFF}[null," + Self.rows((page - 1) * 10).dropFirst(), headers: next)
        })
        let box = try Sandbox()
        let run = try await PullInside(box, "f", server.address + "/list")
        #expect(
            run.end.whole && run.end.requests == 5 && run.waits.allSatisfy { $0 < .seconds(2) }, "\(run.end)")
        #expect(run.notes.contains { $0.contains("order bump by created_at") }, "\(run.notes)")
        #expect(try await box.rows(of: "f") == Self.all)
    }
}

extension Run {
    fileprivate func isFine() { #expect(status == 0, "\(self)") }
}
