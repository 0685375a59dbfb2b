import Foundation
import Quire
import Testing

@testable import QuireDumps

/// What recognising is made of: the walk over a document, the search for signs, changed profiles.
@Suite struct RecognitionPartsTests {
    private func outline(_ text: String) throws -> JSONOutline {
        try #require(JSONOutline(Array(text.utf8)[...]))
    }

    // MARK: The walk

    /// Strings of each length, with what could end them too early at each place.
    @Test func stringsEndWhereTheyEnd() throws {
        for length in 0..<40 {
            for place in 0..<max(1, length) {
                for middle in ["\\\"", "\\\\", "]", "{", "é"] {
                    let text =
                        String(repeating: "x", count: place) + middle
                        + String(repeating: "y", count: length - min(place, length))
                    let outline = try outline(#"{"a": [1, "\#(text)", {"b": "\#(text)"}], "c": 7}"#)
                    let found = [["a", "1"], ["a", "2", "b"]].compactMap { outline.find($0) }
                    #expect(found.map(outline.text) == [text, text])
                    #expect(outline.find(["c"]).map(outline.text) == "7")
                }
            }
        }
    }

    /// The elements that have no nodes are walked over, with the value at the path; null is passed over.
    @Test func elementsWithoutNodes() throws {
        let odd = [
            #"{"t": {"at": "x\"]"}}"#, #"{"u": [[{}]], "t": {"z": "\\", "at": -5.5e3}}"#, "{}", "17", "null",
            #"{"t": {"at": {"deep": []}}}"#, #"{"t": {"at": 1}, "t": {"at": 2}}"#, #"["t", {"at": 3}]"#,
        ]
        let rows = (0..<120).map { #"{"t": {"at": \#($0)}}"# } + odd + ["\n" + odd[0] + " "]
        let outline = try outline(#"{"a": [ \#(rows.joined(separator: " ,\n")) ], "b": []}"#)
        let list = try #require(outline.find(["a"]))
        let last = try #require(Array(outline.children(of: list)).last)
        var found: [String] = []
        outline.eachUnread(of: list, below: last, ["t", "at"]) { value in
            found.append(value.map { String(decoding: outline.slice($0.range), as: UTF8.self) } ?? "-")
            return true
        }
        #expect(found == [#"x\"]"#, "-5.5e3", "-", "-", "-", "1", "-", #"x\"]"#])
        var count = 0
        outline.eachUnread(of: list, below: last, ["t", "at"]) { _ in
            count += 1
            return count < 3
        }
        #expect(count == 3)
    }

    @Test func aBrokenListEndsTheWalk() throws {
        for broken in [",", ", ]", ", {\"t\"", ", {\"t\": ", ", [", ", \"", "x"] {
            let rows = Array(repeating: #"{"t": 1}"#, count: 120).joined(separator: ",")
            let bytes = Array("[\(rows)\(broken)".utf8)
            _ = JSONOutline(bytes[...])
            bytes.withUnsafeBufferPointer { buffer in
                for start in buffer.indices {
                    var walk = JSONWalk(buffer, at: start)
                    _ = walk.take([Array("t".utf8)])
                    #expect(walk.at <= buffer.count + 1)
                }
            }
        }
    }

    // MARK: Links

    /// Of a response with 10 rows.
    @Test(arguments: [
        // What was asked, the link, and what it is.
        ("", "?page=2", "page numbers (page=2)"), ("", "/l?page=1", "page numbers (page=1)"),
        ("", "https://b.example/l/?PageNumber=2", "page numbers (PageNumber=2)"),
        ("?q=a b&page=4", "/l?page=5&q=a%20b", "page numbers (page=5)"),
        ("?page=0", "page=1", "page numbers (page=1)"), ("", "/l?limit=30&offset=30", "offsets (offset=30)"),
        ("?$skip=20", "/l?$skip=30", "offsets ($skip=30)"),
        ("", "/l?startIndex=11", "offsets (startIndex=11)"),
        ("?page_size=500", "/l?page=2&page_size=100", "page numbers (page=2)"),
        ("?key=1", "/l?key=1&secret=x&p=2", "page numbers (p=2)"),
        ("", "?page=3", nil), ("?page=2", "?page=4", nil), ("", "?page=x2", nil), ("?page=a", "?page=2", nil),
        ("", "?offset=7", nil), ("", "?max_id=10", nil), ("", "?since=10", nil), ("", "?cursor=2", nil),
        ("", "/other?page=2", nil), ("?q=a", "/l?page=2", nil), ("?q=a", "/l?q=b&page=2", nil),
        ("", "?page=2&after=x", nil), ("", "?page=2&page=3", nil), ("", "2", nil), ("", "bz0xMA==", nil),
        ("", "?page=", nil), ("", "::", nil), ("", "?limit=10", nil),
    ])
    func positions(query: String, link: String, kind: String?) {
        let asked = "https://a.example/l" + query.validAddress
        let found = PositionLink(link, of: asked, unseen: ["secret"], rows: 10)
        #expect(found?.words == kind.map { "its links are \($0)" }, "\(query) \(link)")
    }

    @Test(arguments: [
        ("", "next_page", "2", true), ("?page=4", "nextPage", "5", true),
        ("?page=4", "next_page", "4", false),
        ("", "next", "2", false), ("", "next_cursor", "2", false), ("", "next_page", "20", false),
    ])
    func members(query: String, name: String, text: String, isPosition: Bool) {
        let found = PositionLink(text, inMember: name, of: "https://a.example/l" + query)
        #expect((found != nil) == isPosition && found?.words != "its links are page numbers (page=\(text))")
    }

    /// A profile that looks for the link in each response.
    @Test(arguments: [
        (#"{"a": [], "next": "x"}"#, "", Link.token("x")), (#"{"a": [], "meta": {"next": null}}"#, "", .end),
        (#"{"a": [], "next": ""}"#, "", .end), (#"{"a": []}"#, "", .unknown),
        (#"{"a": [], "cursor": null}"#, "", .unknown), (#"{"a": [], "next_page": 3}"#, "", .token("3")),
        (#"{"a": [], "next": {"href": "\/b?p=2"}}"#, "", .token("/b?p=2")),
        (#"{"a": []}"#, "</b?p=2>; rel=next", .token("https://x.example/b?p=2")),
        (#"{"a": []}"#, "</b>; rel=first", .end), (#"{"a": []}"#, "</c>; rel=help", .unknown),
    ])
    func foundLinks(text: String, header: String, next: Link) throws {
        let json = #"{"name": "x", "items": "a", "id": {}, "next": {"found": true}}"#
        var envelope = Envelope(request: "https://x.example/b", status: 200)
        if !header.isEmpty { envelope.add("Link", header) }
        let profile = try Profile(json: Array(json.utf8), name: "x")
        let answer = try PageParser(profile: profile).read(Array(text.utf8), envelope: envelope, name: "x")
            .answer
        #expect(answer.next == next)
    }

    /// The number that a response gives itself, if it is that of a first page.
    @Test(arguments: [
        (#"{"d": [], "number": 0}"#, 0), (#"{"d": [], "meta": {"page": 1}}"#, 1),
        (#"{"d": [], "page": {"number": 0, "size": 20}}"#, 0), (#"{"d": [], "page": 7}"#, nil),
        (#"{"d": [], "page": "0"}"#, nil), (#"{"d": [{"number": 0}]}"#, nil),
    ])
    func ownNumbers(text: String, number: Int?) throws {
        #expect(OwnNumber.find(in: try outline(text), beside: ["d"]) == number)
    }

    /// The number of posts in the whole list: beside the list or around it, and not below what is there.
    @Test(arguments: [
        (#"{"r": {"d": [1, 2], "total": 2}, "total": 9}"#, "r.total"),
        (#"{"r": {"d": [1, 2]}, "meta": {"total_count": 9}}"#, "meta.total_count"),
        (#"{"r": {"d": [1, 2], "total": {"value": 9, "relation": "gte"}}}"#, "r.total.value"),
        (#"{"r": {"d": [1, 2], "total": 1}, "nbHits": 9}"#, "nbHits"),
        (#"{"r": {"d": [1, 2], "total": "9", "count": 9}}"#, nil), (#"{"r": {"d": [{"total": 9}, 2]}}"#, nil),
        (#"{"r": {"d": [1, 2], "total": 2.5}}"#, nil), (#"{"r": {"d": [1, 2], "total": -9}}"#, nil),
    ])
    func ownTotals(text: String, path: String?) throws {
        #expect(OwnTotal.find(in: try outline(text), beside: ["r", "d"], items: 2)?.text == path)
    }

    // MARK: Signs

    /// Against a search for each text by itself.
    @Test func signs() {
        let search = SignSearch.builtIn
        let all = Set(Profile.builtIn.flatMap(\.signs)).sorted()
        #expect(all.count > 10 && all.allSatisfy { search.bits(of: [$0]).nonzeroBitCount == 1 })
        #expect(search.bits(of: all).nonzeroBitCount == all.count && search.bits(of: []) == 0)
        let seed = UInt64.random(in: 0 ..< .max)
        var random = Draws(seed)
        let letters = Array(Set(all.joined().utf8)).sorted()
        for _ in 0..<2_000 {
            var bytes: [UInt8] = []
            for _ in 0..<random.next(6) {
                bytes += (0..<random.next(8)).map { _ in letters[random.next(letters.count)] }
                let sign = Array(all[random.next(all.count)].utf8)
                bytes += sign.prefix(random.next(3) == 0 ? random.next(sign.count) : sign.count)
            }
            let expected = all.filter { sign in
                let sign = Array(sign.utf8)
                return bytes.indices.contains { bytes[$0...].starts(with: sign) }
            }
            #expect(search.found(in: bytes) == search.bits(of: expected), "seed \(seed)")
        }
    }

    /// Splitmix64.
    private struct Draws {
        private var state: UInt64
        init(_ seed: UInt64) { state = seed }
        mutating func next(_ limit: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((z ^ (z >> 31)) % UInt64(limit))
        }
    }

    // MARK: Changed profiles

    private static let albums = (1...10).map { #"{"album_id": \#($0)}, "# }.joined()

    /// A profile that was changed is the one that its JSON says.
    @Test(arguments: [
        #"{"items": [{"user_id": 5, "name": "x"}], "has_more": false, "quota_remaining": 3}"#,
        #"{"meta": {"next_cursor": "c"}, "albums": [\#(albums){"t": 1}]}"#,
        #"{"data": {"v": {"nodes": [{"id": "G1"}], "pageInfo": {"hasNextPage": true, "endCursor": "x"}}}}"#,
        #"{"feed": [], "followers": [{"did": "did:plc:a"}, {"did": "did:plc:b"}], "cursor": "at://x"}"#,
        #"[{"id": 4}, {"id": 3}]"#,
    ])
    func theJSONOfAChangedProfile(text: String) throws {
        let link = Envelope(request: "https://x.example/a", status: 200)
        var linked = link
        linked.add("Link", #"<https://x.example/a?p=2>; rel="next""#)
        for envelope in [nil, link, linked] {
            let found = try Recognition(of: Array(text.utf8), envelope: envelope, name: "r").profile
            try Self.expectSame(found)
        }
    }

    static func expectSame(_ profile: Profile) throws {
        let again = try Profile(json: Array(profile.source.utf8), name: "again")
        #expect(again.explanation.map { "\($0)" } == profile.explanation.map { "\($0)" })
        #expect(again.options == profile.options && again.title == profile.title)
        #expect(again.post == profile.post && again.hasOpaqueRows == profile.hasOpaqueRows)
    }

    @Test func changesThatContradict() throws {
        let nostr = try #require(Profile.named("nostr"))  // its next page is made of an integer
        #expect(nostr.changed(by: [.key(nil)]) == nil)
        #expect(nostr.changed(by: [.order(.ranked)])?.order == .ranked)
        let graphql = try #require(Profile.named("graphql"))
        #expect(graphql.changed(by: [.items(.here)]) == nil)  // there is nothing around the items
        #expect(graphql.changed(by: [])?.source == graphql.source)
    }

    // MARK: Threads

    /// The parsers of the profiles are shared, one caller at a time.
    @Test func manyAtOnce() async throws {
        let texts = (0..<8).map { number in
            let rows = (0..<9).map {
                #"{"question_id": \#($0 + 10 * number), "creation_date": \#(1_700_000_000 - $0)}"#
            }
            return Array(#"{"items": [\#(rows.joined(separator: ","))], "has_more": true}"#.utf8)
        }
        let expected = try Recognition(of: texts[0], name: "r").sentence
        await withTaskGroup(of: Bool.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { round in
                        let text = texts[(thread + round) % texts.count]
                        return (try? Recognition(of: text, name: "r").sentence) == expected
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
