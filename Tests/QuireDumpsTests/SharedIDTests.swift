import Foundation
import Quire
import Testing

@testable import QuireDumps

/// Items of one page that share an id, but are not one post.
@Suite struct SharedIDTests {
    private func recognised(_ rows: [String], list: String = "items") throws -> Recognition {
        let items = rows.joined(separator: ", ")
        let text = #"{"\#(list)": [\#(items)], "has_more": false, "quota_remaining": 200}"#
        return try Recognition(of: Array(text.utf8), name: "r")
    }

    /// Returns the posts that are lost in a page that a profile reads.
    private func shared(_ rows: [String], profile: String = "github") throws -> SharedIDs {
        let profile = try #require(Profile.named(profile))
        let text = "[\(rows.joined(separator: ", "))]"
        let list = profile.items.keys.first.map { #"{"\#($0)": \#(text), "has_more": false}"# } ?? text
        let response = try PageParser(profile: profile).read(Array(list.utf8), name: "r")
        return SharedIDs(in: response.answer, of: profile)
    }

    private let answers = [(901, 77), (902, 77), (903, 77), (904, 55), (905, 55)].map {
        #"{"answer_id": \#($0.0), "question_id": \#($0.1), "last_activity_date": \#(1_700_001_900 - $0.0)}"#
    }

    // MARK: Recognition

    @Test func theItemsOfAnotherListHaveAnIDOfTheirOwn() throws {
        #expect(try recognised(answers).profile.id.path.text == "answer_id")
        #expect(try recognised(answers).sentence.hasPrefix("read as stackexchange: "))
        // No page needs to show that answers share questions: a later one may.
        #expect(try recognised([answers[0], answers[4]]).profile.id.path.text == "answer_id")
        let comments = [1, 2, 3].map { #"{"post_id": \#(90 - $0), "comment_id": \#($0), "score": 0}"# }
        #expect(try recognised(comments).profile.id.path.text == "comment_id")
        let questions = [5, 4].map { #"{"question_id": \#($0), "accepted_answer_id": \#($0 + 100)}"# }
        #expect(try recognised(questions).profile.id.path.text == "question_id")
    }

    /// An API that Quire does not know has no such list of ids, so the items have to show it.
    @Test func anIDThatDifferentItemsShareIsNone() throws {
        let rows = (0..<20).map { #"{"id": \#($0 / 2 * 3), "event_id": \#($0), "is_new": true}"# }
        #expect(try recognised(rows, list: "rows").profile.id.path.text == "event_id")
        // One of thirty is enough.
        let votes = (0..<30).map { #"{"thread_id": \#(max(1, $0)), "vote_id": \#($0), "up": true}"# }
        #expect(try recognised(votes, list: "rows").profile.id.path.text == "vote_id")
    }

    @Test(arguments: [
        // A timeline: two questions, and events with nothing like an id.
        (0..<8).map { #"{"question_id": \#($0 / 4), "creation_date": \#(1_700_000_009 - $0), "type": "v"}"# },
        // Questions and answers in one list.
        [#"{"question_id": 7, "title": "a"}"#, #"{"question_id": 9, "answer_id": 3}"#],
    ])
    func whatHasNoIDIsNotRead(rows: [String]) {
        let error = #expect(throws: DumpError.self) { try recognised(rows) }
        #expect(error?.message.contains("--id names it") == true, "\(String(describing: error))")
    }

    @Test func aPostThatIsShownTwiceIsNoReason() throws {
        let rows = [7, 6, 5, 7].enumerated().map { #"{"question_id": \#($1), "view_count": \#($0)}"# }
        #expect(try recognised(rows).profile.id.path.text == "question_id")
    }

    // MARK: The last line of defence

    @Test func postsThatDifferInWhatAPostKeepsAreOthers() throws {
        let other = try shared(answers, profile: "stackexchange")
        #expect(other.count == 3 && other.field == "answer_id")
        let rows = (0..<30).map { #"{"id": \#(max(1, $0)), "created_at": "2024-01-01T00:00:\#($0 + 10)Z"}"# }
        let times = try shared(rows)
        #expect(times.count == 1 && times.field == nil)
        let inside = (0..<9).map { #"{"id": \#($0 / 8), "node": {"uuid": "u\#($0)"}}"# }
        #expect(try shared(inside).field == "node.uuid")
    }

    @Test func copiesOfAPostAreNone() throws {
        func row(_ id: Int, _ rest: String) -> String {
            #"{"id": \#(id), "created_at": "2024-01-01", \#(rest)}"#
        }
        let first = row(1, #""score": 3, "parent_id": 4, "last_post_id": 5"#)
        #expect(try shared([first, first, first]).count == 0)
        // A sticky post with another counter, another last reply, and an id that came later.
        let later = row(1, #""score": 9, "parent_id": 4, "last_post_id": 6, "poll_id": 8"#)
        #expect(try shared([first, row(2, #""score": 1"#), later]).count == 0)
    }

    /// Where nothing tells, one repetition is a copy, and many are posts.
    @Test func otherBytesAloneTellOnlyInNumbers() throws {
        func rows(_ repeats: Int, of count: Int) -> [String] {
            (0..<count).map { #"{"id": \#(max(0, $0 - repeats)), "text": "\#($0)"}"# }
        }
        #expect(try shared(rows(1, of: 2)).count == 0)
        #expect(try shared(rows(2, of: 20)).count == 0)
        #expect(try shared(rows(2, of: 19)).count == 2 && shared(rows(3, of: 20)).count == 3)
        #expect(try shared(rows(3, of: 20)).field == nil)
    }
}
