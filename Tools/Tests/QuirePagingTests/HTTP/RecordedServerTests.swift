import FlyingFox
import Foundation
import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Testing

@testable import TestSupport

/// What lies beside the package and is not part of it.
enum RecordedResponses {
    /// `../shared/fixtures` from the root of the package, nil where there is none.
    static let folder: URL? = {
        let folder = URL(filePath: Compiler.package).appending(path: "../shared/fixtures").standardizedFileURL
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()
}

/// Servers that answer with recorded pages of real ones.
@Suite(
    .enabled(if: RecordedResponses.folder != nil, "needs ../shared/fixtures"), .timeLimit(.minutes(10)))
struct RecordedServerTests {
    private static func json(_ path: String) throws -> Any {
        let file = RecordedResponses.folder!.appending(path: path)
        return try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    }

    /// GitHub's issues, page by page where the links of its headers lead.
    @Test func issuesOfGitHub() async throws {
        let list = try Self.json("github/octokit/paginate-issues/normalized-fixture.json")
        let exchanges = try #require(list as? [[String: Any]])
        var responses: [String: (body: String, link: String)] = [:]
        var ids: [String] = []
        for exchange in exchanges {
            let items = exchange["response"] as? [[String: Any]] ?? []
            ids += items.compactMap { ($0["id"] as? NSNumber)?.stringValue }
            let body = try JSONSerialization.data(withJSONObject: items)
            let link = (exchange["headers"] as? [String: Any])?["link"] as? String
            responses[exchange["path"] as? String ?? ""] =
                (String(decoding: body, as: UTF8.self), link ?? "")
        }
        let server = try await LoopbackServer.start { [responses] request in
            let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            guard let (body, link) = responses["\(request.path)?\(query)"] else {
                return .json(#"{"message":"Not Found"}"#, status: 404)
            }
            let here = "http://\(request.headers[.host] ?? "")"
            return .json(
                body, headers: ["Link": link.replacingOccurrences(of: "https://api.github.com", with: here)])
        }
        let profile = Profile.named("github")!
        let fixture = try PagerFixture(profile.options)
        let path = "/repos/octokit-fixture-org/paginate-issues/issues?per_page={limit}"
        let pager = fixture.pager(
            try HTTPSource(server.address + path, profile: profile), options: PagerOptions(pageSize: 3))
        try await pager.refresh()
        while case .loaded = try await pager.append() {}
        #expect(try fixture.rows == ids)
        #expect(server.requests.count == exchanges.count)
    }

    /// Questions of Stack Overflow, asked for by page numbers while new ones arrive on top.
    @Test func questionsOfStackOverflow() async throws {
        var questions: [(id: String, json: String)] = []
        for number in 1...12 {
            let page = try Self.json("stackexchange/so-activity-2018/pages/\(number).json") as? [String: Any]
            for item in page?["items"] as? [[String: Any]] ?? [] {
                let id = "\(item["question_id"] as? Int ?? 0)"
                if questions.contains(where: { $0.id == id }) { continue }
                let bytes = try JSONSerialization.data(withJSONObject: item)
                questions.append((id, String(decoding: bytes, as: UTF8.self)))
            }
        }
        let list = questions
        let server = try await LoopbackServer.start { request in
            let size = request.query["pagesize"].flatMap { Int($0) } ?? 30
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            // Each third page later, one more question was asked.
            let shown = list.dropFirst(max(0, 5 - page / 3))
            let items = shown.dropFirst((page - 1) * size).prefix(size)
            let more = (page * size) < shown.count
            return .json(#"{"items":[\#(items.map(\.json).joined(separator: ","))],"has_more":\#(more)}"#)
        }
        let profile = Profile.named("stackexchange")!
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/questions?page={page}&pagesize={limit}", profile: profile),
            options: PagerOptions(pageSize: 30))
        try await pager.refresh()
        for _ in 0..<40 { guard case .loaded = try await pager.append() else { break } }
        try await pager.refresh()
        let rows = try fixture.rows
        #expect(rows == list.map(\.id).suffix(rows.count))
        #expect(rows.count >= list.count - 5)
    }
}

extension PagerFixture {
    /// The ids of the posts, and "~" for a gap.
    var rows: [String] {
        get throws {
            try feed.cache.withSnapshot { snapshot in
                try snapshot.rows(of: feed, limit: .max).map { $0.post?.id.description ?? "~" }
            }
        }
    }
}
