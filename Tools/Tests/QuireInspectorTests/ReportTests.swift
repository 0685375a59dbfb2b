import Foundation
import Quire
import Testing

@testable import QuireInspector

@Suite("The report")
struct ReportTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func html(hasBodies: Bool = true) throws -> String {
        let report = Report(hasBodies: hasBodies, made: 1_700_000_100_000)
        return String(decoding: try report.html(of: test.cache, feeds: test.cache.feeds()), as: UTF8.self)
    }

    /// What the page reads.
    private func data(_ html: String) throws -> [String: Any] {
        let start = try #require(html.range(of: "id=\"data\">"))
        let end = try #require(html.range(of: "</script>", range: start.upperBound..<html.endIndex))
        let json = Data(html[start.upperBound..<end.lowerBound].utf8)
        return try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private func firstFeed(_ html: String) throws -> [String: Any] {
        let feeds = try #require(try data(html)["feeds"] as? [[String: Any]])
        return try #require(feeds.first)
    }

    @Test("no text of a cache begins a tag or ends the data")
    func escaping() throws {
        let tags = try html().components(separatedBy: "<script").count
        let hostile = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> & \u{2028}"
        let feed = try test.cache.feed(
            named: hostile, options: FeedOptions(order: .keyless, paging: .cursor, collection: hostile))
        let request = try #require(try feed.plan(.head).request)
        var answer = Answer(next: .token(hostile))
        answer.append(id: try #require(PostID(hostile)), body: Array(hostile.utf8))
        _ = try feed.ingest(answer, for: request.ticket)
        let html = try html()
        #expect(html.components(separatedBy: "<script").count == tags)
        #expect(!html.contains("alert(1)</script>") && !html.contains("<img src=x"))
        let content = try firstFeed(html)
        let rows = try #require(content["rows"] as? [[String: Any]])
        #expect(content["name"] as? String == hostile && rows[0]["id"] as? String == hostile)
        #expect((rows[0]["body"] as? [String: Any])?["text"] as? String == hostile)
    }

    @Test("only what has the nonce runs, and nothing is asked for")
    func policy() throws {
        let (first, second) = (try html(), try html())
        let nonce = try #require(first.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)?.1)
        #expect(!second.contains(nonce))
        #expect(first.contains("default-src 'none'"))
        #expect(first.firstMatch(of: /(src|href)="(https?:)?\/\//) == nil)
    }

    @Test("a body of 10 MB is cut, and says so")
    func largeBody() throws {
        _ = try test.feed("a", pages: 1, of: 1) { _ in Array(repeating: UInt8(ascii: "x"), count: 10 << 20) }
        let html = try html()
        #expect(html.utf8.count < 200_000)
        let rows = try #require(try firstFeed(html)["rows"] as? [[String: Any]])
        let body = try #require(rows[0]["body"] as? [String: Any])
        #expect(body["cut"] as? Bool == true && body["bytes"] as? Int == 10 << 20)
    }

    @Test("without bodies nothing of them is in it")
    func withoutBodies() throws {
        _ = try test.feed("a", pages: 2, of: 5) { _ in Array("a secret".utf8) }
        #expect(try html().contains("a secret"))
        let html = try html(hasBodies: false)
        #expect(!html.contains("a secret"))
        #expect(try data(html)["hasBodies"] as? Bool == false)
    }

    @Test("a gap comes with its reason, its link and the rows around it")
    func gaps() throws {
        _ = try test.feed("a", pages: 20, of: 10, missing: [5])
        let content = try firstFeed(html())
        let map = try #require(content["map"] as? [String: Any])
        let gap = try #require((map["gaps"] as? [[String: Any]])?.first)
        #expect(gap["why"] as? String == "missing-page" && gap["rank"] as? Int == 40)
        #expect((gap["down"] as? [String: Any])?["text"] as? String == "page=5")
        let ranks = try #require(content["rows"] as? [[String: Any]]).compactMap { $0["rank"] as? Int }
        #expect(ranks.contains(39) && ranks.contains(40) && ranks.contains(41) && !ranks.contains(56))
        let segments = try #require(map["segments"] as? [[String: Any]])
        #expect(segments.map { $0["rows"] as? Int } == [40, 150])
        #expect(segments.map { $0["first"] as? String } == ["200", "150"])
    }

    @Test("its size is bounded, however long the feed and however many the gaps")
    func size() throws {
        _ = try test.feed("long", pages: 2_600, of: 4, missing: Set(stride(from: 3, to: 2_403, by: 4))) {
            id in
            Array(String(repeating: "body \(id) ", count: 50).utf8)
        }
        let html = try html()
        #expect(html.utf8.count < 2_500_000)
        let map = try #require(try firstFeed(html)["map"] as? [String: Any])
        #expect((map["bars"] as? [[Int]])?.count ?? 0 <= 2_001)
        #expect(map["gapCount"] as? Int == 600 && (map["gaps"] as? [Any])?.count == 500)
    }

    @Test("a cache without feeds, and a feed without posts")
    func empty() throws {
        #expect(try data(html())["feedCount"] as? Int == 0)
        _ = try test.cache.feed(named: "empty")
        let map = try #require(try firstFeed(html())["map"] as? [String: Any])
        #expect(map["rows"] as? Int == 0)
    }
}
