import Foundation
import QuireSimulator
import Testing

@testable import QuireCLI

@Suite("what listings print")
struct PrintingTests {
    private func excerpt(_ body: String) -> String {
        Array(body.utf8).withUnsafeBytes { BodyText.excerpt(of: $0) }
    }

    @Test(
        "an excerpt is the title of the post, else the start of its body, on one line",
        arguments: [
            (#"{"title": "a  b\tc\n", "x": 1}"#, "a b c"),
            (#"{"x": {"title": "inner"}, "title":"outer"}"#, "outer"),
            (#"{"x": ["title", "y"], "y": "title", "title": "é"}"#, "é"),
            (#"{"a\"title": "no", "b": "\\", "title": "\u00e9\/"}"#, "é/"),
            (#"{"title": 7}"#, #"{"title": 7}"#), (#"["title", "x"]"#, #"["title", "x"]"#),
            ("  plain\u{2003}text \r\n of a post", "plain text of a post"), ("", ""), ("{", "{"),
            (#"{"title"#, #"{"title"#), (#"{"title": "cut"#, #"{"title": "cut"#),
            (#""title": "x""#, #""title": "x""#),
        ])
    func excerpts(body: String, text: String) { #expect(excerpt(body) == text) }

    @Test("no more of a body is read than up to its title, and 200 characters are enough")
    func bounds() {
        #expect(excerpt(#"{"title": "x", what follows is no JSON"#) == "x")
        #expect(excerpt(String(repeating: "a", count: 300)) == String(repeating: "a", count: 200))
        #expect(excerpt(#"{"title": "\#(String(repeating: "é", count: 300))"}"#).count == 200)
    }

    private func object(_ json: Data) throws -> NSDictionary? {
        try JSONSerialization.jsonObject(with: json) as? NSDictionary
    }

    private struct Part: Encodable { let isPart: Bool }

    private struct Line: Encodable {
        let text: String
        let bytes: Int
        let bytesBefore: Int64
        @OrNull var nothing: Int?
        var left: String?
        let parts: [Part]
        let belowPost: UInt64
        let strings: [String]
    }

    @Test(
        "a line says what JSONEncoder writes, and nothing in it steers a terminal",
        arguments: [1, 2, 3, 4] as [UInt64])
    func lines(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for _ in 0..<200 {
            let scalars = (0..<random.below(20)).compactMap { _ in
                Unicode.Scalar(UInt32(random.below(random.below(2) == 0 ? 0x80 : 0x3000)))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let line = Line(
                text: text, bytes: random.below(1_000) - 500, bytesBefore: Int64(random.below(9)),
                nothing: random.below(2) == 0 ? nil : 3, left: random.below(2) == 0 ? nil : text,
                parts: (0..<random.below(3)).map { Part(isPart: $0 == 1) },
                belowPost: UInt64(random.below(7)),
                strings: (0..<random.below(3)).map { "\($0)\"" })
            let printed = try JSONLines.text(line)
            #expect(printed.unicodeScalars.allSatisfy { $0.isHarmless })
            #expect(try object(Data(printed.utf8)) == object(encoder.encode(line)))
        }
    }

    @Test("a long table is printed in blocks, with the columns of the first one, and looks like one list")
    func longTable() throws {
        let box = try Sandbox()
        try box.page("1.json", (1...2_500).reversed(), more: false)
        _ = try box.quire("ingest", box.cache, "so", box.path("1.json"))
        let lines = try box.quire("show", box.cache, "so", "-n", "2500").lines
        #expect(lines.count == 2_503 && lines.last == "goes on with: end")
        #expect(lines[1].hasPrefix("ID    KEY  PAGE  BYTES  TEXT"), "\(lines[1])")
        #expect(
            Set(
                lines[2..<2_502].map {
                    $0.distance(from: $0.startIndex, to: $0.firstRange(of: "post")!.lowerBound)
                }
            )
            .count == 1)
        let json = try box.quire("show", box.cache, "so", "-n", "2500", "--json").objects()
        #expect(json.compactMap { $0["id"] as? String } == (1...2_500).reversed().map(String.init))
    }
}
