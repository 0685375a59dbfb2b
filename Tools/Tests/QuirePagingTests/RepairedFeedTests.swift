import FlyingFox
import Foundation
import LoopbackServers
import QuireHTTP
import Testing

@_spi(Unstable) @testable import Quire
@testable import QuirePaging
@testable import TestSupport

/// A repair lost posts of what the server goes on calling unmodified: the next refresh fetches them all the
/// same.
@Suite(.timeLimit(.minutes(10))) struct RepairedFeedTests {
    /// The first page stands in chunks of two posts; one of them is lost.
    @Test(arguments: 0..<3)
    func lostPostsOfTheFirstPageAreFetched(chunk: Int) async throws {
        let posts = [5, 4, 3, 2, 1].map { #"{"id":"\#($0)","key":\#($0),"body":{"id":\#($0)}}"# }
        let page = #"{"posts":[\#(posts.joined(separator: ","))],"next":"below 1"}"#
        let server = try await LoopbackServer.start { request in
            request.headers[HTTPHeader("If-None-Match")] == "\"x\""
                ? .json("", status: 304) : .json(page, headers: ["ETag": "\"x\""])
        }
        let options = FeedOptions(order: .stable, pageSize: 5)
        let source = try WireFeed(options).source(server.address)
        try await Self.losing(chunk, options, source, back: "[5 4 3 2 1]")
    }

    /// A list of ids, whose order no page says.
    @Test(arguments: 0..<3)
    func lostIDsAreFetched(chunk: Int) async throws {
        let server = Scripted { request in
            var response = PageResponse.page([5, 4, 3, 2, 1], next: .end)
            if request.validators?.etag == "x" { response.content = .notModified }
            response.validators = Validators(etag: "x")
            return response
        }
        let options = FeedOptions(order: .keyless, paging: .ids, pageSize: 5)
        try await Self.losing(chunk, options, server, back: "[5 4 3 2 1]")
    }

    /// Fills a feed, takes a chunk of it out of the file, repairs that, and asks again.
    private static func losing(
        _ chunk: Int, _ options: FeedOptions, _ source: any PagingSource, back: String
    ) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = CacheOptions(durability: .relaxed, mapSize: 1 << 22)
        settings.tuning.chunkLimit = 2
        let first = try Cache(at: folder + "/before", options: settings).feed(named: "f", options: options)
        let pager = Pager(first, source: source, clock: TestClock().pagerClock())
        #expect(try await pager.refresh().verdict == .ok)
        #expect(try await pager.refresh() == .notModified)
        let damaged = folder + "/damaged"
        try FileManager.default.copyItem(atPath: folder + "/before", toPath: damaged)
        try Self.lose(chunk, in: damaged, settings)
        #expect(try !Cache.repair(at: damaged).isSound)
        let feed = try Cache(at: damaged, options: settings).feed(named: "f", options: options)
        #expect(try picture(of: feed) != back)
        let again = Pager(feed, source: source, clock: TestClock().pagerClock())
        #expect(try await again.refresh() != .notModified)
        #expect(try picture(of: feed) == back)
        #expect(try await again.refresh() == .notModified)
        #expect(try feed.cache.check().isEmpty)
    }

    private static func lose(_ chunk: Int, in path: String, _ settings: CacheOptions) throws {
        let cache = try Cache(at: path, options: settings)
        try cache.environment.write { transaction in
            var positions: [UInt64] = []
            try ChunkReader(transaction: transaction, feed: 1).eachChunkSize { at, _, _ in
                positions.append(at)
            }
            try transaction.delete(.chunks(of: 1), NumberKey(positions[chunk]))
        }
    }

    /// `[5 4] ~ [1]`, without what lies beyond either end.
    private static func picture(of feed: Feed) throws -> String {
        let rows = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: 99) }
        let words = rows.map { row in if case .post(let post) = row { "\(post.id)" } else { "] ~ [" } }
        return "[\(words.joined(separator: " "))]".replacing(" ] ~ [ ", with: "] ~ [")
    }
}
