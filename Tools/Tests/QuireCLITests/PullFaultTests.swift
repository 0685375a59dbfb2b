import FlyingFox
import Foundation
import LoopbackServers
import QuirePaging
import Synchronization
import Testing

@testable import QuireCLI

/// A process that a server sends signals to.
final class Signalled: Sendable {
    private let held = Mutex<PullProcess?>(nil)
    var process: PullProcess? { held.withLock { $0 } }
    var isOn: Bool { process != nil }
    func hold(_ process: PullProcess) { held.withLock { $0 = process } }
    func release() { held.withLock { $0 = nil } }
}

@Suite("quire pull and servers that fail", .timeLimit(.minutes(10)), .serialized)
struct PullFaultTests {
    @Test("cut answers, lost servers and 429 are asked for again, as the server wants it")
    func faults() async throws {
        let server = try await ListServer.start(posts: 200) { number, _, _ in
            switch number {
            case 1, 4: .json("", status: 503)
            case 3:
                .json(
                    #"{"error_id": 502, "error_name": "throttle"}"#, status: 429,
                    headers: ["Retry-After": "7"])
            case 6, 7: .dropped
            default: nil
            }
        }
        let box = try Sandbox()
        let run = try await PullInside(box, "so", server.url, "--pause", "1s")
        #expect(run.end.whole && run.end.requests == server.requests.count)
        #expect(run.waits.contains { $0 >= .seconds(5) && $0 <= .seconds(7) })
        #expect(run.notes.filter { $0.contains(" of 3 failed: ") }.count == 5)
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("a pause beyond the patience ends the work, and the next call asks nothing")
    func pause() async throws {
        let server = try await ListServer.start(posts: 200) { number, _, _ in
            number == 3 ? .json("{}", status: 429, headers: ["Retry-After": "3600"]) : nil
        }
        let box = try Sandbox()
        let run = try await PullInside(box, "so", server.url)
        #expect(run.end.stopped == .pause && run.end.status == .temporary && run.end.opensAt != nil)
        #expect(run.end.requests == 3)
        #expect(try await PullInside(box, "so").end.requests == 0)
        let again = try await box.pull("so")
        #expect(again.status == 75 && again.out.contains("open again at 20"))
        #expect(server.requests.count == 3)
        #expect(try await box.rows(of: "so") == Array(server.ids.prefix(58)))
    }

    /// How servers refuse a request because there were too many.
    private static let refusals: [(status: Int, headers: [String: String])] = [
        (403, ["X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "%"]),
        (429, ["X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "%"]),
        (403, ["Retry-After": "%"]), (429, ["Retry-After": "%"]), (429, ["Retry-After": "%.5"]),
        (429, ["RateLimit-Limit": "60", "RateLimit-Remaining": "0", "RateLimit-Reset": "%"]),
        (403, ["RateLimit": "\"hour\";r=900;t=9999, \"default\";r=0;t=%"]),
    ]

    @Test(
        "a refusal that says when the server is open again is waited for, or ends the work",
        arguments: refusals)
    func refusedForNow(refusal: (status: Int, headers: [String: String])) async throws {
        for (number, seconds) in [(3, 30), (3, 7_200), (1, 30), (1, 7_200)] {
            let server = try await ListServer.start(posts: 200) { now, _, _ in
                let headers = refusal.headers.mapValues { $0.replacing("%", with: "\(seconds)") }
                let text = #"{"message": "API rate limit exceeded"}"#
                return now == number ? .json(text, status: refusal.status, headers: headers) : nil
            }
            let box = try Sandbox()
            if number == 1 && seconds > 60 {
                let failure = await #expect(throws: Failure.self) {
                    _ = try await PullInside(box, "so", server.url)
                }
                #expect(failure?.status == .temporary, "\(failure as Any)")
                #expect(failure?.message.contains("open again at 20") ?? false, "\(failure as Any)")
                #expect(server.requests.count == 1)
                continue
            }
            let run = try await PullInside(box, "so", server.url)
            if seconds == 30 {
                #expect(run.end.whole && run.end.requests == server.requests.count, "\(run.end)")
                #expect(run.waits.contains { $0 >= .seconds(25) && $0 <= .seconds(30.5) }, "\(run.waits)")
                #expect(try await box.rows(of: "so") == server.ids)
            } else {
                let isQuota = refusal.headers["Retry-After"] == nil
                #expect(run.end.stopped == (isQuota ? .quota : .pause), "\(run.end)")
                #expect(run.end.status == .temporary && run.end.opensAt != nil, "\(run.end)")
                #expect(run.end.requests == 3 && server.requests.count == 3)
                #expect(try await PullInside(box, "so").end.requests == 0)
            }
        }
    }

    @Test("a refusal with a spent quota in headers that only the profile knows is waited for")
    func refusedByOwnQuota() async throws {
        let server = try await ListServer.start(posts: 90) { number, _, _ in
            let headers = ["X-Calls-Left": "0", "X-Calls-In": "30"]
            return number == 2 ? .json(#"{"message": "enough"}"#, status: 403, headers: headers) : nil
        }
        let box = try Sandbox()
        try box.write(
            "own.json",
            #"""
            {"name": "own", "items": "items", "id": {"path": "question_id"}, "next": {"more": "has_more"},
             "page": {"query": "page"}, "paging": "page", "quota": {"header": "X-Calls-Left"},
             "quota_renewal": {"header": "X-Calls-In"}}
            """#)
        let run = try await PullInside(box, "so", server.url, "--profile-file", box.path("own.json"))
        #expect(run.end.whole && run.waits.contains { $0 >= .seconds(25) }, "\(run.end) \(run.waits)")
        #expect(try await box.rows(of: "so") == server.ids)
    }

    @Test("a refusal for good is not asked again, whatever is left of the quota", arguments: [401, 403, 404])
    func refusedForGood(status: Int) async throws {
        let server = try await ListServer.start(posts: 200) { number, _, _ in
            let headers = ["X-RateLimit-Remaining": status == 403 ? "41" : "0", "X-RateLimit-Reset": "7"]
            return number == 1 ? .json(#"{"message": "no"}"#, status: status, headers: headers) : nil
        }
        let box = try Sandbox()
        let failure = await #expect(throws: Failure.self) { _ = try await PullInside(box, "so", server.url) }
        #expect(failure?.status == .data && server.requests.count == 1, "\(failure as Any)")
    }

    @Test("a number that no answer can make readable ends the work at once", arguments: [1, 2])
    func numberBeyondBits(broken: Int) async throws {
        let server = try await ListServer.start(posts: 90) { number, _, _ in
            number < broken
                ? nil : .json(#"{"items": [{"question_id": 18446744073709551621}], "has_more": true}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("so", server.url)
        #expect(run.status == 65 && server.requests.count == broken, "\(run)")
        let words =
            "a number that does not fit 64 bits at byte 27, in question_id of item 1: 18446744073709551621"
        #expect((run.out + run.err).contains(words), "\(run)")
    }

    @Test("an error that names its code and message in other words is shown with them")
    func otherWords() async throws {
        let server = try await LoopbackServer.start { request in
            let rows = (0..<9).map { #"{"id": \#(90 - $0), "date": \#(1_700_000_090 - $0)}"# }
            return request.query.isEmpty
                ? .json(#"{"response": {"items": [\#(rows.joined(separator: ","))]}, "next": "?from=9"}"#)
                : .json(#"{"error": {"error_code": 6, "error_msg": "Too many requests per second"}}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/method/wall.get")
        #expect(run.status == 65, "\(run)")
        #expect(run.out.contains("error document: 6: Too many requests per second"), "\(run)")
    }

    @Test("a count of pages that is 0 beside posts ends nothing")
    func noPages() async throws {
        let server = try await LoopbackServer.start { request in
            let page = Int(request.query["page"] ?? "0") ?? 0
            let rows = (0..<35).reversed().dropFirst(page * 10).prefix(10).map { #"{"id": \#($0)}"# }
            let text = rows.joined(separator: ",")
            return .json(#"{"content": [\#(text)], "number": \#(page), "totalPages": 0}"#)
        }
        let box = try Sandbox()
        try box.write(
            "spring.json",
            #"""
            {"name": "spring", "items": "content", "id": {"path": "id"}, "next": {"counted": true},
             "page": {"path": "number", "query": "page"}, "pages": {"path": "totalPages"}, "paging": "page",
             "first_page": 0}
            """#)
        let run = try await box.pull(
            "f", server.address + "/things", "--profile-file", box.path("spring.json"))
        #expect(try await box.rows(of: "f") == (0..<35).reversed().map(String.init), "\(run)")
    }

    @Test("a wait is told in whole seconds, rounded up")
    func wait() async throws {
        let log = PullLog()
        let secrets = try Secrets([], PullAddress("https://example.com/list"))
        let clock = PullDiscretion(secrets, log, linksHere: false)
            .clock(PagerClock(now: { 0 }, sleep: { _ in }, luck: { 1 }))
        for wait in [1_999, 2_000, 2_999] { try await clock.sleep(.milliseconds(wait)) }
        let notes = log.take().events.compactMap { if case .note(let text) = $0 { text } else { nil } }
        #expect(notes == ["waits 2 s before it asks again", "waits 3 s before it asks again"])
    }

    @Test("a spent quota ends the work before the server must refuse")
    func quota() async throws {
        let server = try await ListServer.start(posts: 200) { number, request, list in
            let page = ListServer.page(of: list, for: request)
            guard number == 2 else { return nil }
            return .json(
                #"{"items": [{"question_id": 170, "last_activity_date": 1700000170}], "has_more": true, "#
                    + #""quota_remaining": 0}"#, status: page.statusCode.code)
        }
        let box = try Sandbox()
        let run = try await PullInside(box, "so", server.url)
        #expect(run.end.stopped == .quota && run.end.opensAt != nil && server.requests.count == 2)
        #expect(run.end.lines.last?.contains("quota") == true)
    }

    @Test("a refusal ends the work with the words of the server")
    func refused() async throws {
        let server = try await ListServer.start(posts: 200) { number, _, _ in
            guard number != 2 else { return nil }
            return .json(
                #"{"error_id": 400, "error_name": "bad_parameter", "error_message": "no such site"}"#,
                status: 400)
        }
        let box = try Sandbox()
        let first = try await box.pull("so", server.url)
        #expect(first.status == 65 && first.err.contains("no such site"))
        #expect(!FileManager.default.fileExists(atPath: box.cache))
        let second = try await box.pull("so", server.url)
        #expect(second.status == 65 && second.out.contains("bad_parameter: no such site"))
        #expect(try await box.rows(of: "so") == Array(server.ids.prefix(30)))
    }

    @Test("what is no list of a known API is refused, and leaves nothing")
    func foreign() async throws {
        let answers = [
            ("<posts><post/></posts>", "neither RSS nor Atom"),
            (#"{"rows": [{"x": 1}, {"x": 2}]}"#, #"items of "rows""#),
            (#"{"items": [], "has_more": false}"#, "the page is empty"),
            ("17", "neither an object nor a list"),
        ]
        for (answer, words) in answers {
            let server = try await ListServer.start(posts: 1) { _, _, _ in .json(answer) }
            let box = try Sandbox()
            let run = try await box.pull("so", server.url)
            #expect(run.status == 65 && run.err.contains(words), "\(run.err)")
            #expect(!FileManager.default.fileExists(atPath: box.cache))
        }
        let unreachable = try await Sandbox().pull("so", "http://127.0.0.1:1/x", "--pages", "1")
        #expect(unreachable.status == 75)
    }

    @Test(
        "a first answer that is none is asked for three times, and leaves nothing",
        arguments: [
            ("<!doctype html><title>Sign in</title><br>", #"page for people: "Sign in""#),
            ("<?xml version=\"1.0\"?>\n<html><body>hello</body></html>", "it is HTML"),
            ("<rss version=\"2.0\"><channel><item><title>a", "not XML: "), ("", "not JSON: "),
            ("{\"items\": [{\"question_id\": 6", "not JSON: it is cut"), ("<<", "not XML: "),
        ], [("--order", "ranked"), ("--profile", "stackexchange")])
    func firstAnswerIsNone(
        answer: (text: String, words: String), option: (name: String, value: String)
    ) async throws {
        let server = try await ListServer.start(posts: 1) { _, _, _ in .json(answer.text) }
        let box = try Sandbox()
        let failure = await #expect(throws: Failure.self) {
            _ = try await PullInside(box, "so", server.url, option.name, option.value)
        }
        #expect(failure?.status == .temporary && server.requests.count == 3, "\(failure as Any)")
        let message = failure?.message ?? ""
        #expect(message.contains("tried 3 times: ") && message.hasSuffix("; the next call asks again"))
        #expect(option.name == "--profile" || message.contains(answer.words), "\(message)")
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }

    @Test(
        "a failure names the request, what happened, how often it was tried, and what helps",
        arguments: [
            ("status", "HTTP 500"),
            ("cut", "response: not JSON: it is cut: it ends in the middle, at byte 41"),
            ("dropped", "the connection broke before the answer was whole"),
            ("silent", "the server sent nothing for 1 s (timeout)"),
        ])
    func messages(kind: String, words: String) async throws {
        let server = try await ListServer.start(posts: 90) { _, request, _ in
            guard request.query["page"] == "2" else { return nil }
            return switch kind {
            case "status": .json("oops", status: 500)
            case "cut": .json(#"{"items": [{"question_id": 60, "title": ""#)
            case "dropped": .dropped
            default: .silent
            }
        }
        let box = try Sandbox()
        let timeout = kind == "silent" ? "1s" : "600s"
        let run = try await PullInside(
            box, "so", server.url + "?pagesize=30", "--order", "keyless", "--timeout", timeout)
        let reason = try #require(run.end.lines.last)
        #expect(run.end.status == .temporary, "\(run.end)")
        #expect(reason.contains("tail, page 2: tried 3 times: \(server.url): \(words)"), "\(reason)")
        #expect(reason.hasSuffix("; the next call asks again"), "\(reason)")
        #expect(run.notes.contains { $0.hasPrefix("tail, page 2: try 2 of 3 failed: ") }, "\(run.notes)")
    }

    @Test("a slow server is asked one request at a time")
    func slow() async throws {
        let counter = Counter()
        let server = try await LoopbackServer.start { request in
            counter.enter()
            for _ in 0..<20 { await Task.yield() }
            defer { counter.leave() }
            return ListServer.page(of: QuestionList(120), for: request)
        }
        let box = try Sandbox()
        #expect(try await box.pull("so", "\(server.address)/questions").status == 0)
        #expect(counter.most == 1)
    }

    private final class Counter: Sendable {
        private let open = Mutex((now: 0, most: 0))
        func enter() { open.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { open.withLock { $0.now -= 1 } }
        var most: Int { open.withLock(\.most) }
    }
}
