import Foundation
import Quire
import Testing

@testable import QuireDumps

@Suite struct RecognitionTests {
    private func recognised(
        _ text: String, request: String? = nil, _ wishes: Recognition.Wishes = .init()
    ) throws -> Recognition {
        let envelope = request.map { Envelope(request: $0, status: 200) }
        return try Recognition(of: Array(text.utf8), envelope: envelope, name: "r", wishes: wishes)
    }

    /// Items with times that descend, or do not, by field.
    private func page(_ fields: [String: [Int]], id: String = "question_id", rows: Int = 6) -> String {
        let items = (0..<rows).map { row in
            let times = fields.sorted { $0.key < $1.key }.map { "\"\($0)\": \(1_700_000_000 + $1[row])" }
            return "{\(([#""\#(id)": \#(row * 7 % 5 + row)"#] + times).joined(separator: ", "))}"
        }
        return #"{"items": [\#(items.joined(separator: ", "))], "has_more": true}"#
    }

    private let down = [60, 50, 40, 30, 20, 10]
    private let mixed = [60, 10, 40, 70, 20, 30]

    @Test func theFieldThatDescendsIsTheKey() throws {
        let activity = try recognised(page(["last_activity_date": down, "creation_date": mixed]))
        #expect(activity.profile.name == "stackexchange" && activity.profile.order == .bump)
        #expect(activity.profile.key?.path.text == "last_activity_date" && activity.advice == nil)
        let creation = try recognised(page(["last_activity_date": mixed, "creation_date": down]))
        #expect(creation.profile.order == .bump && creation.profile.key?.path.text == "creation_date")
        let neither = try recognised(page(["last_activity_date": mixed, "creation_date": mixed]))
        #expect(neither.profile.order == .ranked && neither.sentence.contains("not sorted by"))
        // Both: what the API usually sorts by, and the other one is named.
        let both = try recognised(page(["last_activity_date": down, "creation_date": down]))
        #expect(both.profile.key?.path.text == "last_activity_date")
        #expect(both.advice?.contains("--key creation_date") == true)
    }

    @Test func fewPostsDoNotTellTheOrder() throws {
        let few = try recognised(page(["creation_date": down], rows: 3))
        #expect(few.profile.order == .keyless && few.sentence.contains("3 posts are too few to tell"))
        #expect(few.advice?.contains("--order and --key") == true)
        let many = page(["creation_date": down], id: "x_id", rows: 6).replacing("has_more", with: "n")
        #expect(try recognised(many).profile.order == .bump)
    }

