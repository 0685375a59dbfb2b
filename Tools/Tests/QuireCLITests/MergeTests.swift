import Foundation
import Testing

@Suite("quire merge", .timeLimit(.minutes(10)))
struct MergeTests {
    /// Two feeds whose posts have other ids, so that they share none.
    private func makeFeeds() throws -> Sandbox {
        let box = try Sandbox()
        for (name, keys) in [("a", [9, 7, 5]), ("b", [8, 6, 4])] {
            let items = keys.map {
                #"{"question_id": 1\#($0), "last_activity_date": \#($0), "title": "\#(name)\#($0)"}"#
            }
            let list = items.joined(separator: ",")
            try box.write("\(name).json", #"{"items": [\#(list)], "has_more": \#(name == "a")}"#)
            let run = try box.quire(
                "ingest", box.cache, name, box.path("\(name).json"), "--order", "bump", "--key",
                "last_activity_date", "--collection", name)
            try #require(run.status == 0, "\(run.err)")
        }
        return box
    }

    @Test("Its rows are those of the feeds by their keys, down to the first frontier, and on if asked")
    func rows() throws {
        let box = try makeFeeds()
        func words(_ options: String...) throws -> [String] {
            try box.quire(["merge", box.cache, "a", "b", "--json"] + options).objects().map { row in
                if row["type"] as? String == "post" { return row["text"] as? String ?? "" }
                return "\(row["feed"]!) \(row["type"]!)"
            }
        }
        #expect(try words() == ["a9", "b8", "a7", "b6", "a5", "a tail"])
        #expect(try words("--past-frontiers") == ["a9", "b8", "a7", "b6", "a5", "a tail", "b4"])
        #expect(try words("--at-key", "6", "-n", "2") == ["b6", "a5"])
        let table = try box.quire("merge", box.cache, "a", "b").lines
        #expect(table.count == 8 && table[6].hasPrefix("~~~~ a: goes on with"), "\(table)")
        #expect(table.last == "the list ends here; --past-frontiers goes on")
        #expect(try box.quire("merge", box.cache, "b").lines.last == "the end of all feeds")
    }

    @Test("Feeds that cannot be merged are refused with their names")
    func refusals() throws {
        let box = try makeFeeds()
        try box.write("c.json", #"{"items": [{"question_id": 1}], "has_more": false}"#)
        _ = try box.quire("ingest", box.cache, "list", box.path("c.json"), "--order", "keyless")
        for (feeds, words) in [
            (["a", "list"], "feed list is keyless"), (["a", "a"], "feed a is merged with itself"),
            (["a", "nothing"], "no feed nothing"),
        ] {
            let run = try box.quire(["merge", box.cache] + feeds)
            #expect(run.status != 0 && run.err.contains(words), "\(run.err)")
        }
    }
}
