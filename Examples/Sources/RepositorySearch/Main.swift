import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

/// Infinite scroll of a repository search: pages follow the links of the response's headers, interceptors
/// rewrite and log requests, the list always knows what it is doing, and no failure is the end of it.
@main struct RepositorySearch {
    /// What the screen shows below the rows.
    enum State: Equatable {
        case idle, loading, end
        case failed(String)
    }

    /// The list of one query. Other queries are other feeds, so no cache mixes them up.
    @MainActor final class SearchList {
        let feed: Feed
        let pager: Pager
        private(set) var state = State.idle { didSet { history.append(state) } }
        private(set) var history: [State] = []

        init(_ query: String, in cache: Cache, from server: String, log: Shared<[String]>) throws {
            let profile = Profile.named("github-search")!
            feed = try cache.feed(named: "search \(query)", options: profile.options)
            let source = try HTTPSource(
                "\(server)/search/repositories?q={q}&per_page={limit}", profile: profile,
                prepare: { $0.setValue("Bearer secret", forHTTPHeaderField: "Authorization") })
            let tagging = Interceptor { request, next in
                var request = request
                request.parameters["q"] = query
                return try await next(request)
            }
            let watching = Interceptor(observe: { request, result in
                guard case .success(let result) = result else { return }
                log.change { $0.append("\(request.place): \(result)") }
            })
            pager = Pager(
                feed, source: source,
                interceptors: [watching, .answeringFresh(within: .seconds(600)), tagging],
                options: PagerOptions(pageSize: 5, retries: RetryPolicy(attempts: 1)))
        }

        func refresh() async { await run { try await self.pager.refresh() } }

        /// The row with this index came into view.
        func loadMore(near index: Int) async {
            let count = (try? feed.cache.withSnapshot { try $0.info(of: self.feed).posts }) ?? 0
            guard index + 2 >= count, state != .end, state != .loading else { return }
            await run { try await self.pager.append() }
        }

        private func run(_ body: () async throws -> PageResult) async {
            state = .loading
            do {
                state = try await body() == .refused(.end) ? .end : .idle
            } catch {
                state = .failed("\(error)".components(separatedBy: ": ").last ?? "")
            }
        }
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
            let list = try SearchList("cache", in: try Cache(at: path), from: server.address, log: log)
            await list.refresh()
            await list.refresh()
            print("pulled twice, asked once:", server.takeRequests())
            isDown.value = true
            await list.loadMore(near: 4)
            print("the server is down:", list.state)
            isDown.value = false
            async let first: Void = list.loadMore(near: 4)
            async let second: Void = list.loadMore(near: 4)
            _ = await (first, second)
            print("two rows came into view: ", try list.feed.picture, list.state)
            _ = server.takeRequests()
            while list.state != .end { await list.loadMore(near: 11) }
            print("scrolled to the end:     ", try list.feed.picture, list.state)
            print("pages asked for at last: ", server.takeRequests())
            for line in log.value { print("log:", line) }
        }
    }
}
