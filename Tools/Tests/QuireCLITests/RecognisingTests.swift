import Foundation
import Testing

@Suite("quire without options", .timeLimit(.minutes(10)))
struct RecognisingTests {
    private static let files: [(file: String, profile: String, posts: Int)] = [
        ("askbot/perceval/askbot_api_questions.json", "as askbot", 1),
        ("bandcamp/pitch_black_discography.json", "without a profile", 16),
        ("bluesky/atproto.dart/getFollowers.json", "as bluesky", 50),
        ("discourse/discourse_api/hot.json", "as discourse", 3),
        ("github/octokit/paginate-issues/pages/001.json", "as github", 3),
        ("gitlab/perceval/issue_page_1", "as gitlab", 2),
        ("graphql/cli/issue/list/fixtures/issueSearch.json", "as graphql", 3),
        ("hn/garrett/hn.json", "as hackernews", 500),
        ("itunes/http_service/itunes.json", "as itunes", 50),
        ("mastodon/mastodon.py/pages/test_fetch_next_previous/002.json", "as mastodon", 5),
        ("matrix/nio/room_messages.json", "as matrix", 3),
        ("mattermost/perceval/mattermost_posts.json", "as mattermost", 5),
        ("mediawiki/perceval/mediawiki_pages_all.json", "as mediawiki", 3),
        ("meetup/perceval/meetup_events.json", "as meetup", 2),
        ("nostr/old-new.json", "as nostr", 2),
        ("reddit/praw/pages/TestListingGenerator.test_exhaust_items/001.json", "as reddit", 100),
        ("rss/rsparser/DaringFireball.json", "as jsonfeed", 48),
        ("rss/rsparser/DaringFireball.rss", "", 47),
        ("stackdump/coffee-2015-03/Posts.xml", "", 0),
        ("stackexchange/so-activity-2018/pages/1.json", "as stackexchange", 30),
        ("stackexchange/pilha-api1/users.json", "as stackexchange1", 30),
        ("twitter/dart-pagination/data/tweets/dataset_1.json", "as twitter2", 5),
        ("twitter/simdjson/twitter.json", "as twitter1", 100),
        ("wordpress/wp-pages.json", "as wordpress", 10),
    ]

