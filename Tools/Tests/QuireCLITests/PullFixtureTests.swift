import FlyingFox
import Foundation
import LoopbackServers
import Testing

@Suite(
    "quire pull from servers that play recorded pages", .enabled(if: Shared.fixtures != nil),
    .timeLimit(.minutes(10)), .serialized)
struct PullFixtureTests {
    @Test("no flag is needed, and the mirror is the list", arguments: PlayedAPI.all)
    func played(api: PlayedAPI) async throws {
        try #require(api.posts.count > api.size)
        let server = try await LoopbackServer.start { api.answer(api.posts, $0, api.size) }
        let box = try Sandbox()
        let run = try await box.pull("feed", server.address + api.path)
        #expect(run.status == 0 && run.err.contains("read as \(api.profile): "), "\(run)")
        #expect(try await box.rows(of: "feed") == api.posts.map(\.id), "\(run)")
        let ideal = (api.posts.count + api.size - 1) / api.size
        // An end that the server does not say takes up to five requests to be sure of.
        #expect(server.requests.count <= ideal + 5, "\(server.requests.map { "\($0.query)" })")
        print("\(api.profile): \(server.requests.count) requests, ideal \(ideal); \(run.err.dropLast())")
        let again = try await box.pull("feed")
        #expect(again.status == 0, "\(again)")
        #expect(try await box.rows(of: "feed") == api.posts.map(\.id), "\(again)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("GitHub's recorded pages, where the links of their headers lead")
    func gitHub() async throws {
        let file = try Shared.path("github/octokit/paginate-issues/normalized-fixture.json")
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        let exchanges = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        var (answers, ids): ([String: (body: String, link: String)], [String]) = ([:], [])
        for exchange in exchanges {
            let items = exchange["response"] as? [[String: Any]] ?? []
            ids += items.compactMap { ($0["id"] as? NSNumber)?.stringValue }
            let body = try JSONSerialization.data(withJSONObject: items)
            let link = (exchange["headers"] as? [String: Any])?["link"] as? String ?? ""
            answers[exchange["path"] as? String ?? ""] = (String(decoding: body, as: UTF8.self), link)
        }
        let server = try await LoopbackServer.start { [answers] request in
            let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            guard let (body, link) = answers["\(request.path)?\(query)"] else {
                return .json(#"{"message": "Not Found"}"#, status: 404)
            }
            let here = "http://\(request.headers[.host] ?? "")"
            return .json(body, headers: ["Link": link.replacing("https://api.github.com", with: here)])
        }
        let box = try Sandbox()
        let path = "/repos/octokit-fixture-org/paginate-issues/issues?per_page=3"
        let run = try await box.pull("gh", server.address + path)
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        #expect(try await box.rows(of: "gh") == ids)
        #expect(server.requests.count == exchanges.count)
    }
}
