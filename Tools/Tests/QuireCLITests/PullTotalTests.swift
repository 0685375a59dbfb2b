import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// Servers that say how many posts a list has, and show fewer, as many, or say nothing.
@Suite("quire pull and the number of posts that a server counts", .timeLimit(.minutes(10)))
struct PullTotalTests {
    /// The manner in which a server pages and counts.
    enum Manner: String, CaseIterable {
        case algolia, gitHub, stackExchange, elastic, plain

        var path: String {
            switch self {
            case .algolia: "/api/v1/search_by_date?hitsPerPage=100"
            case .gitHub: "/search/issues?q=x&per_page=100"
            case .stackExchange: "/2.3/questions?filter=total&pagesize=100"
            case .elastic, .plain: "/list?page={page:1}&size=100"
            }
        }

        /// How many rows a request asks for.
        private func size(_ request: HTTPRequest) -> Int {
            ["hitsPerPage", "per_page", "pagesize", "size"].lazy
                .compactMap { request.query[$0].flatMap { Int($0) } }.first ?? 100
        }

        /// The row at which the page of a request begins.
        func start(_ request: HTTPRequest) -> Int {
            let first = self == .algolia ? 0 : 1
            return (request.query["page"].flatMap { Int($0) }.map { $0 - first } ?? 0) * size(request)
        }

