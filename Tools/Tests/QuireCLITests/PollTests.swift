import Foundation
import Testing

/// Folders of recorded requests: what was asked for decides where an answer goes, not the order of the files.
@Suite("quire and recorded polls", .timeLimit(.minutes(10)))
struct PollTests {
    /// Listings in the manner of Reddit, which answers `before` with what lies directly above the post, and
    /// of Mastodon, which knows two ways to ask for what is new.
    private struct Listing {
        /// The newest first.
        private(set) var posts: [Int] = []

        mutating func add(_ count: Int) {
            let last = posts.first ?? 100
            posts.insert(contentsOf: (last + 1...last + count).reversed(), at: 0)
        }

        func top(_ limit: Int) -> [Int] { Array(posts.prefix(limit)) }
        func below(_ id: Int, _ limit: Int) -> [Int] { Array(posts.drop { $0 >= id }.prefix(limit)) }
        func above(_ id: Int, _ limit: Int) -> [Int] { Array(posts.prefix { $0 > id }.suffix(limit)) }
    }

    private let box: Sandbox
    private let folder: String

    init() throws {
        box = try Sandbox()
        folder = box.path("polls")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func record(_ number: Int, _ request: String, headers: String = "", _ body: String) throws {
        let name = "polls/\(number < 10 ? "0" : "")\(number).json"
        try box.write(name, body)
        try box.write(name + ".headers", "GET \(request)\nHTTP/1.1 200 OK\n\(headers)\n")
    }

    private func reddit(_ number: Int, _ query: String, _ ids: [Int], before: Int? = nil) throws {
        func name(_ id: Int?) -> String { id.map { "\"t1_\($0)\"" } ?? "null" }
        let children = ids.map { #"{"kind": "t1", "data": {"name": "t1_\#($0)", "body": "b"}}"# }
        try record(
            number, "https://oauth.reddit.com/r/all/comments/?\(query)&raw_json=1",
            """
            {"kind": "Listing", "data": {"children": [\(children.joined(separator: ", "))], \
            "after": \(name(ids.last)), "before": \(name(before))}}
            """)
    }

    private func mastodon(_ number: Int, _ query: String, _ ids: [Int], isCut: Bool) throws {
        let base = "https://example.social/api/v1/timelines/home"
        var links = ids.first.map { ["<\(base)?min_id=\($0)>; rel=\"prev\""] } ?? []
        if isCut, let last = ids.last { links.insert("<\(base)?max_id=\(last)>; rel=\"next\"", at: 0) }
        try record(
            number, base + query, headers: links.isEmpty ? "" : "Link: \(links.joined(separator: ", "))\n",
            "[\(ids.map { #"{"id": "\#($0)"}"# }.joined(separator: ", "))]")
    }

    private func ids(_ prefix: String = "") throws -> [Int] {
        try box.quire("export", box.cache, "a", "--ids").lines.compactMap {
            Int($0.dropFirst(prefix.utf8.count))
        }
    }

    private func ingest(_ profile: String) throws -> Run {
        try box.quire("ingest", box.cache, "a", folder, "--profile", profile, "--json")
    }

    @Test("polls above the newest post and polls of the head are one list without a gap", arguments: 1...5)
    func pollsOfReddit(seed: Int) throws {
        var listing = Listing()
        var random = UInt64(seed)
        func next(_ bound: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % bound)
        }
        listing.add(150)
        var (newest, seen, polls) = (Int?.none, Set<Int>(), 0)
        for number in 1...30 {
            let page: [Int]
            if let id = newest {
                page = listing.above(id, 20)
                let isMore = page.first.map { $0 != listing.posts[0] } ?? false
                try reddit(number, "before=t1_\(id)&limit=20", page, before: isMore ? page.first : nil)
            } else {
                page = listing.top(40 - polls)
                try reddit(number, "limit=\(40 - polls)", page)
                polls += 1
            }
            newest = page.first { !seen.contains($0) }
            seen.formUnion(page)
            listing.add(1 + next(12))
            if number % 7 == 0 { listing.add(15) }  // more than a poll shows
        }
        let run = try ingest("reddit")
        #expect(run.status == 0, "\(run.err)")
        let line = try run.object()
        #expect(line["new"] == seen.count && line["pages"] == 30 && line["pages_failed"] == 0)
        #expect(line["unverified"] == 0)
        #expect(try ids("t1_") == seen.sorted(by: >))
        #expect(
            try box.quire("gaps", box.cache, "a", "--json").objects().allSatisfy {
                $0["type"] as? String == "head"
            })
        #expect(try box.quire("check", box.cache).status == 0)
    }

