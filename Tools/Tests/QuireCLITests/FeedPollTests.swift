import Foundation
import Testing

/// Files of RSS, Atom and JSON Feed that were fetched one after the other from one address.
@Suite("quire and polls of feeds", .timeLimit(.minutes(10)))
struct FeedPollTests {
    enum Form: String, CaseIterable {
        case rss, atom, json

        /// A document with these posts, the newest first; `head` says more of it.
        func document(_ ids: [Int], next: String? = nil, own: String? = nil) -> String {
            func link(_ relation: String, _ address: String?) -> String {
                address.map {
                    "<link xmlns=\"http://www.w3.org/2005/Atom\" rel=\"\(relation)\" href=\"\($0)\"/>"
                } ?? ""
            }
            let links = link("self", own) + link("next", next)
            switch self {
            case .rss:
                let items = ids.map { "<item><guid>g\($0)</guid></item>" }
                return "<rss version=\"2.0\"><channel>\(links)\(items.joined())</channel></rss>"
            case .atom:
                let items = ids.map { "<entry><id>g\($0)</id></entry>" }
                return "<feed xmlns=\"http://www.w3.org/2005/Atom\">\(links)\(items.joined())</feed>"
            case .json:
                let items = ids.map { "{\"id\": \"g\($0)\"}" }.joined(separator: ", ")
                let more = next.map { "\"next_url\": \"\($0)\", " } ?? ""
                return "{\"version\": \"https://jsonfeed.org/version/1.1\", \(more)\"items\": [\(items)]}"
            }
        }
    }

    private let box: Sandbox

    init() throws { box = try Sandbox() }

    private func ingest(_ feed: String, _ names: [String], _ options: String...) throws -> Run {
        try box.quire(["ingest", box.cache, feed] + names.map(box.path) + options)
    }

    private func ids(_ feed: String) throws -> [Int] {
        try box.quire("export", box.cache, feed, "--ids").lines.compactMap { Int($0.dropFirst()) }
    }

    /// What came in, and in how many ways it is counted.
    private func counted(_ line: JSONObject) -> (received: Int?, parts: Int) {
        let names = ["new", "duplicates", "duplicates_in_page", "outdated", "unplaced_count"]
        return (line["received"], names.reduce(0) { $0 + (line[$1] ?? 0) })
    }

    @Test("each document is the top of its list, in any order of the files", arguments: Form.allCases)
    func polls(form: Form) throws {
        try box.write("mon.\(form)", form.document([3, 2, 1]))
        try box.write("tue.\(form)", form.document([5, 4, 3, 2, 1]))
        try box.write("wed.\(form)", form.document([7, 6, 5, 4, 3]))
        for order in [["mon", "tue", "wed"], ["wed", "tue", "mon"], ["tue", "mon", "wed"]] {
            let feed = order.joined()
            let run = try ingest(feed, order.map { "\($0).\(form)" }, "--exit-code", "--json")
            let line = try run.object()
            #expect(run.status == 0 && run.err.isEmpty && line.flag("in_sequence") == true, "\(run)")
            #expect(try ids(feed) == [7, 6, 5, 4, 3, 2, 1])
            #expect(line["received"] == 13 && line["new"] == 7 && line["duplicates"] == 6)
        }
    }

    @Test("a folder of polls named by date is read like that", arguments: ["2024-05-0", "2024050"])
    func folder(name: String) throws {
        try FileManager.default.createDirectory(
            atPath: box.path("polls"), withIntermediateDirectories: true)
        for day in 1...9 {
            let top = 3 * day
            try box.write(
                "polls/\(name)\(day).xml", Form.rss.document(Array((max(1, top - 4)...top).reversed())))
        }
        let run = try ingest("a", ["polls"], "--exit-code", "--json")
        #expect(try run.status == 0 && run.object().values["missing_pages"] as? [Int] == [], "\(run)")
        #expect(try ids("a") == Array((1...27).reversed()))
    }

