import CArchive
import Foundation
import Quire
import Testing

@testable import QuireDumps

@Suite("Inputs are recognised by content")
struct InputTests {
    private static let rows = """
        <?xml version="1.0" encoding="utf-8"?>
        <posts>
          <row Id="1" Body="a" />
          <row Id="2" Body="&lt;p&gt;&#xA;" />
          <row Id="5" Body="c" />
          <row Id="7" Body="d" />
        </posts>
        """
    private static let rss = """
        <?xml version="1.0"?>
        <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>t</title>
        <item><title>A</title><guid isPermaLink="false"> a </guid>
          <pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate></item>
        <item><title>B</title><link>http://b/</link><dc:date>2003-06-10T03:00:00Z</dc:date></item>
        </channel></rss>
        """
    private static let atom = """
        <feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>f</id>
        <entry><id>x</id><updated>2020-01-01T00:00:00Z</updated><author><id>no</id></author></entry>
        <entry><link rel="self" href="s"/><link href="y"/></entry></feed>
        """

    @Test(
        "shapes",
        arguments: [
            (#"{"items": [{"id": 1}, {"id": 2}]}"#, "[1 2]"),
            ("\u{FEFF}{\n\"items\": [{\"id\": 1}]\n}\n", "[1]"),
            (#"[{"id": 1}, {"id": 2}, {"id": 3}]"#, "[1 2] [2: 3]"),
            ("{\"id\": 1}\n\n{\"id\": 2}\r\n{\"id\": 3}", "[1 2] [2: 3]"),
            ("{\"items\": [{\"id\": 1}]}\n{\"items\": [{\"id\": 2}]}\n", "[1] [2]"),
            (#"[{"items": [{"id": 1}]}, {"items": [{"id": 2}, {"id": 3}, {"id": 4}]}]"#, "[1] [2 3 4]"),
            (rows, "[2 1] [^7 5 :2]"),
            (rows.replacing("posts>", with: "comments>"), "[2 1] [^7 5 :2]"),
            (rss, "[a http://b/]"),
            (atom, "[x y]"),
            (#"{"items": [{"id": "j"}], "version": "https://jsonfeed.org/version/1"}"#, "[j]"),
            // errors, each in its place
            ("{\"id\": 1}\n{\"no\": 3}\n{\"id\": 4}\nnonsense\n{\"id\": 6}", "[1] ! [4] ! [6]"),
            (#"[{"id": 1}, {"no": 2}, {"id": 3}, {"id": 4}]"#, "[1] ! [3 4]"),
            (#"[{"id": 1}, {"id": 2}"#, "[1 2] !"),
            (#"[{"id": 1} {"id": 2}]"#, "[1] !"),
            (#"[{"id": 1}, {"id": 2},]"#, "[1 2] !"),
            (#"[{"id": 1}] x"#, "[1] !"),
            (rows.replacing(#"Id="5""#, with: "Nr=\"5\""), "[2 1] ! [^7]"),
            (rows.replacing(#"Id="5""#, with: "Id=\"1\""), "[2 1] ! [^7]"),
            (rss.replacing("</channel>", with: "<item/></channel>"), "[a http://b/] !"),
            (#"{"items": 5}"#, "!"), ("", "!"), (" \n", "!"), ("7", "!"), ("[]", "!"), ("[7]", "!"),
            ("<html/>", "!"), ("<", "!"), ("<posts>", "!"), ("\u{FEFF}", "!"),
        ])
    func shapes(document: String, picture: String) throws {
        let folder = try InputFolder()
        let reading = try Reading(folder.write("d", document)) { $0.pageItems = 2 }
        #expect(reading.picture.joined(separator: " ") == picture, "\(reading.messages)")
        #expect(reading.messages.count == reading.picture.count { $0 == "!" })
    }

    @Test("a post's body is what stands in the document, byte for byte; dates are keys")
    func bodiesAndKeys() throws {
        let folder = try InputFolder()
        let rows = try Reading(folder.write("p.xml", Self.rows)).pages[0].answer!
        #expect(rows.bodies[2] == #"<row Id="2" Body="&lt;p&gt;&#xA;" />"#)
        #expect(rows.posts.map(\.key) == [7, 5, 2, 1] && rows.next == .end)
        let rss = try Reading(folder.write("r.xml", Self.rss)).pages[0].answer!
        #expect(rss.bodies[1].hasPrefix("<item><title>B") && rss.bodies[1].hasSuffix("</item>"))
        #expect(rss.posts.map(\.key) == [1_055_217_600_000_000, 1_055_214_000_000_000])
        let atom = try Reading(folder.write("a.xml", Self.atom)).pages[0].answer!
        #expect(atom.posts.map(\.key) == [nil, nil])  // one has no date
        let lines = try Reading(folder.write("l", "{\"id\": 1 }\n {\"id\": 2}\n")).pages[0].answer!
        #expect(lines.bodies == [#"{"id": 1 }"#, #"{"id": 2}"#])
    }

    @Test("each packing of each document is the same document")
    func packings() throws {
        let folder = try InputFolder()
        let plain = try Reading(folder.write("p", Self.rows)).ids
        let bytes = Array(Self.rows.utf8)
        let filters = [
            ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD,
        ]
        for filter in [ARCHIVE_FILTER_NONE] + filters {
            let packed = try folder.pack("f", [("", bytes)], filter: filter)
            #expect(try Reading(packed).ids == plain)
            let tar = try folder.pack(
                "t", [("../../x.xml", bytes), ("README", bytes)], filter: filter,
                format: ARCHIVE_FORMAT_TAR_USTAR)
            #expect(try Reading(tar).ids == plain)
        }
        let users = Array(Self.rows.replacing("posts>", with: "users>").utf8)
        let entries = [("Users.xml", users), ("Posts.xml", bytes)]
        let archive = try folder.pack("z", entries, format: ARCHIVE_FORMAT_7ZIP)
        let reading = try Reading(archive)
        #expect(reading.ids == plain && reading.messages == ["passed over: users, not posts"])
        let chosen = try Reading(archive) { $0.entries = "Users*" }
        #expect(chosen.pages.map(\.kind) == [.rows(table: "users")])
        #expect(try Reading(archive) { $0.packing = .gzip }.picture == ["!"])
        #expect(try Reading(folder.write("g", Self.rows)) { $0.packing = .none }.ids == plain)
    }

    @Test("a folder means its files in natural order, a missing file keeps its place")
    func folders() throws {
        let folder = try InputFolder()
        for name in ["10.json", "9.json", "notes.txt", ".8.json"] {
            _ = try folder.write(name, #"{"items": [{"id": "\#(name)"}]}"#)
        }
        _ = try folder.pack(
            "11.json.gz", [("", Array(#"{"items": [{"id": 11}]}"#.utf8))], filter: ARCHIVE_FILTER_GZIP)
        let reading = try Reading(folder.path, "/no/such", folder.path + "/10.json")
        #expect(reading.picture == ["[9.json]", "[10.json]", "[11]", "!", "[10.json]"])
        #expect(reading.pages.map(\.number) == [9, 10, 11, nil, 10])
    }

    @Test("the files of an archive are numbered by their names, and listed with their numbers")
    func archives() throws {
        let folder = try InputFolder()
        let page = Array(#"{"items": [{"id": 1}]}"#.utf8)
        let names = ["p/10.json", "p/notes.txt", "p/2.json", "p/posts_3.json"]
        let tar = try folder.pack(
            "5.tar", names.map { ($0, page) }, format: ARCHIVE_FORMAT_TAR_USTAR)
        let reading = try Reading(tar)
        #expect(reading.pages.map(\.number) == [10, 2, 3])
        #expect(reading.pages.map(\.series) == ["", "", "posts_"])
        let options = InputOptions(profile: try Profile(json: Array(Self.profile.utf8), name: "p"))
        let plain = try folder.write("4.json", page)
        func files(_ paths: String...) -> [PageFile]? { InputListing(Input.list(paths), options).files }
        #expect(files(plain, tar, "/no/6.json")?.map(\.number) == [4, 10, 2, 3, 6])
        // The list ends with a file without a number; standard input is not listed.
        let rows = try folder.pack(
            "r.tar", [("Posts.xml", page), ("1.json", page)], format: ARCHIVE_FORMAT_TAR_USTAR)
        #expect(files(rows)?.map(\.number) == [nil])
        #expect(files("-") == nil)
    }

    @Test("the page with the lowest number can be read first, and reading goes on from any page")
    func lowestFirst() throws {
        let folder = try InputFolder()
        func page(_ number: Int) -> [UInt8] { Array(#"{"items": [{"id": \#(number)}]}"#.utf8) }
        func tar(_ name: String, _ numbers: [Int]) throws -> String {
            try folder.pack(
                name, numbers.map { ("\($0).json", page($0)) }, format: ARCHIVE_FORMAT_TAR_USTAR)
        }
        let paths = [
            try tar("a.tar", [6, 9, 5]), try folder.write("7.json", page(7)), try tar("b.tar", [8, 4]),
        ]
        let options = InputOptions(profile: try Profile(json: Array(Self.profile.utf8), name: "p"))
        func ids(_ inputs: [Input], from start: InputPage.Position = .init()) -> [String] {
            let reader = PageReader(inputs, options, from: start)
            var ids: [String] = []
            while let page = reader.next() { ids += page.answer?.ids ?? ["!"] }
            return ids
        }
        func lowestFirst(_ paths: [String]) -> [Input] {
            InputListing(Input.list(paths), options).lowestFirst
        }
        #expect(ids(lowestFirst(Array(paths[..<1]))) == ["5", "6", "9"])
        #expect(ids(lowestFirst(Array(paths[..<2]))) == ["5", "6", "9", "7"])
        #expect(ids(lowestFirst([paths[2], paths[1]])) == ["4", "8", "7"])
        #expect(ids(lowestFirst([paths[0], "/no/1.json"])) == ["5", "6", "9", "!"])
        let files = [try folder.write("3.json", page(3)), paths[1], try folder.write("2.json", page(2))]
        #expect(ids(lowestFirst(files)) == ["2", "3", "7"])
        #expect(lowestFirst([files[2], files[0]]) == Input.list([files[2], files[0]]))
        let inputs = lowestFirst(paths)
        let all = ids(inputs)
        #expect(all == ["4", "6", "9", "5", "7", "8"])
        let reader = PageReader(inputs, options)
        var read = 0
        while let page = reader.next() {
            read += 1
            #expect(ids(inputs, from: page.position) == Array(all[read...]))
        }
    }

    @Test("an archive that is cut in the middle of a file gives one failure")
    func cutArchive() throws {
        let folder = try InputFolder()
        let page = Array(#"{"items": [{"id": 1}], "rest": "\#(String(repeating: "a", count: 900))"}"#.utf8)
        let tar = try folder.pack(
            "a.tar", [("1.json", page), ("2.json", page), ("3.json", page)],
            format: ARCHIVE_FORMAT_TAR_USTAR)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: tar))
        for (cut, picture) in [(1_000, ["!"]), (1_800, ["[1]", "!"]), (2_300, ["[1]", "!"])] {
            let reading = try Reading(folder.write("cut.tar", bytes.prefix(cut)))
            #expect(reading.picture == picture && reading.messages.count == 1, "\(cut): \(reading.messages)")
        }
    }

    @Test(
        "the headers of a document in an archive are beside it, before or after it",
        arguments: [ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_7ZIP], [false, true])
    func archivedHeaders(format: Int32, isBefore: Bool) throws {
        let folder = try InputFolder()
        let headers = Array("GET https://a/l?page=7\nHTTP/2 200\nlink: </n>; rel=next\n".utf8)
        var entries = [("d/x.json", Array(#"[{"id": 1}]"#.utf8)), ("d/y.json", Array(#"[{"id": 2}]"#.utf8))]
        entries.insert(("d/x.json.headers", headers), at: isBefore ? 0 : 2)
        let archive = try folder.pack("a", entries, format: format)
        let reading = try Reading(archive, profile: Self.linked) { $0.entries = "*" }
        #expect(reading.picture == ["[1]", "[2]"], "\(reading.messages)")
        #expect(reading.pages.map { $0.answer?.next } == [.token("https://a/n"), .unknown])
        let options = InputOptions(profile: try Profile(json: Array(Self.linked.utf8), name: "p"))
        let first = try FirstDocument(of: Input.list([archive])[0], options)
        guard case .response(_, let envelope) = first.form else { throw CocoaError(.featureUnsupported) }
        #expect(envelope?.request == "https://a/l?page=7")
        entries[isBefore ? 0 : 2].1 = Array("nonsense".utf8)
        let wrong = try Reading(folder.pack("b", entries, format: format), profile: Self.linked)
        #expect(wrong.picture == ["!", "[2]"])
        #expect(
            wrong.messages.first?.hasSuffix("b: d/x.json.headers: line 1 is not a header: \"nonsense\"")
                == true)
    }

    private static let linked = #"""
        {"name": "t", "items": "", "id": {"path": "id"}, "next": {"link": "next"}, "self": {"request": true}}
        """#

    @Test("blanks before an XML declaration are passed over", arguments: ["\n", " \r\n\n\t"])
    func blanks(start: String) throws {
        let folder = try InputFolder()
        for text in [Self.rss, Self.rows] {
            let (plain, late) = (
                try Reading(folder.write("a.xml", text)), try folder.write("b.xml", start + text)
            )
            let reading = try Reading(late)
            #expect(reading.ids == plain.ids && reading.messages.isEmpty, "\(reading.messages)")
            #expect(reading.pages.map { $0.answer?.bytes } == plain.pages.map { $0.answer?.bytes })
        }
        let long = String(repeating: " ", count: 200_000) + Self.rss
        #expect(try Reading(folder.write("c.xml", long)).ids == ["a", "http://b/"])
        let wrong = try Reading(
            folder.write("d.xml", start + Self.rss.replacing("</title>", with: "</tilte>")))
        let line = 2 + start.count { $0.isNewline }
        #expect(wrong.messages.first?.contains("d.xml: line \(line), column") == true, "\(wrong.messages)")
    }

    private static let profile = #"{"name": "t", "items": "items", "id": {"path": "id"}}"#

    @Test("reading from a page's position on gives the pages after it")
    func positions() throws {
        let folder = try InputFolder()
        let lines = (1...9).map { "{\"id\": \($0)}\n" }.joined()
        let tar = try folder.pack(
            "t.tar.gz", [("a.ndjson", Array(lines.utf8)), ("b.xml", Array(Self.rows.utf8))],
            filter: ARCHIVE_FILTER_GZIP, format: ARCHIVE_FORMAT_TAR_USTAR)
        let broken = try folder.write("1.json", "{")
        func read(_ start: InputPage.Position = .init()) throws -> Reading {
            try Reading(broken, tar, broken, from: start) { $0.pageItems = 2 }
        }
        let whole = try read()
        #expect(whole.picture.count == 9)
        for (index, page) in whole.pages.enumerated() {
            let rest = try read(page.position)
            #expect(rest.picture == Array(whole.picture.dropFirst(index + 1)))
            #expect(rest.pages.map(\.number) == whole.pages.dropFirst(index + 1).map(\.number))
        }
    }

    @Test(
        "a mail date",
        arguments: [
            ("Tue, 10 Jun 2003 04:00:00 GMT", 1_055_217_600), ("10 Jun 2003 04:00 +0000", 1_055_217_600),
            ("Mon, 9 Jun 03 23:00:00 -0500", 1_055_217_600), ("9 june 2003 23:00:00 CDT", 1_055_217_600),
            ("Tue, 10 Jun 2003", nil), ("31 Feb 2003 04:00:00 GMT", nil), ("", nil), ("x", nil),
            ("10 Jun 2003 04:00:00 QQQ", nil), ("99999999999999999999 Jun 2003 04:00:00 GMT", nil),
        ])
    func mailDates(text: String, seconds: Int64?) {
        #expect(OrderKey.mailDate(text) == seconds.map { $0 * 1_000_000 })
    }
}
