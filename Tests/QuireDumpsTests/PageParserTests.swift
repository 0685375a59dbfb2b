import Quire
import Testing

@testable import QuireDumps

/// Reads a page that lies in the test. `profile` is what stands between the braces besides the name.
private func read(_ page: String, _ profile: String, limit: Int = 1 << 20) throws -> Answer {
    let profile = try Profile(json: Array("{\"name\":\"x\",\(profile)}".utf8), name: "profile")
    return try PageParser(profile: profile, limit: limit).parse(Array(page.utf8), name: "f.json")
}

private let plain = #""items":"items","id":{"path":"id","type":"integer"}"#

@Suite struct PageParserTests {
    @Test func bodiesAreTheBytesOfThePage() throws {
        let page =
            "\u{FEFF} {\"x\" :[{\"id\":1}], \"items\": [ {\"id\":1 ,\"t\":\"}]\\\"\"}\n ,\t{ \"id\" : 2, \"u\": [1, 2 ] } \r\n ] } \n"
        let answer = try read(page, plain)
        #expect(answer.bytes == Array(page.utf8))
        #expect(answer.ids == ["1", "2"])
        #expect(answer.bodies == [#"{"id":1 ,"t":"}]\""}"#, #"{ "id" : 2, "u": [1, 2 ] }"#])
        #expect(answer.next == .unknown && answer.previous == .unknown && answer.opaqueRows == 0)
    }