    @Test("a response of every API goes in through a pipe", .enabled(if: Shared.fixtures != nil))
    func pipe() throws {
        for (file, profile, posts) in Self.files {
            let box = try Sandbox()
            let run = try box.shell("cat '\(Shared.path(file))' | $Q ingest $C feed -")
            #expect(run.status == 0, "\(file): \(run.err)")
            let said = run.lines.filter { $0.hasPrefix("  read ") }
            #expect(
                profile.isEmpty ? said.isEmpty : said.count == 1 && said[0].hasPrefix("  read \(profile): "),
                "\(file): \(said)")
            let feed = try box.quire("feeds", box.cache, "--json").object()
            #expect(posts == 0 ? feed["posts"]! > 0 : feed["posts"] == posts, "\(file)")
            #expect(try box.quire("check", box.cache).status == 0, "\(file)")
        }
    }

    @Test("polls of a list of ids: the last one is the order, and what it lacks has left")
    func idLists() throws {
        let box = try Sandbox()
        try box.write("1.json", "[5, 4, 3, 2]")
        try box.write("2.json", "[6, 4, 5, 3]")
        try box.write("3.json", "[]")
        let run = try box.quire("ingest", box.cache, "top", box.path("1.json"), box.path("2.json"))
        #expect(
            run.status == 0 && run.lines.suffix(2) == ["  4 posts have no body yet", "  now in sequence"],
            "\(run)")
        #expect(run.lines.dropFirst().first == "  8 received: 5 new, 3 known already")
        try box.write("4.json", "[6, 4, 5, 3]")
        let same = try box.quire("ingest", box.cache, "top", box.path("2.json"), box.path("4.json"))
        #expect(same.status == 0 && same.err.isEmpty, "a poll may show what the one before showed: \(same)")
        #expect(try box.quire("export", box.cache, "top", "--ids").lines == ["6", "4", "5", "3"])
        let empty = try box.quire("ingest", box.cache, "top", box.path("3.json"))
        #expect(empty.status == 65 && empty.err.contains("although posts are cached"), "\(empty)")
        let again = try box.quire("ingest", box.cache, "top", box.path("1.json"), "--resume")
        #expect(again.status == 0 && again.err.contains("nothing to resume"))
        #expect(try box.quire("export", box.cache, "top", "--ids").lines == ["5", "4", "3", "2"])
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("what was found is remembered with the feed, and another page is read in the same way")
    func remembered() throws {
        let box = try Sandbox()
        func page(_ from: Int) throws -> String {
            let rows = (0..<6).map {
                #"{"guid": "g\#(from - $0)", "created_at": \#(1_700_000_000 + from - $0)}"#
            }
            try box.write("\(from).json", #"{"rows": [\#(rows.joined(separator: ", "))]}"#)
            return box.path("\(from).json")
        }
        let first = try box.quire("ingest", box.cache, "f", page(50))
        #expect(first.lines.contains { $0.contains("order bump by created_at: created_at descends") })
        let second = try box.quire("ingest", box.cache, "f", page(53))
        #expect(second.status == 0 && !second.out.contains("read without"))
        let ids = try box.quire("export", box.cache, "f", "--ids").lines
        #expect(ids == (45...53).reversed().map { "g\($0)" })
        try box.write("x.json", #"{"items": [{"question_id": 1}], "has_more": true}"#)
        let other = try box.quire("ingest", box.cache, "f", box.path("x.json"))
        #expect(other.status == 65 && other.err.contains("no rows, where profile unknown has its list"))
        #expect(other.err.contains("it looks like a response for --profile stackexchange"))
    }

    @Test("a list without an API keeps its posts and bodies, whatever --id and --key name")
    func namedFields() throws {
        let box = try Sandbox()
        let rows = (1...3).reversed().map { #"{"pid": \#($0), "changed": \#($0)0, "body": "text \#($0)"}"# }
        try box.write("l.ndjson", rows.joined(separator: "\n"))
        try box.write("1.json", "[\(rows[0]), \(rows[1])]")
        try box.write("2.json", "[\(rows[2])]")
        for (number, files) in [["l.ndjson"], ["1.json", "2.json"]].enumerated() {
            for (name, order) in [("any", []), ("bump", ["--order", "bump"])] {
                let feed = "\(name)\(number)"
                let fields = ["--id", "pid", "--key", "changed"] + order
                let run = try box.quire(["ingest", box.cache, feed] + files.map(box.path) + fields)
                #expect(run.status == 0 && run.out.contains("read without a profile: "), "\(run)")
                #expect(!run.out.contains("no body") && run.out.contains("0 moved, 0 removed"), "\(run)")
                #expect(try box.quire("export", box.cache, feed, "--ndjson").lines.count == 3)
            }
        }
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("a response that does not say what it is names the option that settles it")
    func refused() throws {
        let box = try Sandbox()
        try box.write("r.json", #"{"a": [{"id": 1}, {"id": 2}], "b": [{"id": 3}, {"id": 4}]}"#)
        let run = try box.quire("ingest", box.cache, "f", box.path("r.json"))
        #expect(run.status == 65 && run.errLines.count == 1 && run.err.contains("--items names"))
        #expect(!FileManager.default.fileExists(atPath: box.cache))
        #expect(try box.quire("ingest", box.cache, "f", box.path("r.json"), "--items", "b").status == 0)
        #expect(try box.quire("export", box.cache, "f", "--ids").lines == ["3", "4"])
    }

    @Test("many bad pages are a summary by kind")
    func manyErrors() throws {
        let box = try Sandbox()
        let bad = (0..<5_000).map { $0 % 5 == 0 ? "[\($0)]" : #"{"items": [{"x": \#($0)}]}"# }
        let good = #"{"items": [{"question_id": 1}], "has_more": true}"#
        try box.write("r.ndjson", ([good] + bad).joined(separator: "\n"))
        let run = try box.quire("ingest", box.cache, "f", box.path("r.ndjson"))
        #expect(run.status == 65 && run.errLines.count < 20, "\(run.errLines.count)")
        #expect(run.errLines[0].contains("r.ndjson: line 2: "))
        #expect(run.err.contains("4,000 times: line N: item N: no question_id"))
        #expect(run.err.contains("1,000 times: line N: "))
        let all = try box.quire(
            "ingest", box.cache, "g", box.path("r.ndjson"), "--errors-to", box.path("errors"))
        #expect(all.err.isEmpty)
        let lines = try String(contentsOfFile: box.path("errors"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 5_000)
    }

    @Test("--explain reads what ingest reads")
    func explain() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [3, 2, 1])
        let names = [
            "gzip -c 1.json > a.gz; $Q profiles --explain a.gz", "$Q profiles --explain - < 1.json",
            "mkdir d; cp 1.json d; tar cf d.tar d; $Q profiles --explain d.tar", "$Q profiles --explain d",
            "tr -d '\\n' < 1.json > l; (cat l; echo; cat l) > 2.ndjson; $Q profiles --explain 2.ndjson",
        ]
        for line in names {
            let run = try box.shell("cd '\(box.folder)'; \(line)")
            #expect(
                run.status == 0 && run.lines.contains { $0.hasPrefix("stackexchange ") }, "\(line): \(run)")
            #expect(run.out.contains("quire ingest without --profile: read as stackexchange"), "\(line)")
        }
        _ = page
        try box.write("a.xml", "<rss version=\"2.0\"><channel></channel></rss>")
        #expect(
            try box.quire("profiles", "--explain", box.path("a.xml")).out.contains("no profile is needed"))
    }

    @Test("rows without an id are received and counted, and join nothing", arguments: [[], ["--id", "id"]])
    func rowsWithoutID(options: [String]) throws {
        let box = try Sandbox()
        func list(_ count: Int) -> [String] {
            (1...count).reversed().map { "{\($0 % 10 == 1 ? "" : "\"id\": \($0), ")\"at\": \($0)}" }
        }
        try box.write("a.json", "[\(list(100).joined(separator: ", "))]")
        let run = try box.quire(["ingest", box.cache, "a", box.path("a.json")] + options)
        #expect(run.status == 0, "\(run)")
        #expect(run.lines.contains("  100 received: 90 new, 0 known already, 10 without an id"), "\(run)")
        // the last row of each page but the last is one of them
        try box.write("b.jsonl", list(2_500).joined(separator: "\n"))
        let long = try box.quire(["ingest", box.cache, "b", box.path("b.jsonl"), "--json"] + options).object()
        #expect(long["received"] == 2_500 && long["new"] == 2_250 && long["opaque_rows"] == 250)
        #expect(long["duplicates"] == 0 && long["unverified"] == 0 && long["pages"] == 3)
    }

    @Test(
        "responses of an unknown API, one a line, are read as such",
        arguments: [[], ["--id", "id"], ["--format", "responses"], ["--items", "data"]])
    func responsesInLines(options: [String]) throws {
        let box = try Sandbox()
        let lines = (1...3).map { page in
            let rows = (0..<5).map { row in
                let id = 90 - 10 * page - row
                return "{\"id\": \(id), \"at\": \(1_700_000_000 + id)}"
            }
            let next = page < 3 ? "\"/x?page=\(page + 1)\"" : "null"
            return "{\"data\": [\(rows.joined(separator: ", "))], \"next\": \(next)}"
        }
        try box.write("r.jsonl", lines.joined(separator: "\n"))
        let run = try box.quire(["ingest", box.cache, "f", box.path("r.jsonl"), "--exit-code"] + options)
        #expect(run.status == 0 && run.lines.contains { $0.hasPrefix("  15 received: 15 new") }, "\(run)")
        #expect(run.lines.contains { $0.contains("\"data\" is a list of items with \"id\"") }, "\(run)")
        #expect(try box.quire("check", box.cache).status == 0)
        let other = try box.quire("ingest", box.cache, "g", box.path("r.jsonl"), "--id", "nope")
        #expect(other.status == 65, "\(other)")
        #expect(other.err.contains("no item of the list has \"nope\", which --id names"), "\(other)")
    }

    @Test("fill says why a gap is still open")
    func fill() throws {
        let box = try Sandbox()
        let (first, third) = (try box.page("1.json", [30, 29]), try box.page("3.json", [26, 25]))
        _ = try box.quire("ingest", box.cache, "f", first, third)
        let gap = try #require(box.quire("gaps", box.cache, "f", "--json").objects().first?["id"] as? String)
        let known = try box.quire("fill", box.cache, "f", gap, first)
        #expect(known.err.contains("gap \(gap) is still open: "), "\(known)")
        #expect(try box.quire("fill", box.cache, "f", gap, box.page("2.json", [28, 27])).status == 0)
    }
}
