import FlyingFox
import Foundation
import LoopbackServers
import Testing

/// What the links of a server can look like, and where they stand in its answers.
@Suite("quire pull and the links of servers", .timeLimit(.minutes(10)), .serialized)
struct PullLinkTests {
    private static let count = 35
    private static let all = (1...count).reversed().map(String.init)

    /// The posts from a place in the list on, as JSON.
    private static func rows(_ start: Int) -> String {
        let rows = (start..<min(count, start + 10)).map {
            #"{"id": \#(count - $0), "created_at": \#(1_700_000_000 + 60 * (count - $0))}"#
        }
        return "[\(rows.joined(separator: ","))]"
    }

    private static func quoted(_ text: String?) throws -> String {
        try String(decoding: JSONEncoder().encode(text), as: UTF8.self)
    }

    @Test(
        "a link is relative to the page that it stands on",
        arguments: [
            ["messages?$skip=%"], ["./messages?$skip=%"], ["../v1.0/messages?$skip=%"], ["?$skip=%"],
            ["//HOST/v1.0/messages?$skip=%"], ["$skip=%&back=https://elsewhere.example/?a"],
            ["messages/more?$skip=%", "more?$skip=%", "?$skip=%"],
            ["./messages/more?$skip=%", "./more?$skip=%", "../messages?$skip=%"],
        ])
    func relative(links: [String]) async throws {
        let server = try await LoopbackServer.start { request in
            guard ["/v1.0/messages", "/v1.0/messages/more"].contains(request.path) else {
                return .json(#"{"error": "no such list"}"#, status: 404)
            }
            let start = request.query["$skip"].flatMap { Int($0) } ?? 0
            let next = links[min(start / 10, links.count - 1)].replacing("%", with: "\(start + 10)")
                .replacing("HOST", with: request.headers[HTTPHeader("Host")] ?? "")
            let link = try Self.quoted(start + 10 < Self.count ? next : nil)
            return .json(#"{"value": \#(Self.rows(start)), "next": \#(link)}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/v1.0/messages", "--pages", "2")
        #expect(run.status == 0 && run.out.contains("20 posts (20 new, 2 requests)"), "\(run)")
        let rest = try await box.pull("f")
        #expect(rest.status == 0 && rest.out.contains("whole: no gaps, head closed, end reached"), "\(rest)")
        #expect(try await box.rows(of: "f") == Self.all)
    }

    @Test(
        "a token of which nothing says where it goes is not sent, whatever it looks like",
        arguments: ["Yzo%", "YzoxNg==%", "Yzox%==", "/9j/%=", "eyJ%==--5f2a", "a?%", "a%/b+c="])
    func token(form: String) async throws {
        let server = try await LoopbackServer.start { request in
            let digits = (request.query["pageToken"] ?? "").filter(\.isNumber)
            let plain = form.filter(\.isNumber)
            let start = digits.isEmpty ? 0 : Int(digits.suffix(digits.count - plain.count))
            let known = request.query.isEmpty || request.query["pageToken"] != nil
            guard let start, known else { return .json(#"{"error": "bad request"}"#, status: 400) }
            let next = form.replacing("%", with: "\(start + 10)")
            let link = try Self.quoted(start + 10 < Self.count ? next : nil)
            return .json(#"{"files": \#(Self.rows(start)), "nextPageToken": \#(link)}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/files")
        #expect(run.status == 65 && server.requests.count == 1, "\(run)")
        #expect(run.out.contains(#"write it into the address, as in "…?cursor={token}""#), "\(run)")
    }

    // MARK: Names

    /// How a server names the next page: what is around the list and the link, with places for both.
    private static let frames = [
        #"{"@odata.context": "$metadata#users", "@odata.nextLink": ~, "value": *}"#,
        #"{"@odata.deltaLink": "/list?delta=1", "value": *, "@odata.nextLink": ~}"#,
        #"{"odata.metadata": "x", "odata.nextLink": ~, "value": *}"#, #"{"value": *, "nextLink": ~}"#,
        #"{"totalSize": 35, "done": false, "nextRecordsUrl": ~, "records": *}"#,
    ]

    @Test("the names of next links of OData and Salesforce are known", arguments: frames)
    func names(frame: String) async throws {
        let server = try await Self.start { request, start in
            let next = start + 10 < Self.count ? "\"/list?skip=\(start + 10)\"" : "null"
            return frame.replacing("~", with: next).replacing("*", with: Self.rows(start))
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.all && server.requests.count == 4)
    }

    private static func start(
        _ answer: @escaping @Sendable (_ request: HTTPRequest, _ start: Int) -> String
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            if request.query["delta"] != nil { return .json("{}", status: 400) }
            return .json(answer(request, request.query["skip"].flatMap { Int($0) } ?? 0))
        }
    }

    /// An answer with places for the posts and the link, the member that is the link, and where both are.
    private static let lastPages: [(frame: String, next: String, items: String, path: String)] = [
        (
            #"{"_embedded": {"x": *}, "_links": {"self": {"href": "/list"}~}}"#, #", "next": {"href": %}"#,
            "_embedded.x", "_links.next.href"
        ),
        (#"{"data": *, "links": {"self": "/list"~}}"#, #", "next": %"#, "data", "links.next"),
        (
            #"{"value": *, "@odata.deltaLink": "/list?delta=1"~}"#, #", "@odata.nextLink": %"#, "value",
            #"@odata\\.nextLink"#
        ),
    ]

    @Test("a last page without a link says what is not known, and a profile settles it", arguments: lastPages)
    func lastPage(answer: (frame: String, next: String, items: String, path: String)) async throws {
        let server = try await Self.start { request, start in
            let link = answer.next.replacing("%", with: "\"/list?skip=\(start + 10)\"")
            return answer.frame.replacing("~", with: start + 10 < Self.count ? link : "")
                .replacing("*", with: Self.rows(start))
        }
        let box = try Sandbox()
        for _ in 1...2 {
            let run = try await box.pull("f", server.address + "/list")
            #expect(run.status == 0 && run.out.contains("not whole: the end was not seen"), "\(run)")
            #expect(run.out.contains("stopped: the last page names no next one, and nothing says"), "\(run)")
            #expect(try await box.rows(of: "f") == Self.all)
        }
        try box.write(
            "own.json",
            #"{"name": "own", "items": "\#(answer.items)", "id": {"path": "id"}, "order": "bump", "#
                + #""key": {"path": "created_at"}, "next": {"path": "\#(answer.path)", "absent": "end"}}"#)
        let settled = try await box.pull("f", "--profile-file", box.path("own.json"))
        #expect(settled.status == 0 && settled.out.contains("whole: no gaps, head closed"), "\(settled)")
    }
}