    /// A field that descends on the rows that were looked at, and not on the others, is no order.
    @Test func theWholePageHasToDescend() throws {
        func items(_ last: Int) -> String {
            let rows = (0..<300).map { #"{"id": "a\#($0)", "created_at": \#(1_700_000_000 - $0)}"# }
            return #"{"list": [\#(rows.joined(separator: ","))"# + #", {"id": "z", "created_at": \#(last)}]}"#
        }
        #expect(try recognised(items(1_600_000_000)).profile.order == .bump)
        let broken = try recognised(items(1_800_000_000))
        #expect(broken.profile.order == .ranked && broken.sentence.contains("on the first rows only"))
    }

    @Test func theRequestSaysTheOrder() throws {
        let address = "https://api.stackexchange.com/2.3/questions?sort="
        let text = page(["last_activity_date": down, "creation_date": down])
        let creation = try recognised(text, request: address + "creation")
        #expect(creation.profile.key?.path.text == "creation_date" && creation.advice == nil)
        #expect(creation.orderReason == "the request says sort=creation")
        #expect(try recognised(text, request: address + "votes").profile.order == .ranked)
        #expect(try recognised(text, request: address + "creation&order=asc").profile.order == .ranked)
        let wrong = try recognised(page(["creation_date": mixed]), request: address + "creation")
        #expect(wrong.profile.order == .ranked && wrong.orderReason.contains("does not descend"))
    }

    /// Requests of APIs without a profile: the field that they name counts, and not the one that happens to
    /// descend too.
    @Test(arguments: [
        "sort=-updated_at", "ordering=-updated_at", "sort=updated_at:desc", "sort=updated_at,desc",
        "$orderby=updated_at%20desc", "order_by=updated_at&direction=desc", "sort=updated&direction=desc",
        "jql=project%3DA%20order%20by%20updated%20DESC", "sortBy=lastUpdated", "sort[]=-updatedAt",
    ])
    func aRequestNamesTheFieldInItsOwnWords(_ query: String) throws {
        let text = page(["created_at": down, "updated_at": down], id: "id")
            .replacing("has_more", with: "more")
        let found = try recognised(text, request: "https://api.example.com/list?\(query)")
        #expect(found.profile.name == "unknown" && found.profile.order == .bump)
        #expect(found.profile.key?.path.text == "updated_at" && found.advice == nil, "\(found.sentence)")
        #expect(found.orderReason.hasPrefix("the request says ") && !found.asksForOldest)
        let other = page(["created_at": down, "updated_at": mixed], id: "id")
            .replacing("has_more", with: "more")
        let pinned = try recognised(other, request: "https://api.example.com/list?\(query)")
        #expect(pinned.profile.order == .ranked && pinned.sentence.contains("does not descend"))
    }

    @Test func aRequestThatNamesNoFieldLeavesItOpen() throws {
        let text = page(["created_at": down, "updated_at": down], id: "id")
            .replacing("has_more", with: "more")
        for query in ["order=desc", "sort=newest", "page=2&q=updated_at", "sort="] {
            let found = try recognised(text, request: "https://api.example.com/list?\(query)")
            #expect(found.orderReason == "created_at descends", "\(query): \(found.sentence)")
        }
        let merit = try recognised(text, request: "https://api.example.com/list?sort=-votes")
        #expect(merit.profile.order == .ranked && merit.orderReason == "the request says sort=-votes")
        let rising = page(["created_at": down.reversed()], id: "id").replacing("has_more", with: "more")
        let oldest = try recognised(rising, request: "https://api.example.com/list?ordering=created_at")
        #expect(oldest.asksForOldest && oldest.profile.order == .ranked)
        #expect(try !recognised(rising, request: "https://api.example.com/list").asksForOldest)
    }

    @Test func aNamedProfileIsOrderedAsTheRequestSays() throws {
        let profile = try #require(Profile.named("stackexchange"))
        let address = "https://api.stackexchange.com/2.3/questions"
        func found(_ query: String) -> Recognition? {
            let text = page(["last_activity_date": down, "creation_date": down])
            return Recognition(
                of: Array(text.utf8), as: profile, envelope: Envelope(request: address + query, status: 200))
        }
        #expect(found("") == nil && found("?sort=nothing") == nil)
        let creation = try #require(found("?sort=creation"))
        #expect(creation.profile.key?.path.text == "creation_date" && creation.profile.order == .bump)
        #expect(creation.reason == "as was said" && !creation.asksForOldest)
        #expect(found("?sort=creation&order=asc")?.asksForOldest == true)
        #expect(found("?sort=votes")?.profile.order == .ranked)
    }

    /// A key that the caller names orders a list of which the profile promises nothing.
    @Test func aNamedProfileIsOrderedByANamedKey() throws {
        let profile = try #require(Profile.named("github"))
        func found(_ text: String, _ key: String) -> Recognition? {
            Recognition(
                of: Array(text.utf8), as: profile, envelope: Envelope(request: "https://x/y", status: 200),
                key: key)
        }
        let items = (0..<9).map { #"{"id": \#($0), "u": "2024-01-0\#(9 - $0)T00:00:00Z", "n": \#($0)}"# }
        let text = "[\(items.joined(separator: ", "))]"
        let named = try #require(found(text, "u"))
        #expect(named.profile.key?.path.text == "u" && named.profile.order == .bump)
        #expect(found(text, "n")?.profile.order == .keyless)
        let other = try #require(Profile.named("stackexchange"))
        #expect(Recognition(of: Array(text.utf8), as: other, envelope: Envelope(), key: "u") == nil)
    }

    @Test func wishesComeFirst() throws {
        let text = page(["last_activity_date": down, "creation_date": down])
        let key = try recognised(text, .init(key: "creation_date"))
        #expect(key.profile.key?.path.text == "creation_date" && key.profile.order == .bump)
        #expect(try recognised(text, .init(order: .ranked)).profile.order == .ranked)
        let stable = try recognised(text, .init(order: .stable))
        #expect(stable.profile.order == .stable && stable.profile.key?.path.text == "creation_date")
        let other = try recognised(#"{"a": [{"n": 1}], "b": [{"m": 2}]}"#, .init(items: "b", id: "m"))
        #expect(other.profile.items.text == "b" && other.profile.id.path.text == "m")
    }

    /// A field that was named by hand makes no API of a list.
    @Test(arguments: [
        Recognition.Wishes(id: "id"), .init(id: "pid"), .init(key: "updated_at"),
        .init(id: "pid", key: "updated_at"), .init(id: "pid", key: "updated_at", order: .bump),
    ])
    func aNamedFieldIsNoAPI(wishes: Recognition.Wishes) throws {
        let rows = [30, 20, 10].map { #"{"id": \#($0), "pid": \#($0), "updated_at": \#($0)}"# }
        let list = "[\(rows.joined(separator: ", "))]"
        for (text, items) in [(list, nil), (#"{"rows": \#(list)}"#, "rows")] {
            var wishes = wishes
            wishes.items = items
            let found = try recognised(text, wishes)
            #expect(found.profile.name == "unknown", "\(found.sentence)")
            #expect(found.profile.order == wishes.order ?? .ranked, "\(found.sentence)")
            #expect(found.profile.id.path.text == wishes.id ?? "id")
            let answer = try PageParser(profile: found.profile).parse(Array(text.utf8), name: "r")
            #expect(answer.ids == ["30", "20", "10"] && answer.next == .unknown)
        }
    }

    @Test func aNamedKeyThatDescendsIsTheOrderOfAnUnknownAPI() throws {
        func list(_ keys: [Int]) -> String {
            let rows = keys.enumerated().map { #"{"pid": \#($0), "n": \#($1)}"# }
            return "[\(rows.joined(separator: ", "))]"
        }
        let sorted = try recognised(list(down), .init(id: "pid", key: "n"))
        #expect(sorted.profile.order == .bump && sorted.orderReason == "n descends")
        let other = try recognised(list(mixed), .init(id: "pid", key: "n"))
        #expect(other.profile.order == .ranked && other.orderReason == "it is not sorted by n")
        let few = try recognised(list([2, 1]), .init(id: "pid", key: "n"))
        #expect(few.profile.order == .ranked && few.orderReason == "2 posts are too few to tell")
    }

    @Test func namedFieldsReplaceThoseOfAProfileThatFits() throws {
        let items = #"[{"question_id": 8, "x": 2, "last_activity_date": 9}]"#
        let more = items.replacing("question_id", with: "n")
        let text = #"{"items": \#(items), "more": \#(more), "has_more": true}"#
        let date = "last_activity_date"
        for (wishes, path, id, key) in [
            (Recognition.Wishes(id: "question_id"), "items", "question_id", nil),
            (.init(id: "question_id", key: date), "items", "question_id", date),
            (.init(items: "items", key: "x"), "items", "question_id", "x"),
            (.init(id: "x"), "items", "x", nil),
            (.init(items: "more", id: "n"), "more", "n", nil),
        ] as [(Recognition.Wishes, String, String, String?)] {
            let found = try recognised(text, wishes).profile
            #expect(found.name == "stackexchange" && found.items.text == path && found.id.path.text == id)
            #expect(found.key?.path.text == key)
        }
        // Items without their response are known by the name of their id.
        let line = Array(#"{"question_id": 8, "x": 2}"#.utf8)
        func lines(_ id: String) throws -> Recognition {
            try Recognition(ofEach: [line, line], name: "l", wishes: .init(id: id))
        }
        #expect(try lines("question_id").profile.name == "stackexchange")
        #expect(try lines("x").profile.name == "unknown")
    }

    @Test func aListOfObjectsIsNoListOfIDs() throws {
        var list = try #require(Profile.named("hackernews"))
        let error = dumpError { () throws(DumpError) in try list.setID(path: "pid") }
        #expect(error?.message == "pid: profile hackernews reads a list of ids, which have no fields")
        #expect(try recognised("[3, 2, 1]", .init(id: "")).profile.name == "hackernews")
        #expect(dumpError { _ = try recognised("[3, 2, 1]", .init(id: "pid")) } != nil)
    }

    @Test func anotherListOfTheSameAPI() throws {
        let users = try recognised(
            #"{"items": [{"user_id": 5, "name": "x"}], "has_more": false, "quota_remaining": 3}"#)
        #expect(users.profile.name == "stackexchange" && users.profile.id.path.text == "user_id")
        let nodes =
            #"{"data": {"viewer": {"gists": {"nodes": [{"id": "G1"}], "pageInfo": {"hasNextPage": false, "#
        let gists = try recognised(nodes + #""endCursor": "x"}}}}}"#)
        #expect(gists.profile.name == "graphql" && gists.profile.items.text == "data.viewer.gists.nodes")
        // What was found can be stored as a profile of its own.
        let again = try Profile(json: Array(gists.profile.source.utf8), name: "again")
        #expect(again.items.text == gists.profile.items.text)
    }

    @Test func anAPIWithoutAProfile() throws {
        let text =
            #"{"meta": {"next_cursor": "c2"}, "albums": [{"album_id": 4, "t": "x"}, {"album_id": 3, "t": "x"}]}"#
        let found = try recognised(text)
        #expect(found.profile.name == "unknown" && found.profile.order == .ranked)
        let answer = try PageParser(profile: found.profile).parse(Array(text.utf8), name: "r")
        #expect(answer.ids == ["4", "3"] && answer.next == .token("c2"))
    }

    @Test(arguments: [
        (#"{"id": 5, "title": "x"}"#, "it is a single object with \"id\", \"title\""),
        (#"{"items": [], "has_more": false}"#, "the page is empty: \"items\" is a list without items"),
        (
            #"{"a": [{"id": 1}, {"id": 2}], "b": [{"id": 1}, {"id": 2}]}"#,
            "--items names the one that is the feed"
        ),
        (
            #"{"a": [{"x": 1}, {"x": 1}]}"#,
            "no field of the items of \"a\" differs for each like an id; --id names it"
        ),
        (#"{"error": "gone", "message": "try later"}"#, "error document: gone: try later"),
        (#"["a", "b"]"#, "a list of values"), ("7", "neither an object nor a list"), ("{\"a\": ", "not JSON"),
        ("", "not JSON"),
        ("interactions:\n- a", "not JSON, and not XML: it begins with \"interactions:\\u{A}- a\""),
    ])
    func refusals(text: String, reason: String) throws {
        let error = dumpError { _ = try recognised(text) }
        #expect(
            error?.message.hasPrefix("r: ") == true && error?.message.contains(reason) == true,
            "\(error as Any)")
    }

    /// Cut anywhere, and with any byte damaged, a response ends in a recognition or an error.
    @Test func damage() throws {
        let bytes = Array(page(["creation_date": down]).utf8)
        for count in 0..<bytes.count { _ = try? Recognition(of: Array(bytes.prefix(count)), name: "r") }
        for place in bytes.indices {
            for value in [0, 0x22, 0x2C, 0x5B, 0x5C, 0x7D, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[place] = value
                _ = try? Recognition(of: damaged, name: "r")
            }
        }
        let deep = [UInt8](repeating: 0x5B, count: 1_000_000)
        #expect(throws: DumpError.self) { try Recognition(of: deep, name: "r") }
    }

    // MARK: Through the reader

    private func pages(_ text: String, profile: String? = nil) throws -> [InputPage] {
        let path = NSTemporaryDirectory() + "/quire-recognition-" + UUID().uuidString
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = InputOptions(profile: Profile.named(profile ?? "stackexchange")!)
        if profile == nil { options.wishes = .init() }
        let reader = PageReader(Input.list([path]), options)
        var pages: [InputPage] = []
        while let page = reader.next() { pages.append(page) }
        return pages
    }

    private func response(_ id: Int) -> String { #"{"items": [{"question_id": \#(id)}], "has_more": true}"# }

    @Test(arguments: [nil, "stackexchange"])
    func oneValueAfterTheOther(profile: String?) throws {
        for separator in ["", " ", "\n", "\n\n", "\t"] {
            let texts = (1...3).map { response($0).replacing(", ", with: ",\n  ") }
            let found = try pages(texts.joined(separator: separator), profile: profile)
            #expect(
                found.compactMap { $0.answer?.ids.first } == ["1", "2", "3"], "\(separator.debugDescription)")
        }
        // What follows the last whole value is an error of its own.
        let cut = try pages(response(1) + response(2) + #"{"items": ["#, profile: profile)
        #expect(cut.compactMap { $0.answer?.ids.first } == ["1", "2"] && cut.count == 3)
    }

    @Test(
        arguments: [nil, "stackexchange"],
        ["oops", "# a comment", #"{"items": [{"ques"#, "{}", "17", "null", "[]", #"{"error_id": 5}"#])
    func theFirstOddLineDoesNotDecide(profile: String?, odd: String) throws {
        let text = ([odd] + (1...3).map(response)).joined(separator: "\n")
        let found = try pages(text, profile: profile)
        #expect(found.compactMap { $0.answer?.ids.first } == ["1", "2", "3"])
        #expect(found.count == 4, "the odd line is an error")
        let items = ([odd] + (1...3).map { #"{"question_id": \#($0)}"# }).joined(separator: "\n")
        #expect(
            try pages(items, profile: profile).flatMap { $0.answer?.ids ?? [] }.suffix(3) == ["1", "2", "3"])
    }

    @Test(arguments: ["# from a database", "null", "[]", "17", #"{"exported": "2024-05-01"}"#, "[\"x\"]"])
    func theFirstOddLineOfAnUnknownAPI(odd: String) throws {
        let rows = (1...6).map { #"{"id": \#(10 - $0), "created_at": \#(1_700_000_010 - $0)}"# }
        let documents = ([odd] + rows).map { Array($0.utf8) }
        let found = try Recognition(ofEach: documents, name: "x", wishes: .init())
        #expect(found.profile.id.path.text == "id" && found.profile.order == .bump, "\(found.sentence)")
        let pages = try pages(([odd] + rows).joined(separator: "\n"), profile: nil)
        #expect(pages.flatMap { $0.answer?.ids ?? [] } == (4...9).reversed().map { "\($0)" })
    }

    /// `[…]` on each line is a response of its own, of an API that is known or not.
    @Test(arguments: [
        (#"{"id": "%", "reblogs_count": 0, "visibility": "public", "uri": "https://m/%"}"#, ""),
        (#"{"id": %, "updated_at": 1700000%00}"#, "[]"),
        (#"{"question_id": %, "last_activity_date": 1700000%00}"#, ""),
    ])
    func responsesThatAreListsOnALineEach(item: String, last: String) throws {
        func post(_ id: Int) -> String { item.replacing("%", with: "\(id)") }
        let lines = stride(from: 18, to: 10, by: -2).map { "[\(post($0)), \(post($0 - 1))]" }
        let text = (lines + [last]).joined(separator: "\n")
        let found = try pages(text, profile: nil)
        let ids = found.map { $0.answer?.ids ?? [] }
        #expect(ids.prefix(4) == [["18", "17"], ["16", "15"], ["14", "13"], ["12", "11"]], "\(found)")
        #expect(ids.dropFirst(4).joined().isEmpty)
    }

    @Test func aNamedListMakesResponsesOfLines() throws {
        let lines = ["a", "b"].map {
            Array(#"{"rows": [{"guid": "\#($0)1", "n": 1}, {"guid": "\#($0)2", "n": 2}]}"#.utf8)
        }
        for id in [nil, "guid"] {
            let wishes = Recognition.Wishes(items: "rows", id: id)
            let found = try Recognition(ofEach: lines, name: "l", wishes: wishes).profile
            #expect(found.name == "unknown" && found.items.text == "rows" && found.id.path.text == "guid")
        }
    }

    @Test func aMissingOptionalMemberRefusesNothing() throws {
        let profile = try #require(Profile.named("twitter2"))
        let parser = PageParser(profile: profile)
        #expect(try parser.parse(Array(#"{"data": [{"id": "5"}]}"#.utf8), name: "t").ids == ["5"])
        #expect(try parser.parse(Array(#"{"meta": {"result_count": 0}}"#.utf8), name: "t").posts.isEmpty)
        // Without both it is not one of Twitter's.
        #expect(throws: DumpError.self) { try parser.parse(Array("{}".utf8), name: "t") }
    }
}
