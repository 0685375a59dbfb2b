import Foundation
import Testing

/// Folders of a crawl in which a file is missing, broken, or no page.
@Suite("quire with folders of a crawl", .timeLimit(.minutes(10)))
struct CrawlFolderTests {
    private let box: Sandbox
    private let folder: String

    init() throws {
        box = try Sandbox()
        folder = box.path("pages")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String) -> String { folder + "/" + name }

    /// Pages of posts whose times do not descend, each with the link to the next one: a ranked list.
    private func ranked(_ numbers: ClosedRange<Int>, last: Int = 9) throws {
        for number in numbers {
            let items = (0..<6).map { row in
                let time = 1_700_000_000 + number * 6 + [3, 1, 4, 2, 6, 5][row]
                return #"{"id": "p\#(number)-\#(row)", "created_at": \#(time)}"#
            }
            let next = number == last ? "null" : #""t\#(number + 1)""#
            try box.write(
                "pages/\(number).json", #"{"rows": [\#(items.joined(separator: ", "))], "next": \#(next)}"#)
        }
    }

    private func gap(_ cache: String) throws -> JSONObject {
        try box.quire("gaps", cache, "f", "--json").object()
    }

    @Test("a page that is missing, or broken, in a ranked list leaves a gap, which the page closes")
    func rankedGap() throws {
        try ranked(1...6)
        let page = try String(contentsOfFile: file("5.json"), encoding: .utf8)
        for text in [nil, "{\"rows\": [{\"id", #"{"error": "busy"}"#] {
            try FileManager.default.removeItem(atPath: file("5.json"))
            if let text { try box.write("pages/5.json", text) }
            let cache = box.path("\(text?.count ?? 0).quire")
            let run = try box.quire("ingest", cache, "f", folder, "--exit-code")
            #expect(run.status == (text == nil ? 1 : 65) && run.out.contains("order ranked"), "\(run)")
            #expect(run.lines.last == "  now 1 gap")
            #expect(run.lines.contains("  there is no file for page 5") == (text == nil))
            let gap = try gap(cache)
            #expect(gap.text("down") == "t5" && gap.text("above_post") == "p6-0", "\(gap)")
            #expect(gap.text("below_post") == "p4-5" && gap.text("why") == "missing-page")
            try box.write("pages/5.json", page)
            let whole = try box.quire("ingest", cache, "f", folder, "--exit-code")
            #expect(whole.status == 0 && whole.lines.last == "  now in sequence", "\(whole)")
            #expect(try box.quire("export", cache, "f", "--ids").lines.count == 36)
            #expect(try box.quire("check", cache).out == "no findings\n")
        }
    }

    @Test("a file that shows what another page shows is no page")
    func copy() throws {
        try ranked(1...6)
        let page = try String(contentsOfFile: file("4.json"), encoding: .utf8)
        try box.write("pages/5.json", page)
        let run = try box.quire("ingest", box.cache, "f", folder, "--exit-code", "--json")
        #expect(run.status == 1)
        #expect(
            run.err.contains("5.json: passed over: it shows the same as \(file("4.json")), so page 5 may"))
        let line = try run.object()
        #expect(line["pages"] == 5 && line["pages_repeated"] == 1 && line["pages_failed"] == 0)
        #expect(try gap(box.cache).text("down") == "t5")
        // Named twice, it is the same page.
        let again = try box.quire("ingest", box.path("b.quire"), "f", file("4.json"), file("4.json"))
        #expect(again.status == 0 && again.err.isEmpty)
        // Below a list without links, too, and at its end.
        let last = try box.pages(1...2)[1]
        let bytes = try Data(contentsOf: URL(fileURLWithPath: last))
        try bytes.write(to: URL(fileURLWithPath: box.path("3.json")))
        let keyless = try box.quire(
            "ingest", box.path("c.quire"), "f", box.path("1.json"), last, box.path("3.json"), "--exit-code")
        #expect(keyless.status == 1 && keyless.err.contains("3.json: passed over"), "\(keyless)")
    }