        /// The page that a request asks for, with the number that the server counts.
        func page(
            for request: HTTPRequest, of ids: some Collection<Int>, total: String?
        ) -> HTTPResponse {
            let (start, size) = (start(request), size(request))
            let shown = ids.dropFirst(start).prefix(size)
            let (number, pages) = (start / size, (ids.count + size - 1) / size)
            let isMore = number + 1 < pages
            func rows(_ row: (Int) -> String) -> String { "[\(shown.map(row).joined(separator: ","))]" }
            func count(_ name: String) -> String { total.map { #""\#(name)": \#($0), "# } ?? "" }
            switch self {
            case .algolia:
                let hits = rows { #"{"objectID": "\#($0)", "created_at_i": \#(1_700_000_000 + $0)}"# }
                return .json(
                    #"{"hits": \#(hits), \#(count("nbHits"))"page": \#(number), "nbPages": \#(pages)}"#)
            case .gitHub:
                let items = rows { #"{"id": \#($0), "url": "https://api.github.com/issues/\#($0)"}"# }
                let link = #"</search/issues?q=x&per_page=100&page=\#(number + 2)>; rel="next""#
                return .json(
                    #"{\#(count("total_count"))"incomplete_results": false, "items": \#(items)}"#,
                    headers: isMore ? ["Link": link] : [:])
            case .stackExchange:
                let items = rows { #"{"question_id": \#($0), "last_activity_date": \#(1_700_000_000 + $0)}"# }
                return .json(#"{"items": \#(items), \#(count("total"))"has_more": \#(isMore)}"#)
            case .elastic:
                let hits = rows { #"{"_id": "p\#($0)", "_score": 1, "_source": {"title": "t\#($0)"}}"# }
                let value = total.map { #""total": {"value": \#($0), "relation": "eq"}, "# } ?? ""
                return .json(#"{"took": 1, "hits": {\#(value)"max_score": 1, "hits": \#(hits)}}"#)
            case .plain:
                let items = rows { #"{"id": \#($0), "title": "t\#($0)"}"# }
                return .json(#"{"data": \#(items), "meta": {\#(count("total"))"size": 100}}"#)
            }
        }
    }

    /// A server of a list that it shows down to `limit` rows. `count` is called once for each request.
    private static func server(
        _ manner: Manner, posts: Int, limit: Int = .max,
        count: @escaping @Sendable (_ number: Int, _ start: Int) -> String?
    ) async throws -> LoopbackServer {
        let requests = Mutex(0)
        return try await LoopbackServer.start { request in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            let ids = (1...posts).reversed().prefix(limit)
            return manner.page(for: request, of: ids, total: count(number, manner.start(request)))
        }
    }

    private func end(_ run: Run) throws -> [String: Any] {
        try #require(try run.objects().last { $0["type"] as? String == "end" }, "\(run)")
    }

    @Test("a list that ends long before its total is not called whole", arguments: Manner.allCases)
    func limited(manner: Manner) async throws {
        let server = try await Self.server(manner, posts: 1_300, limit: 1_000) { _, _ in "1300" }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + manner.path, "--exit-code")
        let words = "not whole: the server counts 1,300 posts"
        #expect(first.status == 1 && first.out.contains("f: 1,000 posts"), "\(first)")
        #expect(first.out.contains(words), "\(first)")
        let reason = "the list ends with 1,000 posts here, and the server counts 1,300: "
        #expect(first.out.contains("  stopped: \(reason)"), "\(first)")
        let second = try await box.pull("f", "--json")
        let line = try end(second)
        #expect(line["whole"] as? Bool == false && line["stopped"] as? String == "stuck", "\(second)")
        #expect(line["total"] as? Int == 1_300 && line["posts"] as? Int == 1_000, "\(second)")
        #expect((line["reason"] as? String)?.hasPrefix(reason) == true && second.status == 0, "\(second)")
        // The cache has what the server showed, and no gap.
        #expect(line["gaps"] as? Int == 0 && line["tail_end"] as? Bool == true, "\(second)")
        let ids = (301...1_300).reversed().map { manner == .elastic ? "p\($0)" : "\($0)" }
        #expect(try await box.rows(of: "f") == ids)
        #expect(try await box.other("gaps", box.cache, "f", "--exit-code").status == 0)
        #expect(try await box.other("check", box.cache).status == 0)
    }

    /// Ranked lists are never whole.
    private static let sorted = Manner.allCases.filter { [.algolia, .stackExchange].contains($0) }

    @Test("a total that the posts reach, or none, changes nothing", arguments: sorted, ["250", nil])
    func honest(manner: Manner, total: String?) async throws {
        let server = try await Self.server(manner, posts: 250) { _, _ in total }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + manner.path, "--exit-code")
        #expect(run.status == 0 && run.out.hasSuffix("whole: no gaps, head closed, end reached\n"), "\(run)")
        let line = try end(try await box.pull("f", "--json"))
        #expect(line["whole"] as? Bool == true && line["stopped"] as? String == "whole")
        #expect(line["total"] as? Int == total.flatMap { Int($0) })
    }

    @Test("posts that the server counts and hides are said, and no failure", arguments: sorted)
    func hidden(manner: Manner) async throws {
        let server = try await Self.server(manner, posts: 250) { _, _ in "253" }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + manner.path, "--exit-code")
        let words = "whole: no gaps, head closed, end reached; the server counts 3 more\n"
        #expect(run.status == 0 && run.out.hasSuffix(words) && !run.out.contains("not whole"), "\(run)")
    }

    /// What a server counts in the request with this number, for the page at this row.
    enum Counting: String, CaseIterable {
        case newPostsCome, postsAreDeleted, whatIsOnThePage, whatIsBelowItsTop, noneBeyond

        func total(_ number: Int, _ start: Int) -> String? {
            switch self {
            case .newPostsCome: "\(250 + 40 * (number - 1))"
            case .postsAreDeleted: "\(290 - min(40, 40 * (number - 1)))"
            case .whatIsOnThePage: "\(min(100, 250 - start))"
            case .whatIsBelowItsTop: "\(250 - start)"
            case .noneBeyond: start < 250 ? "250" : "0"
            }
        }
    }

    @Test("totals that change while the work goes on are no reason for doubt", arguments: Counting.allCases)
    func changing(counting: Counting) async throws {
        let server = try await Self.server(.stackExchange, posts: 250, count: counting.total)
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + Manner.stackExchange.path)
        #expect(run.status == 0 && run.out.hasSuffix("whole: no gaps, head closed, end reached\n"), "\(run)")
    }

    @Test("an unknown API that ends before its total, and says 0 or no number later, is not called whole")
    func nothingBeyond() async throws {
        let server = try await Self.server(.plain, posts: 300, limit: 200) { _, start in
            start == 0 ? "300" : start == 100 ? #""many""# : "0"
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + Manner.plain.path)
        #expect(run.out.contains("not whole: the server counts 300 posts"), "\(run)")
    }

    @Test("a total is known in later calls whose first page has not changed")
    func notModified() async throws {
        let server = try await LoopbackServer.start { request in
            let isKnown = request.headers[HTTPHeader("If-None-Match")] == "\"1\""
            if isKnown { return .json("", status: 304) }
            let manner = Manner.algolia
            var page = manner.page(for: request, of: (301...1_300).reversed(), total: "1300")
            page.headers[HTTPHeader("ETag")] = "\"1\""
            return page
        }
        let box = try Sandbox()
        _ = try await box.pull("f", server.address + Manner.algolia.path)
        let run = try await box.pull("f", "--json")
        let line = try end(run)
        #expect(line["requests"] as? Int == 1 && line["total"] as? Int == 1_300, "\(run)")
        #expect(line["whole"] as? Bool == false, "\(run)")
    }

    @Test("a server that refuses what is beyond its limit has its total said, too")
    func refused() async throws {
        let server = try await LoopbackServer.start { request in
            let manner = Manner.stackExchange
            if manner.start(request) >= 200 {
                return .json(#"{"error_id": 403, "error_message": "page above 2"}"#, status: 400)
            }
            return manner.page(for: request, of: (1...1_300).reversed(), total: "1300")
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + Manner.stackExchange.path)
        #expect(run.status == 65 && run.out.contains("the server counts 1,300 posts"), "\(run)")
        #expect(run.out.contains("page above 2"), "\(run)")
    }

    @Test(
        "how many posts a server may hide",
        arguments: [(0, 1), (4, 1), (15, 3), (50, 10), (1_000, 10), (1_300, 13), (40_000, 400)])
    func tolerance(total: Int, most: Int) { #expect(ListTotal.tolerance(of: total) == most) }
}
