import CArchive
import Foundation
import Quire
import Testing

@testable import QuireDumps

@Suite("Hostile inputs")
struct HostileInputTests {
    // MARK: Truncation

    /// About 20 KB with items of all lengths; the picture of ids in the order of the document.
    private static func sample(_ kind: String) -> (text: String, ids: [String]) {
        let numbers = Array(1...30)
        let texts = numbers.map { String(repeating: "é\\\"", count: $0 * 67 % 300) }
        let ids = numbers.map(String.init)
        switch kind {
        case "lines":
            return (zip(ids, texts).map { "{\"id\": \($0), \"t\": \"\($1)\"}\n" }.joined(), ids)
        case "array":
            let items = zip(ids, texts).map { "{\"id\": \($0), \"t\": \"\($1)\"}" }
            return ("[\(items.joined(separator: ",\n"))]\n", ids)
        case "rows":
            let rows = zip(ids, texts).map {
                "  <row Id=\"\($0)\" Body=\"\($1.replacing("\\\"", with: "&#xA;"))\" />\n"
            }
            return ("<?xml version=\"1.0\"?>\n<posts>\n\(rows.joined())</posts>\n", ids)
        default:
            let items = zip(ids, texts).map {
                "<item><guid>\($0)</guid><description>\($1)</description></item>\n"
            }
            return ("<rss><channel>\n\(items.joined())</channel></rss>\n", ids)
        }
    }

    /// How far apart the cuts are, from `QUIRE_CUTS`; with 1 they are at every byte.
    private static let stride = Int(ProcessInfo.processInfo.environment["QUIRE_CUTS"] ?? "") ?? 7

    @Test("a document cut at any byte gives its whole records", arguments: ["lines", "array", "rows", "rss"])
    func truncation(kind: String) throws {
        let folder = try InputFolder()
        let (text, ids) = Self.sample(kind)
        let bytes = Array(text.utf8)
        #expect((12_000...30_000).contains(bytes.count))
        var last = 0
        for count in Array(Swift.stride(from: 0, to: bytes.count, by: Self.stride)) + [bytes.count] {
            let path = try folder.write("d", bytes.prefix(count))
            let reading = try Reading(path) { $0.pageItems = 12 }
            let seen = reading.ids.sorted { Int($0)! < Int($1)! }
            #expect(seen == Array(ids.prefix(seen.count)), "\(kind) cut at \(count)")
            #expect(seen.count >= last, "\(kind) cut at \(count)")
            for page in reading.pages {
                #expect(!page.isTop || seen == ids)
                guard let answer = page.answer else { continue }
                #expect(
                    answer.bodies.allSatisfy { $0.hasSuffix("}") || $0.hasSuffix(">") },
                    "\(kind) cut at \(count)")
            }
            last = seen.count
        }
        #expect(last == ids.count)
    }

    @Test("a packed document cut anywhere gives whole records and says that it was cut")
    func packedTruncation() throws {
        let folder = try InputFolder()
        let (text, ids) = Self.sample("lines")
        for filter in [ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_BZIP2] {
            let packed = try folder.pack("p", [("", Array(text.utf8))], filter: filter)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: packed)))
            for count in Swift.stride(from: 0, to: bytes.count - 16, by: 11) {
                let reading = try Reading(folder.write("c", bytes.prefix(count)))
                #expect(reading.ids == Array(ids.prefix(reading.ids.count)))
                #expect(reading.messages.count == 1)
            }
        }
    }

    // MARK: XML

    @Test(
        "entities of a document type are refused by name, and nothing outside is read",
        arguments: [
            (
                #"<!DOCTYPE p [<!ENTITY a "x">]><posts><row Id="1" Body="&a;"/></posts>"#,
                "the entity a is declared"
            ),
            (
                #"<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]><posts><row Id="1" Body="&b;"/></posts>"#,
                "the entity a is declared"
            ),
            (
                #"<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><posts><row Id="1"/>&a;</posts>"#,
                "the entity a is declared"
            ),
            (
                #"<!DOCTYPE p [<!ENTITY unused "x">]><posts><row Id="1"/></posts>"#,
                "the entity unused is declared"
            ),
            (
                #"<!DOCTYPE p [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><posts><row Id="1"/></posts>"#,
                "the entity a is declared"
            ),
            (#"<!DOCTYPE p [%b;]><posts><row Id="1"/></posts>"#, "the entity b is declared elsewhere"),
            (
                #"<!DOCTYPE p SYSTEM "file:///etc/x.dtd"><posts><row Id="&c;1"/></posts>"#,
                "the entity c is declared elsewhere"
            ),
            (
                #"<!DOCTYPE p PUBLIC "x" "http://127.0.0.1:9/x.dtd"><posts><row Id="1"/>&nbsp;</posts>"#,
                "the entity nbsp is declared elsewhere"
            ),
        ])
    func entities(document: String, message: String) throws {
        let folder = try InputFolder()
        let reading = try Reading(folder.write("x.xml", document))
        #expect(reading.picture.last == "!" && reading.messages.count == 1)
        #expect(
            reading.messages[0].contains("line 1") && reading.messages[0].contains(message),
            "\(reading.messages)")
    }

    @Test(
        "a document type without entities is passed over",
        arguments: [
            "<!DOCTYPE posts>", #"<!DOCTYPE posts SYSTEM "http://127.0.0.1:9/x.dtd">"#,
            #"<!DOCTYPE posts PUBLIC "-//S//Posts//EN" "file:///etc/passwd">"#,
            "<!DOCTYPE posts [<!ELEMENT posts (row)*> <!ELEMENT row EMPTY> <!NOTATION n SYSTEM 'n'>\n<!-- x --> <?pi y?>]>",
            #"<!DOCTYPE posts [<!ATTLIST row Id CDATA "9" Title CDATA #IMPLIED>]>"#,
        ])
    func documentTypes(declaration: String) throws {
        let folder = try InputFolder()
        let rows = #"<posts><row Id="1" Body="&lt;&amp;&#65;"/><row Id="2"/></posts>"#
        for start in ["", "\u{FEFF}", #"<?xml version="1.0" encoding="utf-8"?>"# + "\n"] {
            let reading = try Reading(folder.write("x.xml", start + declaration + "\n" + rows))
            #expect(reading.messages.isEmpty && reading.ids == ["2", "1"], "\(reading.picture)")
        }
        // a default is no attribute of the row
        let without = try Reading(folder.write("x.xml", declaration + "<posts><row Body=\"a\"/></posts>"))
        #expect(without.messages.first?.contains("no Id") == true)
    }

    @Test("a document type cannot make every element slow")
    func declarations() throws {
        let folder = try InputFolder()
        func message(_ count: Int) throws -> String? {
            let attributes = (0..<count).map { " a\($0) CDATA #IMPLIED" }.joined()
            return try Reading(
                folder.write(
                    "x.xml", "<!DOCTYPE posts [<!ATTLIST row\(attributes)>]><posts><row Id=\"1\"/></posts>")
            ).messages.first
        }
        #expect(try message(256) == nil)
        #expect(try message(257)?.contains("declares more than 256 attributes") == true)
    }

    @Test("limits of depth, names and records; other encodings; undefined entities")
    func xmlLimits() throws {
        let folder = try InputFolder()
        func message(_ document: String) throws -> String {
            let reading = try Reading(folder.write("x.xml", document)) {
                $0.recordLimit = 200_000
            }
            #expect(reading.picture.last == "!")
            return reading.messages.last ?? ""
        }
        let deep = String(repeating: "<a>", count: 200)
        #expect(try message("<rss><item>\(deep)").contains("nested deeper than 128"))
        let name = String(repeating: "n", count: 2_000)
        #expect(try message("<rss><\(name)/></rss>").contains("a name of more than 1024 bytes"))
        let long = String(repeating: "x", count: 500_000)
        #expect(try message("<posts><row Id=\"1\" Body=\"\(long)\"/></posts>").contains("limit"))
        #expect(try message("<posts><row Id=\"1\" Body=\"\(long)").contains("limit"))
        #expect(try message("<rss><item><guid>\(long)</guid></item></rss>").contains("limit"))
        #expect(try message("<rss><item><guid>\(long.prefix(70_000))</guid></item></rss>").contains("65536"))
        #expect(try message("<?xml version=\"1.0\" encoding=\"gb2312\"?><rss/>").contains("gb2312"))
        #expect(try message("<posts><row Id=\"1\" Body=\"&nbsp;\"/></posts>").contains("not XML"))
        #expect(try message("<posts><row Id=\"1\" Body=\"\u{1}\"/></posts>").contains("line 1"))
    }

    // MARK: Sizes

    @Test("a bomb stops at the ratio limit")
    func bombs() throws {
        let folder = try InputFolder()
        let zeros = [UInt8](repeating: 0x20, count: 40 << 20)
        for filter in [ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD] {
            let bomb = try folder.pack("b", [("", zeros)], filter: filter)
            let reading = try Reading(bomb) { $0.recordLimit = 1 << 30 }
            #expect(reading.picture == ["!"])
            #expect(reading.messages[0].contains("more than 250 times"), "\(reading.messages)")
        }
    }

    @Test("a gzip file whose checksum is wrong is damaged; several members and padding are not")
    func gzipChecksums() throws {
        let folder = try InputFolder()
        let lines = (1...60_000).map { "{\"id\": \($0)}\n" }
        func packed(_ lines: some Sequence<String>) throws -> [UInt8] {
            let file = try folder.pack("m", [("", Array(lines.joined().utf8))], filter: ARCHIVE_FILTER_GZIP)
            return try Array(Data(contentsOf: URL(fileURLWithPath: file)))
        }
        let one = try packed(lines)
        let parts = try [0..<1, 1..<900, 900..<60_000].map { try packed(lines[$0]) }
        let several = Array(parts.joined())
        let padding = [UInt8](repeating: 0, count: 700)
        for (name, bytes) in [("one", one), ("several", several), ("padded", one + padding)] {
            let reading = try Reading(folder.write("\(name).jsonl.gz", bytes))
            #expect(reading.messages.isEmpty && reading.ids.count == 60_000, "\(name): \(reading.messages)")
        }
        // the checksum of the only member, of the last one, and of the first one
        let places = [(one, one.count - 8), (several, several.count - 6), (several, parts[0].count - 7)]
        for (number, (bytes, place)) in places.enumerated() {
            var damaged = bytes
            damaged[place] ^= 1
            let reading = try Reading(folder.write("\(number).jsonl.gz", damaged))
            #expect(reading.messages.count == 1 && reading.ids.count == 60_000, "\(reading.messages)")
            #expect(reading.messages[0].contains("\(number).jsonl.gz: it is damaged: "))
            #expect(reading.pages.last?.isCut == true)
        }
    }

    @Test("a line above the limit is passed over; an item above it ends an array or a document")
    func recordLimit() throws {
        let folder = try InputFolder()
        let long = #"{"id": 2, "t": "\#(String(repeating: "x", count: 300_000))"}"#
        for (document, picture) in [
            ("{\"id\": 1}\n\(long)\n{\"id\": 3}\n", ["[1]", "!", "[3]"]),
            ("{\"id\": 1}\n\n\(long)\n\(long)\n{\"id\": 3}", ["[1]", "!", "!", "[3]"]),
            ("{\"id\": 1}\n{\"items\": [\(long)]}", ["[1]", "!"]),
            ("[{\"id\": 1}, \(long)]", ["[1]", "!"]),
            ("{\"items\": [\(long)]}", ["!"]), ("[\(long)]", ["!"]),
        ] {
            let reading = try Reading(folder.write("d", document)) { $0.recordLimit = 200_000 }
            #expect(reading.picture == picture)
            #expect(reading.messages.last?.contains("limit") == true, "\(reading.messages)")
            let isArray = document.hasPrefix("[{\"id\": 1}")
            #expect(reading.pages.last?.isCut == isArray, "\(reading.pages)")
            #expect(reading.messages.last?.contains("so the rest was not read") == isArray)
        }
    }

    @Test("deep JSON, names that steer a terminal, and ids that look like paths")
    func strings() throws {
        let folder = try InputFolder()
        let deep = String(repeating: "[", count: 100_000)
        #expect(try Reading(folder.write("d", deep)).picture == ["!"])
        let ids = try Reading(folder.write("i", "{\"id\": \"../../x\"}\n{\"id\": \"\\u001b[2J\"}\n"))
        #expect(ids.ids == ["../../x", "\u{1B}[2J"])
        let name = "evil\u{1B}[2J\r\u{202E}.ndjson"
        let reading = try Reading(folder.write(name, "{\"no\": \"\\u001b\"}\nx\n"))
        for message in reading.messages {
            #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        }
    }

    // MARK: JSONTestSuite

    @Test(
        "JSONTestSuite: 95 accepted, 188 rejected with a position, 35 the same each time",
        .enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
    func jsonTestSuite() throws {
        let folder = Fixtures.path("torture/JSONTestSuite")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        var counts: [Substring: Int] = [:]
        for name in names where name.hasSuffix(".json") && name.dropFirst().hasPrefix("_") {
            counts[name.prefix(2), default: 0] += 1
            let reading = try Reading("\(folder)/\(name)")
            let again = try Reading("\(folder)/\(name)")
            #expect(reading.messages == again.messages && reading.picture == again.picture)
            let rejections = reading.messages.filter {
                $0.contains("not JSON") || $0.contains("nested deeper") || $0.contains("not XML")
            }
            if name.hasPrefix("y_") { #expect(rejections.isEmpty, "\(name): \(rejections)") }
            if name.hasPrefix("n_") {
                let places = [" at byte ", "line 1, column ", "nested deeper", "nothing there"]
                #expect(
                    rejections.contains { message in places.contains { message.contains($0) } },
                    "\(name): \(reading.messages)")
            }
        }
        #expect(counts["y_"] == 95 && counts["n_"] == 188 && counts["i_"] == 35, "\(counts)")
    }

    @Test("attacks of defusedxml", .enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
    func defusedXML() throws {
        let files = try PageFile.list([Fixtures.path("torture/defusedxml")])
        #expect(files.count == 10)
        for file in files {
            let reading = try Reading(file.path)
            #expect(reading.picture == ["!"], "\(file.name)")
        }
    }

    @Test(
        "tables of the data dump have the rows, and the order, that were counted",
        .enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
    func dataDump() throws {
        let expected = try String(contentsOfFile: Fixtures.path("expected-stackdump.tsv"), encoding: .utf8)
        for line in expected.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: "\t")
            let reading = try Reading(Fixtures.path(String(fields[0])))
            #expect(reading.ids.count == Int(fields[1])! && reading.messages.isEmpty, "\(fields[0])")
            #expect(Set(reading.ids).count == Int(fields[4])!)
            let bodies = reading.pages.flatMap { page in
                page.answer.map { $0.bodies.dropLast(page.repeated) } ?? []
            }
            #expect(bodies.count { $0.contains(#" PostTypeId="1""#) } == Int(fields[2])!, "\(fields[0])")
        }
    }
}
