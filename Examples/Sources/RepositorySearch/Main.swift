import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

struct Repository: Decodable {
    var id: Int
    var full_name: String
}

/// Infinite scroll of a repository search: pages follow the links of the response's headers, interceptors
/// answer and log requests, the list always knows what it is doing, and no failure is the end of it.
@main struct RepositorySearch {
    /// The list of one query. Another query is another feed.
    @MainActor static func search(
        _ query: String, in cache: Cache, from server: String, log: Shared<[String]>
    ) throws -> FeedModel<Repository> {
        let profile = Profile.named("github-search")!
        let feed = try cache.feed(named: "search", parameters: ["q": query], options: profile.options)
        let source = try HTTPSource(
            "\(server)/search/repositories?q={q}&per_page={limit}", profile: profile,
            prepare: { $0.setValue("Bearer secret", forHTTPHeaderField: "Authorization") })
        let watching = Interceptor(observe: { request, result in
            guard case .success(let result) = result else { return }
            log.change { $0.append("\(request.place): \(result)") }
        })
        let pager = Pager(
            feed, source: source,
            interceptors: [watching, .answeringFresh(within: .seconds(600))],
            options: PagerOptions(pageSize: 5, retries: RetryPolicy(attempts: 1)))
        return try FeedModel(pager, as: Repository.self, reach: 2)
    }

    /// GitHub's search, in small.
    static func reply(_ question: Question, isDown: Bool) -> Reply {
        guard question.headers["authorization"] == "Bearer secret" else { return Reply("{}", status: 401) }
        if isDown { return Reply(#"{"message":"Server Error"}"#, status: 502) }
        let page = question.number("page") ?? 1
        let ids = (1...12).dropFirst((page - 1) * 5).prefix(5)
        let items = ids.map { #"{"id":\#($0),"full_name":"\#(question.query["q"] ?? "")/repo\#($0)"}"# }
        let next = "</search/repositories?q=\(question.query["q"] ?? "")&per_page=5&page=\(page + 1)>"
        return Reply(
            #"{"total_count":12,"items":[\#(items.joined(separator: ","))]}"#,
            headers: page < 3 ? ["Link": "\(next); rel=\"next\""] : [:])
    }

    @MainActor static func main() async throws {
        let isDown = Shared(false)
        let server = try await LocalServer.start { reply($0, isDown: isDown.value) }
        let log = Shared<[String]>([])
        try await withCache { path in
            let list = try search("cache", in: try Cache(at: path), from: server.address, log: log)
            let feed = list.pager.feed
            await list.refresh()
            await list.refresh()
            print("pulled twice, asked once:", server.takeRequests())
            isDown.value = true
            await list.loadMore(near: .post(5))
            print("the server is down:", reason(list.state(at: .tail)))
            await list.loadMore(near: .post(5))
            print("the reader waits, requests:", server.takeRequests().count)
            isDown.value = false
            async let retry: Void = list.retry(.tail)
            async let first: Void = list.loadMore(near: .post(4))
            async let second: Void = list.loadMore(near: .post(5))
            _ = await (retry, first, second)
            print(
                "two rows came into view: ", try feed.picture, list.state(at: .tail),
                server.takeRequests().count)
            while let row = list.rows.last, row.missing != nil { await list.loadMore(near: row.id) }
            print("scrolled to the end:     ", try feed.picture, list.state(at: .tail))
            print("pages asked for at last: ", server.takeRequests())
            print("the last row:", try list.rows.last?.post?.decoded().full_name ?? "none")
            for line in log.value { print("log:", line) }
        }
    }

    /// What the server said, without its address.
    static func reason(_ state: LoadState) -> String {
        "\(state.error.map { "\($0)" } ?? "no error")".components(separatedBy: ": ").last ?? ""
    }
}
