import Foundation
import Quire
import Testing

@testable import QuireDumps

/// Chains of recorded pages end contiguous exactly where the recorded links say so.
///
/// The recordings are read here by other means than under test (``Recording``), and the expectation is
/// made of nothing but addresses: page q follows page p if p's link to the next page is q's request.
@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct ChainTests {
    struct Chain: Sendable, CustomTestStringConvertible {
        var name: String
        var profile: String
        var order: OrderClass = .keyless
        var read: @Sendable () throws -> [RecordedPage]
        var testDescription: String { name }
    }

    static let chains: [Chain] = [
        Chain(name: "GitHub issues", profile: "github") {
            try Recording.octokit("github/octokit/paginate-issues/normalized-fixture.json")
        },
        Chain(name: "GitHub repositories", profile: "github-search") {
            try Recording.pyGitHub("Search.testSearchRepos")
        },
        Chain(name: "GitHub users", profile: "github-search") {
            try Recording.pyGitHub("Search.testPaginateSearchUsers")
        },
        Chain(name: "Mastodon, down", profile: "mastodon", order: .stable) {
            try Recording.mastodon("test_fetch_remaining")
        },
        Chain(name: "Mastodon, down twice", profile: "mastodon", order: .stable) {
            try Recording.mastodon("test_pagination_iterator")
        },
        Chain(name: "Mastodon, down and up", profile: "mastodon", order: .stable) {
            try Recording.mastodon("test_fetch_next_previous")
        },
        Chain(name: "Reddit", profile: "reddit") { try Recording.reddit() },
        Chain(name: "Bluesky", profile: "bluesky") { try Recording.bluesky() },
        Chain(name: "Stack Overflow", profile: "stackexchange") { try Recording.stackOverflow() },
    ]

    /// All pages, then without each page in turn, then, of short chains, without each two neighbours. The
    /// pages are counted on, as the tool does with files that are not named by numbers: only the links can
    /// tell that one is missing.
    @Test(arguments: chains)
    func endsWhereTheLinksSay(chain: Chain) throws {
        let pages = try chain.read()
        #expect(pages.count >= 2)
        let whole = try check(pages, chain)
        #expect(try check(pages, chain, times: 2) == whole)
        print("\(chain.name): \(pages.count) pages, \(whole.joined().count) posts, \(whole.count) segments")
        for index in pages.indices {
            for width in 1...(pages.count > 12 ? 1 : 2)
            where index + width <= pages.count && width < pages.count {
                var some = pages
                some.removeSubrange(index..<index + width)
                try check(some, chain)
            }
        }
    }

    /// The same without the requests, where the links stand in the bodies or are numbers: now the files
    /// are named by numbers.
    @Test(arguments: [(chains[6], 1), (chains[7], 1), (chains[8], 900)])
    func endsWhereTheNumbersSay(chain: Chain, first: Int) throws {
        let pages = try chain.read()
        for index in pages.indices {
            var some = Array(pages.enumerated())
            some.remove(at: index)
            try check(some.map(\.element), chain, numbers: some.map { first + $0.offset })
        }
    }

    /// The segments of a feed with these pages, which must be those that the links make. `numbers` are
    /// those of files; without them, the pages are counted and their envelopes say the rest. `times` is
    /// how often the crawl goes in.
    @discardableResult
    private func check(
        _ pages: [RecordedPage], _ chain: Chain, numbers: [Int]? = nil, times: Int = 1
    ) throws -> [[String]] {
        let profile = try #require(Profile.named(chain.profile))
        let folder = NSTemporaryDirectory() + "/quire-chain-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/c.quire", options: CacheOptions(durability: .relaxed))
        let options = FeedOptions(order: chain.order, paging: profile.paging, firstPage: profile.firstPage)
        let feed = try cache.feed(named: "chain", options: options)
        let parser = PageParser(profile: profile)
        let given = numbers ?? Array(1...pages.count)
        for _ in 0..<times {
            var crawl = Crawl(startingAt: .head(page: given[0]))
            for (number, page) in zip(given, pages) {
                let envelope = numbers == nil ? page.envelope : nil
                let read = try parser.read(page.bytes, envelope: envelope, name: page.request)
                #expect(read.answer.posts.map(\.id.description) == page.ids, "\(page.request)")
                let response = try #require(try cache.withSnapshot { try read.attached(to: feed, $0) })
                let (answer, label) = response.place(number: number, in: &crawl)
                let outcome = try feed.ingest(answer, page: label, of: &crawl)
                #expect(outcome.isUnchanged == page.ids.isEmpty, "\(page.request): \(outcome.verdict)")
            }
        }
        let (segments, links) = try cache.withSnapshot { snapshot in
            let rows = try snapshot.rows(of: feed, limit: .max)
            let segments = rows.split(whereSeparator: { $0.post == nil }).map { segment in
                segment.compactMap { $0.post?.id.description }
            }
            return (segments, try snapshot.gaps(of: feed).map(\.down))
        }
        let model = LinkModel(pages, isSorted: chain.order == .stable)
        let left = pages.map(\.request)
        #expect(segments == model.segments, "\(chain.name) of \(left)")
        #expect(links == model.gapLinks.map(Link.token), "\(chain.name) of \(left)")
        #expect(try cache.check().isEmpty)
        return segments
    }
}

/// What the links of recorded pages imply.
private struct LinkModel {
    private(set) var segments: [[String]] = []
    /// What the page above each gap names as the next one.
    private(set) var gapLinks: [String] = []

    init(_ pages: [RecordedPage], isSorted: Bool) {
        var nodes: [[String]] = []
        for page in pages where !page.ids.isEmpty && !nodes.contains(page.ids) { nodes.append(page.ids) }
        if isSorted { nodes.sort { Int($0[0])! > Int($1[0])! } }
        for (index, ids) in nodes.enumerated() {
            if index == 0 {
                segments.append(ids)
                continue
            }
            let above = pages.filter { $0.ids == nodes[index - 1] }
            let here = pages.filter { $0.ids == ids }
            if above.contains(where: { page in here.contains { page.next == $0.request } }) {
                segments[segments.count - 1] += ids
            } else {
                segments.append(ids)
                gapLinks.append(above[0].token)
            }
        }
    }
}