    private static let account = #"""
        {"id": "1", "username": "a", "acct": "a", "created_at": "2024-05-01T10:00:00.000Z", "note": "", "url": "u",
         "fields": [{"name": "x", "value": "y"}, {"name": "z", "value": "y"}], "emojis": [], "statuses_count": 2}
        """#

    /// A list of posts of Mastodon, or of an API that no profile describes.
    private func statuses(_ name: String, _ ids: ClosedRange<Int>, _ sign: String) throws {
        let items = ids.reversed().map {
            #"{"id": "\#($0)", "created_at": "2024-05-01T10:00:00.000Z", "account": {"\#(sign)": "a"}}"#
        }
        try box.write("pages/\(name)", "[\(items.joined(separator: ", "))]")
    }

    @Test(
        "the profile is that of most files, if the first one is no page", arguments: [1, 2],
        ["acct", "owner"])
    func firstIsNoPage(pages: Int, sign: String) throws {
        try box.write("pages/1.json", Self.account)
        try statuses("2.json", 106...111, sign)
        if pages == 2 { try statuses("3.json", 100...105, sign) }
        let words = "  read \(sign == "acct" ? "as mastodon" : "without a profile"): it is a list of items"
        let run = try box.quire("ingest", box.cache, "f", folder)
        #expect(run.status == 65 && run.out.contains(words), "\(run)")
        #expect(run.err == "quire: \(file("1.json")): the document is an object, not an array\n")
        #expect(try box.quire("feeds", box.cache, "--json").object()["posts"] == pages * 6)
        let packed = try box.shell("cd '\(folder)' && tar cf ../a.tar *.json && $Q ingest t.quire f ../a.tar")
        #expect(packed.out.contains(words), "\(packed)")
        // A pipe cannot be read twice.
        let pipe = try box.shell("cat '\(file("2.json"))' | $Q ingest p.quire f '\(file("1.json"))' -")
        #expect(pipe.out.contains("  read "), "\(pipe)")
    }

    @Test("an empty last page is no error, and the end where a link led to it")
    func emptyLastPage() throws {
        try ranked(1...3)
        try box.write("pages/4.json", #"{"rows": [], "next": null}"#)
        let run = try box.quire("ingest", box.cache, "f", folder, "--exit-code", "--json")
        let line = try run.object()
        #expect(run.status == 0 && run.err.isEmpty && line["pages"] == 4 && line["pages_empty"] == 1)
        #expect(try box.quire("feeds", box.cache, "--json").object().text("tail") == "end")
        // Not where a page is missing above it, and not if the server does not say that nothing follows.
        for (name, text) in [("5", #"{"rows": [], "next": null}"#), ("4", #"{"rows": []}"#)] {
            try FileManager.default.removeItem(atPath: file("4.json"))
            try box.write("pages/\(name).json", text)
            let other = try box.quire("ingest", box.path("\(name).quire"), "f", folder)
            #expect(other.status == 0 && other.out.contains(", 1 without posts"), "\(other)")
            #expect(try box.quire("feeds", box.path("\(name).quire"), "--json").object().text("tail") == "t4")
            if name == "5" {
                try FileManager.default.moveItem(atPath: file("5.json"), toPath: file("4.json"))
            }
        }
        let pages = try box.pages(1...2) + [box.page("3.json", [], more: false)]
        let numbered = try box.quire(["ingest", box.path("n.quire"), "f"] + pages)
        #expect(numbered.status == 0)
        // A page number proves no end.
        #expect(try box.quire("feeds", box.path("n.quire"), "--json").object().text("tail") == "page=3")
    }

    @Test("numbers after a word are page numbers, in one series and in any order")
    func numbersAfterWords() throws {
        for (name, top) in [("1", 1_000), ("2", 990), ("10", 910)] {
            try box.page("pages/posts_\(name).json", (top - 9...top).reversed())
        }
        let names = ["posts_1.json", "posts_10.json", "posts_2.json"].map(file)
        let run = try box.quire(["ingest", box.cache, "f"] + names + ["--order", "keyless"])
        #expect(run.lines.contains("  there are no files for pages 3, 4, 5, 6, 7, 8, 9"), "\(run)")
        #expect(try gap(box.cache).text("down") == "page=3")
        #expect(try box.quire("export", box.cache, "f", "--ids", "-n", "11").lines.last == "990")
        try FileManager.default.moveItem(atPath: file("posts_10.json"), toPath: file("users_10.json"))
        let two = try box.quire("ingest", box.path("b.quire"), "f", folder, "--order", "keyless")
        #expect(two.lines.last == "  now in sequence; 2 joins are unverified", "\(two)")
    }

    @Test(
        "files in an archive are numbered by their names, in any order",
        arguments: [
            ("1 2 4 5", ["--order", "keyless"]), ("1 10 11 12 2 3 9 5 4", ["--order", "keyless"]),
            ("10 4 1 11 2 3 9 12 5", ["--order", "bump", "--key", "last_activity_date"]),
        ])
    func archive(order: String, options: [String]) throws {
        let numbers = order.split(separator: " ").compactMap { Int($0) }
        for number in numbers {
            try box.page("pages/\(number).json", (10_001 - number * 10...10_010 - number * 10).reversed())
        }
        let names = numbers.map { "pages/\($0).json" }.joined(separator: " ")
        _ = try box.shell("tar cf a.tar \(names) && gzip -k a.tar")
        let options = options + ["--exit-code"]
        let expected = try box.quire(["ingest", box.path("folder.quire"), "f", folder] + options)
        #expect(expected.status == 1, "\(expected)")
        for name in ["a.tar", "a.tar.gz"] {
            let cache = box.path("\(name).quire")
            let run = try box.quire(["ingest", cache, "f", box.path(name)] + options)
            #expect(run.status == 1 && run.lines.last == expected.lines.last, "\(run)")
            let missing = { (run: Run) in run.lines.filter { $0.contains("no file") } }
            #expect(missing(run) == missing(expected) && !missing(run).isEmpty, "\(run)")
            #expect(try ids(cache) == ids(box.path("folder.quire")))
        }
        // On standard input the names count as they come.
        let pipe = try box.shell("cat a.tar | $Q ingest $C f - " + options.joined(separator: " "))
        #expect(pipe.status == 1 && pipe.lines.last == expected.lines.last, "\(pipe)")
        #expect(try ids(box.cache) == ids(box.path("folder.quire")))
    }

    @Test(
        "numbers join pages whose links are tokens, in an archive and as arguments, in any order",
        arguments: ["1 3 2", "2 6 5 4 3 1", "5 1 4 2 6 3"], [true, false])
    func tokens(order: String, hasTimes: Bool) throws {
        try ranked(1...6)
        let numbers = order.split(separator: " ").compactMap { Int($0) }
        for number in numbers where hasTimes {
            let items = (0..<6).map {
                #"{"id": "p\#(number)-\#($0)", "created_at": \#(1_700_000_000 - 6 * number - $0)}"#
            }
            try box.write(
                "pages/\(number).json",
                #"{"rows": [\#(items.joined(separator: ", "))], "next": "t\#(number + 1)"}"#)
        }
        _ = try box.shell("tar cf a.tar \(numbers.map { "pages/\($0).json" }.joined(separator: " "))")
        for inputs in [[box.path("a.tar")], numbers.map { file("\($0).json") }] {
            let cache = box.path("\(inputs.count).quire")
            let run = try box.quire(["ingest", cache, "f"] + inputs + ["--exit-code"])
            #expect(run.status == 0 && run.out.contains(hasTimes ? "order bump" : "order ranked"), "\(run)")
            let all = numbers.sorted().flatMap { number in (0..<6).map { "p\(number)-\($0)" } }
            #expect(try ids(cache) == all)
            #expect(try box.quire("check", cache).out == "no findings\n")
        }
    }

    /// The posts of the feed f, top first, and its gaps.
    private func ids(_ cache: String) throws -> [String] {
        try box.quire("show", cache, "f", "-n", "999", "--json").objects().map {
            $0["type"] as? String == "post" ? $0["id"] as? String ?? "" : "~"
        }
    }

    @Test("pages that begin below the first one, in any order, have no false gap", arguments: 1...4)
    func lowPages(seed: UInt64) throws {
        var random = FixedRandom(seed: seed)
        let numbers = (3...9).shuffled(using: &random)
        for number in numbers {
            try box.page("pages/\(number).json", (10_001 - number * 10...10_010 - number * 10).reversed())
        }
        let all = (9_911...9_980).reversed().map(String.init)
        _ = try box.shell("tar cf a.tar \(numbers.map { "pages/\($0).json" }.joined(separator: " "))")
        for inputs in [[box.path("a.tar")], numbers.map { file("\($0).json") }] {
            for order in ["keyless", "ranked", "append-only"] {
                let cache = box.path("\(inputs.count) \(order).quire")
                let run = try box.quire(["ingest", cache, "f"] + inputs + ["--order", order])
                #expect(run.status == 0 && run.lines.last?.hasPrefix("  now 1 open head") == true, "\(run)")
                #expect(run.lines.first?.hasPrefix("f: 7 pages,") == true, "\(run)")
                #expect(try ids(cache) == ["~"] + all, "seed \(seed), \(order), \(inputs)")
            }
        }
    }

    @Test("an archive in any order that was interrupted goes on with its numbers")
    func resumedArchive() throws {
        var random = FixedRandom(seed: 80)
        let order = (1...80).filter { $0 != 33 }.shuffled(using: &random)
        for number in order {
            try box.page("pages/\(number).json", (10_001 - number * 10...10_010 - number * 10).reversed())
        }
        let names = order.map { "pages/\($0).json" }
        _ = try box.shell("tar cf a.tar \(names.joined(separator: " "))")
        let options = ["--order", "keyless", "--exit-code"]
        let whole = try box.shell(
            "cat a.tar | $Q ingest whole.quire f - \(options.joined(separator: " "))")
        #expect(whole.status == 1, "\(whole)")
        // The file can be read twice: its lowest page first, then only the missing one is a gap.
        let listed = try box.quire(["ingest", box.path("listed.quire"), "f", box.path("a.tar")] + options)
        #expect(listed.lines.contains("  there is no file for page 33"), "\(listed)")
        #expect(listed.lines.last == "  now 1 gap; 77 joins are unverified", "\(listed)")
        // The first two commits of 32 pages.
        let pipe = Pipe()
        let (process, _, _) = try box.start(
            Tool.path, ["ingest", box.cache, "f", "-", "--resume"] + options,
            input: pipe.fileHandleForReading)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: box.path("a.tar")))
        try pipe.fileHandleForWriting.write(contentsOf: bytes.prefix(bytes.count * 3 / 4))
        while process.isRunning, !Task.isCancelled {
            if try box.quire("feeds", box.cache, "--json").objects().first?["pages"] as? Int ?? 0 >= 32 {
                break
            }
        }
        process.send(SIGINT)
        process.waitUntilExit()
        let cut = try box.quire("feeds", box.cache, "--json").object()
        #expect(process.status == 130 && cut.flag("interrupted") == true)
        let rest = try box.shell("cat a.tar | $Q ingest $C f - --resume --exit-code --order keyless")
        #expect(rest.err.contains("going on after") && rest.lines.last == whole.lines.last, "\(rest)")
        #expect(try ids(box.cache) == ids(box.path("whole.quire")))
        #expect(try box.quire("feeds", box.cache, "--json").object().flag("interrupted") == false)
    }

    @Test("a file whose name is not UTF-8 is a failed one, and a zip archive is named")
    func unreadable() throws {
        try ranked(1...2)
        _ = try box.shell("cp pages/1.json \"pages/$(printf '3\\377').json\"")
        let run = try box.quire("ingest", box.cache, "f", folder)
        #expect(run.status == 65 && run.err.contains("is not UTF-8; rename it"), "\(run)")
        #expect(run.errLines.count == 1 && run.out.contains("1 failed"), "\(run)")
        try box.write("a.zip", "PK\u{3}\u{4}\u{14}\u{0}")
        let zip = try box.quire("ingest", box.path("z.quire"), "f", box.path("a.zip"))
        #expect(zip.status == 65 && zip.err.contains("a zip archive, which is not read: unpack it"), "\(zip)")
    }
}
