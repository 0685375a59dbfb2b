import Foundation
import Quire
import Testing

@testable import QuirePaging

/// Stored bytes as values of a model.
@Suite(.timeLimit(.minutes(10))) struct TypedPostsTests {
    private struct Question: Codable, Equatable {
        var title: String
        var score: Int
    }

    private func fixture(_ bodies: [String]) throws -> PagerFixture {
        let fixture = try PagerFixture(FeedOptions())
        var answer = Answer(next: .token("more"))
        for (at, body) in bodies.enumerated() {
            answer.append(id: PostID(UInt64(at + 1)), body: Array(body.utf8))
        }
        let request = try #require(try fixture.feed.plan(.head).request)
        _ = try fixture.feed.ingest(answer, for: request.ticket)
        return fixture
    }

    @Test func postsAreDecodedOneByOne() throws {
        let fixture = try fixture([
            #"{"title":"a","score":1}"#, #"{"title":"b"}"#, "", #" {"title":"c","score":3}"#,
        ])
        try fixture.feed.evict([3])
        let posts = fixture.feed.posts(as: Question.self)
        let rows = try posts.rows(limit: 10)
        #expect(rows.map { $0.post?.id } == [1, 2, nil, 4])
        #expect(rows[2].gap != nil)
        #expect(try rows[0].post?.decoded() == Question(title: "a", score: 1))
        #expect(rows[1].post.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"title":"b"}"#)
        do {
            _ = try rows[1].post?.decoded()
            Issue.record("a question without score")
        } catch {
            #expect(error.description.hasPrefix("feed main: post 2: json: "))
        }
        #expect(try posts.rows(below: 2, limit: 10).compactMap { $0.post?.id } == [4])
        #expect(try posts.find(4)?.decoded().score == 3)
        #expect(try posts.find(9) == nil)
        #expect(throws: QuireError.self) { try posts.rows(below: 9, limit: 1) }
    }

    @Test func aMissingBodyIsSaidSo() throws {
        let fixture = try fixture([""])
        let post = try #require(try fixture.feed.posts(as: Question.self).find(1))
        #expect(throws: PostDecodingError(feed: "main", id: 1, reason: "its body is missing")) {
            try post.decoded()
        }
    }

    @Test func severalFormatsGiveOneModel() throws {
        struct Old: Decodable { let name: String, votes: Int }
        let formats: [WireFormat<Question>] = [
            .json(
                "old", recognises: { String(decoding: $0, as: UTF8.self).contains("\"votes\"") },
                of: Old.self, model: { Question(title: $0.name, score: $0.votes) }),
            .json(),
            WireFormat("rss", recognises: { $0.starts(with: Array("<item>".utf8)) }) { bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                return Question(title: text.replacing(/<[^>]*>/, with: ""), score: 0)
            },
        ]
        let fixture = try fixture([
            #"{"title":"a","score":1}"#, #"{"name":"b","votes":2}"#, "<item><title>c</title></item>", "?",
        ])
        let typed = fixture.feed.posts(as: Question.self, formats: formats)
        let posts = try typed.rows(limit: 9).compactMap(\.post)
        #expect(try posts.prefix(3).map { try $0.decoded().title } == ["a", "b", "c"])
        #expect(
            throws: PostDecodingError(
                feed: "main", id: 4, reason: "no format recognises its body: old, json, rss")
        ) { try posts[3].decoded() }
    }
}
