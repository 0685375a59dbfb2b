import Foundation
import Quire
import Testing

@testable import QuirePaging

/// A list with summaries, full bodies when a reader looks, and values that were updated one by one.
@Suite(.timeLimit(.minutes(10))) struct DetailPagingTests {
    private struct Question: Decodable, Equatable {
        var title: String
        var score = 0
        var tags: [String]?
    }

    private static func page(_ detail: Detail, _ version: Int64, _ bodies: [(PostID, String)]) -> PageResponse
    {
        var answer = Answer(next: .end)
        for (id, body) in bodies {
            answer.append(id: id, version: version, detail: detail, body: Array(body.utf8))
        }
        return PageResponse(answer)
    }

    private static func question(_ id: PostID, _ title: String) -> (PostID, String) {
        (id, #"{"title":"\#(title) \#(id)","score":1}"#)
    }

    @Test func lookingAtASummaryFetchesTheWholePost() async throws {
        let (fixture, notes) = (try PagerFixture(FeedOptions(pageSize: 2)), Notes())
        let version = Notes()  // one line for each time that the server's posts changed
        let source = Scripted { request in
            let now = Int64(version.lines.count)
            guard case .bodies(let ids) = request.target else {
                return Self.page(.summary, now, [4, 3, 2, 1].map { Self.question($0, "short") })
            }
            notes.write(ids.map(\.description).joined(separator: " "))
            return Self.page(.full, now, ids.map { Self.question($0, "long") })
        }
        let pager = fixture.pager(source)
        let posts = pager.posts(as: Question.self)
        #expect(try await posts.all().count == 4)
        #expect(try fixture.feed.posts(as: Question.self).find(3)?.decoded().title == "short 3")
        #expect(try posts[3].missing == .bodies([3]))
        #expect(try await posts[3].decoded().title == "long 3")
        #expect(try posts[3].missing == nil)
        #expect(try await posts[3].decoded().title == "long 3")
        #expect(notes.lines.count == 1)
        _ = try await pager.refresh()  // nothing has changed
        #expect(try await posts[3].decoded().title == "long 3")
        #expect(notes.lines.count == 1)
        version.write("changed")
        _ = try await pager.refresh()
        #expect(try fixture.feed.posts(as: Question.self).find(3)?.row.isOutdated == true)
        #expect(try await posts[3].decoded().title == "long 3")
        #expect(notes.lines.count == 2)
        #expect(try fixture.feed.posts(as: Question.self).find(3)?.row.isOutdated == false)
        #expect(try fixture.picture == "[4 3 2 1] |end")
        #expect(try fixture.feed.cache.check().isEmpty)
    }

    @Test func updatedFieldsAreSeenByTheModel() async throws {
        let fixture = try PagerFixture(FeedOptions())
        var answer = Answer(next: .end)
        for (id, version) in [(1, 5), (2, 5), (3, nil)] as [(UInt64, Int64?)] {
            answer.append(
                id: PostID(id), version: version, body: Array(Self.question(PostID(id), "q").1.utf8))
        }
        _ = try fixture.feed.ingest(answer, for: try #require(try fixture.feed.plan(.head).request).ticket)
        let cache = fixture.feed.cache
        let fields = ["score": Array("7".utf8), "title": Array("new".utf8), "tags": Array(#"["a"]"#.utf8)]
        _ = try cache.update(1, fields: fields, version: 5)
        _ = try cache.update(2, fields: fields, version: 4)  // the body is newer
        _ = try cache.update(3, fields: ["score": [0xFF]], version: 0)
        try await fixture.feed.reading.mark([1, 2])
        let posts = fixture.feed.posts(as: Question.self)
        #expect(try posts.find(1)?.decoded() == Question(title: "new", score: 7, tags: ["a"]))
        #expect(try posts.find(1)?.bytes == Array(Self.question(1, "q").1.utf8))
        #expect(try posts.find(2)?.decoded() == Question(title: "q 2", score: 1))
        #expect(try posts.find(2)?.fields == [:])
        #expect(throws: PostDecodingError.self) { try posts.find(3)?.decoded() }
        #expect(try fixture.feed.reading.areRead([1, 2, 3]) == [true, true, false])
    }
}
