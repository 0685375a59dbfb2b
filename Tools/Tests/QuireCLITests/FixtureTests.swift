import Foundation
import Testing

@Suite("quire with real crawls", .enabled(if: Shared.fixtures != nil), .timeLimit(.minutes(10)))
struct FixtureTests {
    private static let bump = ["--order", "bump", "--key", "last_activity_date", "--json"]

    private func activity(_ numbers: some Sequence<Int>) throws -> [String] {
        let folder = try Shared.path("stackexchange/so-activity-2018/pages")
        return numbers.map { "\(folder)/\($0).json" }
    }

    /// As in expected-stackexchange.tsv: the ids as numbers in order, joined by newlines.
    private func hash(_ feed: String, _ box: Sandbox) throws -> String {
        let run = try box.shell("$Q export $C \(feed) --ids | sort -n | head -c -1 | sha256sum")
        return String(run.out.prefix(16))
    }

    @Test("so-activity-2018, pages 1 to 60, then again, then 900 to 929 on top")
    func stackOverflow() throws {
        let box = try Sandbox()
        let pages = try activity(1...60)
        let first = try box.quire(["ingest", box.cache, "so/active"] + pages + Self.bump).object()
        #expect(first["received"] == 1_800 && first["new"] == 1_727 && first["pages_failed"] == 0)
        #expect(try hash("so/active", box) == "bc9ddb6cdd32b8b4")
        let keys = try box.quire("show", box.cache, "so/active", "-n", "9999", "--json").objects()
            .compactMap { $0["key"] as? Int }
        #expect(keys.count == 1_727 && keys == keys.sorted(by: >))
        // The sum that only bodies of the newest activity give (expected-stackexchange.tsv).
        let scores = try box.quire("export", box.cache, "so/active", "--ndjson").objects()
            .compactMap { $0["score"] as? Int }
        #expect(scores.reduce(0, +) == 9_467)

        let again = try box.quire(["ingest", box.cache, "so/active"] + pages + Self.bump).object()
        #expect(again["new"] == 0 && again["gaps_opened"] == 0 && again["received"] == 1_800)
        #expect(again["unverified"] == first["unverified"])

        let top = try box.quire("show", box.cache, "so/active", "-n", "1", "--json").object().text("id")
        let gaps = try box.quire("gaps", box.cache, "so/active", "--json").objects().count
        let later = try activity(900...929)
        let second = try box.quire(["ingest", box.cache, "so/active"] + later + Self.bump).object()
        #expect(second["received"] == 900 && second["new"] == 900)
        let now = try box.quire("gaps", box.cache, "so/active", "--json").objects().map(JSONObject.init)
        // page 899 is missing above, page 930 below
        #expect(now.count == gaps + 2 && now[0].text("type") == "head")
        #expect(now[1].text("above_post") == top && now[1].text("down") == "page=930")
        #expect(try box.quire("check", box.cache).out == "no findings\n")
    }

    @Test("a file missing in the middle", arguments: [12, 40, 55])
    func missing(number: Int) throws {
        let box = try Sandbox()
        let given = try activity((8...60).filter { $0 != number && $0 != 30 })
        _ = try box.quire(["ingest", box.cache, "a"] + given + Self.bump)
        func links() throws -> [String] {
            try box.quire("gaps", box.cache, "a", "--json").objects().compactMap { $0["down"] as? String }
        }
        #expect(try links().contains("page=\(number)"))
        let run = try box.quire(["ingest", box.cache, "a"] + activity([number]) + Self.bump).object()
        #expect(run["new"] == 30 && run["gaps_closed"] == 1)
        #expect(try !links().contains("page=\(number)"))
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test("seven so-python-tags feeds share 700 posts")
    func pythonTags() throws {
        let box = try Sandbox()
        let folder = try Shared.path("stackexchange/so-python-tags-2022")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(files.count == 7)
        for file in files {
            let run = try box.quire("ingest", box.cache, file, "\(folder)/\(file)", "--json")
            #expect(try run.object()["new"] == 100)
        }
        let stat = try box.quire("stat", box.cache, "--json").object()
        #expect(stat["posts"] == 700 && stat["feeds"] == 7)
        let all = "for f in \(files.joined(separator: " ")); do $Q export $C $f --ids; done"
        let run = try box.shell("\(all) | sort -n | head -c -1 | sha256sum")
        #expect(run.out.hasPrefix("73ae37ece54940bc"))
    }

    @Test("a ranked crawl without page 5, and a folder whose first file is an account")
    func oddFolders() throws {
        let box = try Sandbox()
        let folder = try Shared.path("reddit/praw/pages/TestListingGenerator.test_exhaust_items")
        let pages = (1...11).map { "\(folder)/\($0 < 10 ? "00" : "0")\($0).json" }
        let given = pages.filter { !$0.hasSuffix("/005.json") }
        let run = try box.quire(["ingest", box.cache, "r"] + given + ["--exit-code", "--json"])
        let line = try run.object()
        #expect(run.status == 1 && line["gaps_opened"] == 1 && line["new"] == 901)
        #expect(line.values["missing_pages"] as? [Int] == [5])
        #expect(try box.quire("gaps", box.cache, "r", "--json").object().text("down") == "t1_c03d987")
        let whole = try box.quire(["ingest", box.cache, "r"] + pages + ["--exit-code", "--json"])
        #expect(try whole.status == 0 && whole.object().flag("in_sequence") == true, "\(whole)")
        #expect(try box.quire("feeds", box.cache, "--json").object()["posts"] == 1_001)
        #expect(try box.quire("check", box.cache).out == "no findings\n")

        let mastodon = try Shared.path("mastodon/mastodon.py/pages/test_fetch_next_previous")
        let other = try box.quire("ingest", box.path("m.quire"), "m", mastodon)
        #expect(other.out.contains("  read as mastodon: it is a list of items with \"id\""), "\(other)")
        #expect(try box.quire("feeds", box.path("m.quire"), "--json").object()["posts"] == 10)
    }

    @Test("what claims to be JSON is refused, or is a page without posts")
    func torture() throws {
        let box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...2))
        let before = try box.quire("show", box.cache, "a", "--json").out
        let folder = try Shared.path("torture/JSONTestSuite")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".json") }
        #expect(files.count > 300)
        let options = ["--json", "--errors-to", box.path("errors")]
        let run = try box.quire(["ingest", box.cache, "a"] + files.map { "\(folder)/\($0)" } + options)
        #expect(run.status == 65)
        let errors = try String(contentsOfFile: box.path("errors"), encoding: .utf8)
        #expect(errors.split(separator: "\n").count == files.count)
        #expect(try run.object()["pages_failed"] == files.count)
        #expect(try box.quire("show", box.cache, "a", "--json").out == before)
    }
}