    @Test func whatChangedSinceAToken() throws {
        let fields = plain + #","since":{"path":"sync"},"deleted":"gone""#
        let answer = try read(#"{"items":[{"id":1}],"gone":["a",7],"sync":"t9"}"#, fields)
        #expect(answer.since == "t9" && answer.deleted == ["a", 7])
        let page = try read(#"{"items":[{"id":1}]}"#, fields)
        #expect(page.since == nil && page.deleted == [])
        #expect(throws: DumpError.self) { try read(#"{"items":[],"gone":[[]]}"#, fields) }
        #expect(throws: DumpError.self) { try read(#"{"items":[],"gone":7}"#, fields) }
    }

    @Test func postsInsideItems() throws {
        let page = #"{"data":{"a.b":[{"k":"t3","d" : {"n":"x", "s": 1} , "z":0}, {"d":{"n":"y","s":2}}]}}"#
        let answer = try read(
            page, #""items":"data.a\\.b","post":"d","id":{"path":"d.n"},"key":{"path":"d.s"}"#)
        #expect(answer.bodies == [#"{"n":"x", "s": 1}"#, #"{"n":"y","s":2}"#])
        #expect(answer.ids == ["x", "y"] && answer.posts.map(\.key) == [1, 2])
    }

    @Test(arguments: [
        (#"[7, 8 ,9]"#, #""id":{}"#, ["7", "8", "9"], ["7", "8", "9"]),
        (#"["a" , "b\n"]"#, #""id":{}"#, ["a", "b\n"], [#""a""#, #""b\n""#]),
        (
            #"[["E",{"id":5}] ,["E", {"id":"6"} ]]"#, #""post":"1","id":{"path":"1.id"}"#,
            ["5", "6"], [#"{"id":5}"#, #"{"id":"6"}"#]
        ),
        (
            #"[{"id":-3},{"id":18446744073709551615}]"#, #""id":{"path":"id"}"#,
            ["-3", "18446744073709551615"], [#"{"id":-3}"#, #"{"id":18446744073709551615}"#]
        ),
        (
            #"[[1],[{"r":[{"\u0069d":4}]}]]"#, #""items":"1.0.r","id":{"path":"id"}"#, ["4"],
            [#"{"\u0069d":4}"#]
        ),
        (#"[]"#, #""id":{}"#, [], []),
        (#"{"n":0}"#, #""items":"data","items_absent":"empty","id":{}"#, [], []),
        (
            "{\"id\":1}\r\n\n  {\"id\":2} \n", #""lines":true,"id":{"path":"id"}"#,
            ["1", "2"], [#"{"id":1}"#, #"{"id":2}"#]
        ),
        ("1\n22\n", #""lines":true,"id":{}"#, ["1", "22"], ["1", "22"]),
    ])
    func shapes(page: String, profile: String, ids: [String], bodies: [String]) throws {
        let answer = try read(page, profile)
        #expect(answer.ids == ids && answer.bodies == bodies)
    }

    @Test(arguments: [
        ("{\"items\":[1}", "not JSON: a comma, colon, bracket or value out of place at byte 11"),
        ("{\"items\":[]} x", "not JSON: a comma, colon, bracket or value out of place at byte 13"),
        ("", "not JSON: nothing there"),
        ("{\"items\":[{\"id\":01}]}", "not JSON: a bad number, or one beyond 64 bits at byte 16"),
        ("{\"a\":tru,\"items\":[]}", "not JSON: a bad word at byte 5"),
        ("{\"a\":\"b", "not JSON: it is cut: it ends in the middle, at byte 7"),
        ("{\"a\":\"b\nc\"}", "not JSON: a control character in a string at byte 7"),
        ("{\"a\":\"\\x\"}", "not JSON: a bad escape in a string at byte 6"),
        ("{\"a\":\"\\ud83d!\"}", "not JSON: a bad escape in a string at byte 6"),
        (
            "{\"a\":18446744073709551616}",
            "a number that does not fit 64 bits at byte 5, in a: 18446744073709551616"
        ),
        (
            "{\"a\":-9223372036854775809}",
            "a number that does not fit 64 bits at byte 5, in a: -9223372036854775809"
        ),
        ("{\"a\":1e999}", "a number that does not fit 64 bits at byte 5, in a: 1e999"),
        (
            #"{"items":[{"id":1},{"id":2,"b":{"c.d":[0,"\",[",1e999]}}]}"#,
            #"a number that does not fit 64 bits at byte 48, in b.c\.d.2 of item 2: 1e999"#
        ),
        ("{\"items\":[7,1e999]}", "a number that does not fit 64 bits at byte 12, in item 2: 1e999"),
        ("1e999 ", "a number that does not fit 64 bits at byte 0: 1e999"),
        ("[18446744073709551616", "not JSON: a comma, colon, bracket or value out of place at byte 1"),
        ("{\"items\":[1,", "not JSON: it is cut: it ends in the middle, at byte 12"),
        ("{}", "no items, where profile x has its list"),
        ("{\"items\":null}", "items is null, where profile x has its list"),
        ("{\"items\":{}}", "items is an object, not an array"),
        ("{\"items\":[],\"items\":[]}", "items is there twice"),
        ("[]", "no items, where profile x has its list"),
        ("{\"items\":[{\"id\":1},{}]}", "item 2: no id"),
        ("{\"items\":[{\"id\":1},null]}", "item 2: no id"),
        ("{\"items\":[{\"id\":1},7]}", "item 2: an integer, not an object"),
        ("{\"items\":[[7]]}", "item 1: an array, not an object"),
        ("{\"items\":[{\"id\":null}]}", "item 1: id is null"),
        ("{\"items\":[{\"id\":\"1\"}]}", "item 1: id is a string, not an integer"),
        (
            "{\"items\":[{\"id\":1.0}]}",
            "item 1: id is a number with a fraction or exponent, not an integer"
        ),
        ("{\"items\":[{\"id\":[]}]}", "item 1: id is an array, not an integer"),
        ("{\"items\":[{\"id\":-1}]}", "item 1: id is negative"),
        ("{\"items\":[{\"id\":9223372036854775808}]}", "item 1: id is above 2^63 - 1"),
        ("{\"items\":[{\"id\":1,\"a\":2,\"i\\u0064\":1}]}", "item 1: id is there twice"),
    ])
    func mistakesAreNamed(page: String, message: String) {
        let error = dumpError { _ = try read(page, plain) }
        #expect(error?.message == "f.json: " + message)
        #expect(error?.kind == (message.hasPrefix("not JSON") ? .syntax : .data))
    }

    @Test(arguments: [
        (#"[{"id":""}]"#, #""id":{"path":"id"}"#, "item 1: id is empty"),
        (#"[{"id":1}]"#, #""id":{"path":"id","type":"string"}"#, "item 1: id is an integer, not a string"),
        (#"[{"id":true}]"#, #""id":{"path":"id"}"#, "item 1: id is true, not a string or an integer"),
        (#"[{"id":1}]"#, #""post":"p","id":{"path":"id"}"#, "item 1: no p"),
        (#"[{"a":{"id":1},"a":{}}]"#, #""id":{"path":"a.id"}"#, "item 1: a.id is there twice"),
        (#"{"id":1}"#, #""id":{}"#, "the document is an object, not an array"),
        (#"7"#, #""id":{}"#, "the document is an integer, not an array"),
        (
            #"{"m":{},"i":[],"m":{}}"#, #""items":"i","id":{},"next":{"path":"m.next"}"#,
            "m.next is there twice"
        ),
        (
            #"{"i":[],"m":1}"#, #""items":"i","id":{},"next":{"more":"m"}"#,
            "m is an integer, not true or false"
        ),
        (
            #"{"i":[],"m":{}}"#, #""items":"i","id":{},"next":{"path":"m"}"#,
            "m is an object, not a string or a number"
        ),
        (#"[{"id":1,"k":1},{"id":2}]"#, #""id":{"path":"id"},"key":{"path":"k"}"#, "item 2: no k"),
        (
            #"[{"id":1,"k":1.5}]"#, #""id":{"path":"id"},"key":{"path":"k"}"#,
            "item 1: k is a number with a fraction or exponent, not an integer or a date"
        ),
        (
            #"[{"id":1,"k":1},{"id":2,"k":"2018-03-29T15:04:05Z"}]"#,
            #""id":{"path":"id"},"key":{"path":"k"}"#,
            "item 2: k is a string, but an integer in the items before"
        ),
        (
            #"[{"id":1,"k":"2018-03-29T15:04:05Z"},{"id":2,"k":"7"}]"#,
            #""id":{"path":"id"},"key":{"path":"k"}"#, #"item 2: k is not a date: "7""#
        ),
        (
            #"[{"id":1,"k":"now\u001b\u202e"}]"#, #""id":{"path":"id"},"key":{"path":"k","type":"date"}"#,
            #"item 1: k is not a date: "now\u{1B}\u{202E}""#
        ),
        (
            "{\"id\":1}\n{\"id\":}\n", #""lines":true,"id":{"path":"id"}"#,
            "not JSON: a comma, colon, bracket or value out of place at byte 15"
        ),
        ("{\"id\":1}\n\n{\"i\":2}", #""lines":true,"id":{"path":"id"}"#, "item 2: no id"),
    ])
    func mistakesInOtherProfiles(page: String, profile: String, message: String) {
        let error = dumpError { _ = try read(page, profile) }
        #expect(error?.message == "f.json: " + message)
        #expect(error?.kind == (message.hasPrefix("not JSON") ? .syntax : .data))
    }

    @Test func notUTF8() throws {
        let parser = PageParser(profile: Profile.named("stackexchange")!)
        let page = Array(#"{"items":[],"a":"é"#.utf8) + [0xFF] + Array(#""}"#.utf8)
        #expect(
            dumpError { _ = try parser.parse(page, name: "f") }
                == DumpError(.data, "f: not JSON: not UTF-8 at byte 19"))
        // The parser is as good as new.
        #expect(try parser.parse(Array(#"{"items":[]}"#.utf8), name: "f").posts.isEmpty)
    }

    @Test(arguments: [
        (
            #"{"error_id":400,"error_name":"bad_parameter","error_message":"site is required"}"#,
            "error document: bad_parameter: site is required"
        ),
        (#"{"items":[{}],"error_id":502}"#, "error document: 502"),
        (#"{"error_id":{}}"#, "error document"),
        (#"{"error_id":1,"error_message":"\u001b]0;x\u0007"}"#, #"error document: 1: \u{1B}]0;x\u{7}"#),
        (#"{"error_id":null}"#, "no items, where profile stackexchange has its list"),
        (#"{"error_id":false}"#, "no items, where profile stackexchange has its list"),
    ])
    func errorDocuments(page: String, message: String) {
        let parser = PageParser(profile: Profile.named("stackexchange")!)
        let error = dumpError { _ = try parser.parse(Array(page.utf8), name: "f.json") }
        #expect(error?.message == "f.json: " + message)
        #expect(error?.kind == (message.hasPrefix("not JSON") ? .syntax : .data))
    }

    @Test(arguments: ["throttle_violation", "temporarily_unavailable"])
    func errorThatPasses(name: String) {
        let page = #"{"error_id":502,"error_name":"\#(name)","error_message":"wait"}"#
        let error = dumpError {
            _ = try PageParser(profile: .named("stackexchange")!).parse(Array(page.utf8), name: "f")
        }
        #expect(error == DumpError(.later, "f: error document: \(name): wait"))
    }

    /// What a server says in place of a page is shown, whatever the profile.
    @Test(arguments: [
        (#"{"error_id": 502, "error_message": "too \u001b[31mmany"}"#, ": 502: too \\u{1B}[31mmany"),
        (#"{"error": {"message": "limit", "type": "Busy", "code": 4}}"#, ": Busy: limit"),
        (#"{"errors": [{"message": "bad cursor"}, {"message": "x"}]}"#, ": bad cursor"),
        (#"{"error": {"error_code": 6, "error_msg": "Too many"}}"#, ": 6: Too many"),
        (#"{"errcode": 40001, "errmsg": "bad token"}"#, ": 40001: bad token"),
        (#"{"errors": ["gone"]}"#, ": gone"), (#"{"error": "gone"}"#, ": gone"),
        (#"{"message": "Not Found", "status": "404"}"#, ": Not Found"), (#"{"error": true}"#, ""),
    ])
    func errorDocumentsOfOtherAPIs(page: String, words: String) {
        for name in ["reddit", "mastodon", "graphql", "discourse"] {
            let parser = PageParser(profile: Profile.named(name)!)
            let error = dumpError { _ = try parser.parse(Array(page.utf8), name: "f") }
            #expect(error?.message == "f: error document" + words, "\(name)")
        }
    }

    @Test(arguments: [
        #"{"id": 5, "message": "hello"}"#, #"{"errors": [], "x": 1}"#, #"{"error": null}"#, #"{"error": ""}"#,
    ])
    func whatIsNoErrorDocument(page: String) {
        let parser = PageParser(profile: Profile.named("mastodon")!)
        let error = dumpError { _ = try parser.parse(Array(page.utf8), name: "f") }
        #expect(error?.message == "f: the document is an object, not an array")
    }

    @Test func theWordsOfAServerAreBounded() {
        let long = #"{"error": "\#(String(repeating: "x", count: 5_000))"}"#
        let parser = PageParser(profile: Profile.named("mastodon")!)
        let error = dumpError { _ = try parser.parse(Array(long.utf8), name: "f") }
        #expect(error.map { $0.message.count < 200 } == true)
    }

    /// Errors that pass by themselves, or concern the link of the request, by name, whatever the status.
    @Test func errorsThatPassOrExpire() throws {
        let profile = try Profile(
            json: Array(
                #"""
                {"name": "p", "id": {"path": "id"}, "items": "items",
                 "error": {"path": "errors", "name": ["errors.0.type", "errors.0.extensions.code"],
                  "message": "errors.0.message", "later": ["BUSY", "7"], "expired": ["OLD"]}}
                """#.utf8), name: "p")
        let parser = PageParser(profile: profile)
        let cases: [(errors: String, kind: DumpError.Kind?, message: String)] = [
            (#"[{"type": "BUSY", "message": "m"}]"#, .later, "error document: BUSY: m"),
            (#"[{"type": "OLD", "message": "BUSY"}]"#, .expired, "error document: OLD: BUSY"),
            (#"[{"type": 7}]"#, .later, "error document: 7"),
            (#"[{"extensions": {"code": "BUSY"}}, {"type": "x"}]"#, .later, "error document: BUSY"),
            (#"[{"type": "NO", "extensions": {"code": "BUSY"}}]"#, .data, "error document: NO"),
            (#"[{"type": "BUSYS", "message": "BUSY"}]"#, .data, "error document: BUSYS: BUSY"),
            (#"[{"message": "BUSY"}]"#, .data, "error document: BUSY"),
            (#""BUSY""#, .later, "error document: BUSY"),
            ("[ ]", nil, ""), ("[]", nil, ""), ("null", nil, ""), ("{}", .data, "error document"),
        ]
        for (errors, kind, message) in cases {
            let bytes = Array(#"{"items": [], "errors": \#(errors)}"#.utf8)
            let error = dumpError { _ = try parser.read(bytes, name: "f") }
            #expect(error == kind.map { DumpError($0, "f: " + message) }, "\(errors)")
            guard let kind else { continue }
            let refused = Envelope(request: nil, status: 400)
            let answer = dumpError { _ = try parser.read(bytes, envelope: refused, name: "f") }
            #expect(answer?.kind == kind, "\(errors)")
        }
        #expect(
            profile.explanation.contains { $0 == ("later", "BUSY or 7: the same request may succeed later") })
        let forgets = ("expired", "OLD: the link of the request is forgotten")
        #expect(profile.explanation.contains { $0 == forgets })
    }

    @Test(arguments: [
        (#""m":true"#, #""more":"m""#, Link.more), (#""m":false"#, #""more":"m""#, .end),
        (#""a":0"#, #""more":"m""#, .unknown), (#""m":null"#, #""more":"m""#, .unknown),
        (#""t":"c\u00e9""#, #""path":"t""#, .token("cé")),
        (#""t":12345678901234567890"#, #""path":"t""#, .token("12345678901234567890")),
        (#""t":null"#, #""path":"t""#, .end), (#""t":"""#, #""path":"t""#, .end),
        (#""a":0"#, #""path":"t""#, .end),
        (#""t":null"#, #""path":"t","absent":"unknown""#, .unknown),
        (#""a":0"#, #""path":"t","absent":"unknown""#, .unknown),
        (#""t":"0""#, #""path":"t","end":"0""#, .end), (#""t":0"#, #""path":"t","end":"0""#, .end),
        (#""p":{"m":true,"c":"Y"}"#, #""path":"p.c","more":"p.m""#, .token("Y")),
        (#""p":{"m":false,"c":"Y"}"#, #""path":"p.c","more":"p.m""#, .end),
        (#""p":{"m":true,"c":null}"#, #""path":"p.c","more":"p.m""#, .unknown),
        (#""p":{"c":"Y"}"#, #""path":"p.c","more":"p.m""#, .unknown),
    ])
    func links(field: String, link: String, expected: Link) throws {
        let page = "{\"i\":[],\(field)}"
        let answer = try read(page, "\"items\":\"i\",\"id\":{},\"next\":{\(link)},\"previous\":{\(link)}")
        #expect(answer.next == expected && answer.previous == expected)
    }

    @Test func opaqueRows() throws {
        let page = #"[{"ad":1},{"id":1},null,["ad"],{"id":null}]"#
        let answer = try read(page, #""opaque_rows":true,"id":{"path":"id"}"#)
        #expect(answer.opaqueRows == 4 && answer.ids == ["1"])
        #expect(
            dumpError { _ = try read(#"[7]"#, #""opaque_rows":true,"id":{"path":"id"}"#) }?.message
                == "f.json: item 1: an integer, not an object")
    }

    @Test(arguments: [
        ("5", "auto", 5), ("-5", "integer", -5), ("-9223372036854775808", "integer", Int64.min),
        ("1.5", "number", OrderKey.number(1.5)), ("2", "number", OrderKey.number(2)),
        (#""1700000000.000200""#, "number", OrderKey.number(1_700_000_000.0002)),
        (#""-5e-1""#, "number", OrderKey.number(-0.5)),
        ("\"2018-03-29T15:04:05Z\"", "auto", 1_522_335_845_000_000),
        ("\"1700005700\"", "auto", 1_700_005_700), ("\"-7\"", "auto", -7),
    ])
    func keys(value: String, type: String, key: Int64) throws {
        let page = "[{\"id\":1,\"k\":\(value)}]"
        let profile =
            "\"id\":{\"path\":\"id\"},\"key\":{\"path\":\"k\",\"type\":\"\(type)\"},\"version\":{\"path\":\"k\",\"type\":\"\(type)\"}"
        let post = try read(page, profile).posts[0]
        #expect(post.key == key && post.version == key)
    }

    @Test func versionsMayBeMissing() throws {
        let page = #"[{"id":1,"v":4},{"id":2},{"id":3,"v":null}]"#
        let answer = try read(page, #""id":{"path":"id"},"version":{"path":"v"}"#)
        #expect(answer.posts.map(\.version) == [4, nil, nil])
    }

    @Test func limits() throws {
        let page = "[" + String(repeating: " ", count: 98) + "]"
        #expect(try read(page, #""id":{}"#, limit: 100).bytes.count == 100)
        #expect(
            dumpError { _ = try read(page, #""id":{}"#, limit: 99) }
                == DumpError(.limit, "f.json: page is 0.1 MB, the limit is 0.0 MB"))
        let large = [UInt8](repeating: 32, count: 20 << 20)
        #expect(
            dumpError { _ = try PageParser(profile: .named("stackexchange")!).parse(large, name: "f") }
                == DumpError(.limit, "f: page is 20.0 MB, the limit is 16.0 MB"))
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try read("{\"items\":[],\"a\":\(nested(127))}", plain).posts.isEmpty)
        #expect(
            dumpError { _ = try read("{\"items\":[],\"a\":\(nested(128))}", plain) }
                == DumpError(.limit, "f.json: nested deeper than 128 levels"))
    }

    @Test func foreignTextIsShortened() {
        #expect(printable(String(repeating: "x", count: 81)) == String(repeating: "x", count: 80) + "…")
        #expect(printable("a\u{9B}\u{2028}é") == #"a\u{9B}\u{2028}é"#)
    }
}