    @Test(
        "a head that was asked for again without reaching what is cached leaves a gap, which a later page fills"
    )
    func aGapIsFilledByLink() throws {
        var listing = Listing()
        listing.add(20)
        try reddit(1, "limit=5", listing.top(5))  // 120…116
        listing.add(20)
        try reddit(2, "limit=5", listing.top(5))  // 140…136
        try reddit(3, "limit=5&after=t1_116", listing.below(116, 5))  // goes on below the first one
        let first = try ingest("reddit").object()
        #expect(first["pages_failed"] == 0)
        let gap = try box.quire("gaps", box.cache, "a", "--json").object()
        #expect(gap.text("down") == "t1_136" && gap.text("above_post") == "t1_120")
        #expect(try ids("t1_") == Array((136...140).reversed()) + Array((111...120).reversed()))
        try reddit(4, "after=t1_136&limit=20", listing.below(136, 20))
        let second = try ingest("reddit").object()
        #expect(second["new"] == 15 && second.flag("in_sequence") == true)
        #expect(try ids("t1_") == Array((111...140).reversed()))
    }

    @Test("nothing new is no error", arguments: ["before=t1_104&limit=100", "limit=99", "after=t1_101"])
    func nothingNew(query: String) throws {
        try reddit(1, "limit=100", [104, 103, 102, 101])
        _ = try ingest("reddit")
        try FileManager.default.removeItem(atPath: folder + "/01.json")
        try reddit(2, query, [])
        let run = try box.quire("ingest", box.cache, "a", folder)
        #expect(run.status == 0 && run.err.isEmpty)
        #expect(run.lines.contains("  nothing new"))
        #expect(try ids("t1_") == [104, 103, 102, 101])
        // and what was not asked for at all may be a mistake of the server
        try FileManager.default.removeItem(atPath: folder + "/02.json.headers")
        let other = try box.quire("ingest", box.cache, "a", folder)
        #expect(
            other.status == 65
                && other.err.contains("the page is empty, although") != other.err.contains("is empty\n"))
    }

    @Test("what is newer than a post reaches down to it unless the answer was cut off")
    func newerThan() throws {
        var listing = Listing()
        listing.add(10)
        try mastodon(1, "?limit=5", listing.top(5), isCut: true)  // 110…106
        listing.add(3)
        try mastodon(2, "?limit=5&since_id=110", listing.top(3), isCut: false)
        try mastodon(3, "?limit=5&since_id=113", [], isCut: false)
        let first = try ingest("mastodon").object()
        #expect(first["new"] == 8 && first["unverified"] == 0 && first.flag("in_sequence") == true)
        listing.add(9)
        try mastodon(4, "?limit=5&since_id=113", listing.top(5), isCut: true)  // 122…118
        let second = try ingest("mastodon").object()
        #expect(second.flag("in_sequence") == false)
        let gap = try box.quire("gaps", box.cache, "a", "--json").object()
        #expect(gap.text("below_post") == "118" && gap.text("above_post") == "113")
        try mastodon(5, "?limit=5&min_id=113", listing.above(113, 5), isCut: true)  // 118…114
        let third = try ingest("mastodon").object()
        #expect(third["unverified"] == 0 && third.flag("in_sequence") == true)
        #expect(try ids() == Array((106...122).reversed()))
    }

    @Test("an answer about what lies above a post that is not cached belongs nowhere, and says so")
    func aboveAStranger() throws {
        try reddit(1, "limit=100", [104, 103])
        try reddit(2, "before=t1_900&limit=100", [905, 904])
        let run = try ingest("reddit")
        #expect(run.status == 65)
        #expect(run.err.contains("02.json: refused: it does not attach to what is cached"))
        #expect(try ids("t1_") == [104, 103])
    }

    @Test("an answer around a post is placed by what it shares with the feed")
    func around() throws {
        try box.write(
            "discord.json",
            """
            {"name": "discord", "id": {"path": "id", "type": "string"}, "next": {"template": "before={id}"},
             "request": {"above": ["after"], "around": ["around"]}}
            """)
        func page(_ number: Int, _ query: String, _ ids: [Int]) throws {
            try record(
                number, "https://chat.example/channels/1/messages?limit=3\(query)",
                "[\(ids.map { #"{"id": "\#($0)"}"# }.joined(separator: ", "))]")
        }
        try page(1, "", [30, 29, 28])
        try page(2, "&before=28", [27, 26, 25])
        try page(3, "&around=26", [27, 26, 25])
        try page(4, "&after=30", [33, 32, 31])
        try page(5, "&around=9", [10, 9, 8])
        let run = try box.quire(
            "ingest", box.cache, "a", folder, "--profile-file", box.path("discord.json"), "--json")
        #expect(run.status == 65 && run.err.contains("05.json: refused"))
        #expect(try ids() == Array((25...33).reversed()))
        #expect(try box.quire("gaps", box.cache, "a", "--json").objects().isEmpty)
    }
}