    @Test("polls of posts with dates are read in the order of these, whatever the files are called")
    func dates() throws {
        try FileManager.default.createDirectory(
            atPath: box.path("week"), withIntermediateDirectories: true)
        for (name, ids) in [("mon", [3, 2, 1]), ("sun", [20, 19, 18]), ("wed", [7, 6, 5, 4, 3])] {
            let items = ids.map {
                "<item><guid>g\($0)</guid><pubDate>\($0 + 9) May 2024 10:00:00 GMT</pubDate></item>"
            }
            let channel = "<channel>\(items.joined())</channel>"
            try box.write("week/\(name).xml", "<rss version=\"2.0\">\(channel)</rss>")
        }
        let run = try ingest("a", ["week"], "--exit-code", "--json")
        #expect(try run.status == 1 && run.object()["gaps_opened"] == 1, "\(run)")
        #expect(try ids("a") == [20, 19, 18, 7, 6, 5, 4, 3, 2, 1])
        let gap = try box.quire("gaps", box.cache, "a", "--json").object()
        #expect(gap.text("below_post") == "g18" && gap.text("above_post") == "g7")
    }

    @Test("a poll that does not reach down to the one before leaves a gap")
    func gap() throws {
        try box.write("mon.xml", Form.rss.document([3, 2, 1]))
        try box.write("tue.xml", Form.rss.document([9, 8, 7]))
        let run = try ingest("a", ["mon.xml", "tue.xml"], "--exit-code", "--json")
        #expect(try run.status == 1 && run.object()["gaps_opened"] == 1, "\(run)")
        #expect(try ids("a") == [9, 8, 7, 3, 2, 1])
    }

    @Test("a page that the one before leads to lies below it", arguments: Form.allCases)
    func pages(form: Form) throws {
        let page = "https://blog.example/feed?page="
        let own = { (number: Int) in form == .json ? nil : "\(page)\(number)" }
        try box.write("a.\(form)", form.document([9, 8, 7], next: "\(page)2", own: own(1)))
        try box.write("b.\(form)", form.document([6, 5, 4], next: "\(page)3", own: own(2)))
        try box.write("c.\(form)", form.document([3, 2], own: own(3)))
        let run = try ingest("a", ["a.\(form)", "b.\(form)", "c.\(form)"], "--exit-code", "--json")
        #expect(try run.status == 0 && run.object().flag("in_sequence") == true, "\(run)")
        #expect(try ids("a") == [9, 8, 7, 6, 5, 4, 3, 2])
        // the same list again, with two new posts
        try box.write("d.\(form)", form.document([11, 10, 9], next: "\(page)2", own: own(1)))
        let later = try ingest("b", ["a.\(form)", "d.\(form)"], "--exit-code", "--json")
        #expect(try later.status == 0 && later.object()["new"] == 5, "\(later)")
        #expect(try ids("b") == [11, 10, 9, 8, 7])
    }

    @Test("what has no place is counted and named, whatever the files hold")
    func unplaced() throws {
        try box.write("1.xml", Form.rss.document([3, 2, 1]))
        try box.write("2.xml", Form.rss.document([5, 4, 3, 2, 1]))
        for (name, ids) in [("mon", [3, 2, 1]), ("tue", [5, 4, 3, 2, 1])] {
            let items = ids.map { "{\"id\": \"g\($0)\"}" }.joined(separator: "\n")
            try box.write("\(name).jsonl", items)
        }
        for (feed, files) in [("pages", ["1.xml", "2.xml"]), ("lines", ["mon.jsonl", "tue.jsonl"])] {
            let run = try ingest(feed, files, "--exit-code", "--json", "--order", "keyless")
            let line = try run.object()
            #expect(run.status == 1 && line.values["unplaced"] as? [String] == ["g5", "g4"], "\(run)")
            let (received, parts) = counted(line)
            #expect(received == 8 && parts == 8, "\(run)")
        }
        let words = try ingest("words", ["1.xml", "2.xml"]).lines
        #expect(words.contains { $0.hasPrefix("  2 posts unplaced: ") && $0.hasSuffix(": g5, g4") })
    }
}
