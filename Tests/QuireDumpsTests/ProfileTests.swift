import Quire
import Testing

@testable import QuireDumps

@Suite struct ProfileTests {
    @Test func builtInProfiles() throws {
        #expect(Profile.builtIn.count == 27)
        #expect(Profile.builtIn.map(\.name) == Profile.builtIn.map(\.name).sorted())
        for profile in Profile.builtIn {
            #expect(profile.title != profile.name && !profile.explanation.isEmpty)
            _ = PageParser(profile: profile)
        }
        let profile = try #require(Profile.named("stackexchange"))
        #expect(profile.order == .keyless && profile.paging == .page && profile.firstPage == 1)
        #expect(profile.options == FeedOptions(order: .keyless, paging: .page, firstPage: 1, sizes: .free))
        #expect(!profile.hasKey)
        #expect(Profile.named("absent") == nil)
    }

    @Test func everythingButNameAndIDHasADefault() throws {
        let profile = try Profile(json: Array(#"{"name":"x","id":{}}"#.utf8), name: "x")
        #expect(profile.title == "x" && profile.order == .keyless && profile.paging == .cursor)
        #expect(profile.firstPage == 1 && profile.items == .here && profile.id.path == .here)
        #expect(profile.sizes == .unknown)
        #expect(profile.id.type == .any && profile.next == nil && !profile.hasOpaqueRows)
    }

    @Test(arguments: [
        (#"{"#, "p.json: not JSON: a comma, colon, bracket or value out of place at byte 1"),
        (#"{"name":"x","id":{},"title":"a","title":"b"}"#, "p.json: title is there twice"),
        (#"{"name":"x","id":{"path":"a","path":"b"}}"#, "p.json: id.path is there twice"),
        (#"[]"#, "p.json: it is not an object"),
        (#"{"id":{}}"#, "p.json: name: missing"),
        (#"{"name":"x"}"#, "p.json: id: missing"),
        (#"{"name":7,"id":{}}"#, "p.json: name is not a string"),
        (#"{"name":null,"id":{}}"#, "p.json: name is not a string"),
        (#"{"name":"x","id":"n"}"#, "p.json: id is not an object"),
        (#"{"name":"x","id":{},"itmes":"a"}"#, "p.json: itmes: unknown field"),
        (#"{"name":"x","id":{"pth":"a"}}"#, "p.json: id.pth: unknown field"),
        (#"{"name":"x","id":{"type":"int"}}"#, "p.json: id.type: \"int\" is not one of integer, string, any"),
        (#"{"name":"x","id":{"path":"a..b"}}"#, "p.json: id.path: \"a..b\" has an empty key"),
        (#"{"name":"x","id":{"path":"a\\"}}"#, "p.json: id.path: \"a\\\" ends in a backslash"),
        (#"{"name":"x","id":{"path":"a\\b"}}"#, "p.json: id.path: \"a\\b\": only \\. and \\\\ are escapes"),
        (#"{"name":"x","id":{},"key":{}}"#, "p.json: key.path: missing"),
        (#"{"name":"x","id":{},"sizes":"free"}"#, "p.json: sizes: only paging page and offset have it"),
        (
            #"{"name":"x","id":{},"paging":"page","sizes":0}"#,
            "p.json: sizes: not free, unknown, or a number from 1 to 1000000"
        ),
        (
            #"{"name":"x","id":{},"next":{}}"#,
            "p.json: next: none of path, header, link, template, counted, more"
        ),
        (
            #"{"name":"x","id":{},"next":{"path":"a","absent":"no"}}"#,
            "p.json: next.absent: \"no\" is not one of end, unknown"
        ),
        (
            #"{"name":"x","id":{},"order":"up"}"#,
            "p.json: order: \"up\" is not one of stable, keyless, bump, append-only, ranked"
        ),
        (#"{"name":"x","id":{},"first_page":"1"}"#, "p.json: first_page is not an integer"),
        (#"{"name":"x","id":{},"opaque_rows":1}"#, "p.json: opaque_rows is not true or false"),
        (
            #"{"name":"x","id":{},"lines":true,"next":{"more":"m"}}"#,
            "p.json: next: lines have no document around them"
        ),
        (#"{"name":"x","id":{},"next":{"path":"after"}}"#, "p.json: next: after leads through the items"),
        (
            #"{"name":"x","id":{},"items":"a.b","previous":{"more":"a.b.0"}}"#,
            "p.json: previous: a.b.0 leads through the items"
        ),
        (#"{"name":"X y","id":{}}"#, "p.json: name: not 1 to 40 small letters, digits and hyphens"),
        (#"{"name":"x","id":{},"first_page":-1}"#, "p.json: first_page: not from 0 to 1000000"),
        (#"{"name":"x","id":{},"next":{"path":"a","link":"b"}}"#, "p.json: next.link: excludes path"),
        (#"{"name":"x","id":{},"next":{"link":"b","more":"c"}}"#, "p.json: next.more: excludes link"),
        (#"{"name":"x","id":{},"next":{"counted":false}}"#, "p.json: next.counted: is not true"),
        (#"{"name":"x","id":{},"next":{"counted":true}}"#, "p.json: next: counting needs page"),
        (
            #"{"name":"x","id":{},"next":{"counted":true},"page":{"query":"p"},"total":{"header":"t"}}"#,
            "p.json: next: counting needs pages, or total and page_size"
        ),
        (
            #"{"name":"x","id":{},"previous":{"counted":true}}"#,
            "p.json: previous: only next can be counted"
        ),
        (
            #"{"name":"x","id":{},"next":{"template":"a={key}"}}"#,
            "p.json: next: {key} needs a key of type integer"
        ),
        (
            #"{"name":"x","id":{},"next":{"template":"a={x}"}}"#,
            "p.json: next.template: \"a={x}\": only {id} and {key} may be in braces"
        ),
        (
            #"{"name":"x","id":{},"next":{"template":"a"}}"#,
            "p.json: next.template: \"a\" has neither {id} nor {key}"
        ),
        (#"{"name":"x","id":{},"total":{"query":"a"}}"#, "p.json: total.query: unknown field"),
        (#"{"name":"x","id":{},"total":{}}"#, "p.json: total.path: missing"),
        (
            #"{"name":"x","id":{},"total":{"path":"a","header":"b"},"items":"i"}"#,
            "p.json: total.header: there is one already"
        ),
        (
            #"{"name":"x","id":{},"total":{"header":"a:"}}"#,
            "p.json: total.header: \"a:\" is not a header name"
        ),
        (#"{"name":"x","id":{},"self":{"query":""}}"#, "p.json: self.query: is empty"),
        (
            #"{"name":"x","id":{},"self":{"request":true,"query":"a"}}"#,
            "p.json: self: request excludes the others"
        ),
        (
            #"{"name":"x","id":{},"request":{"below":["a"],"above":["a"]}}"#,
            "p.json: request.above: \"a\" is there twice"
        ),
        (#"{"name":"x","id":{},"request":{"newer":[""]}}"#, "p.json: request.newer: is empty"),
        (
            #"{"name":"x","id":{},"mark":{"path":"a","contains":"b"}}"#,
            "p.json: mark.contains is not an array of strings"
        ),
        (
            #"{"name":"x","id":{},"total":{"path":"^.n"}}"#,
            "p.json: total: ^.n: there is nothing around the items"
        ),
        (
            #"{"name":"x","id":{},"items":"a.b","total":{"path":"^.b.c"}}"#,
            "p.json: total: ^.b.c leads through the items"
        ),
        (
            #"{"name":"x","id":{},"lines":true,"page":{"path":"p"}}"#,
            "p.json: page: lines have no document around them"
        ),
        (#"{"name":"x","id":{},"\u001b[2J":1}"#, "p.json: \\u{1B}[2J: unknown field"),
    ])
    func mistakesAreNamed(json: String, message: String) {
        let error = dumpError { _ = try Profile(json: Array(json.utf8), name: "p.json") }
        #expect(error == DumpError(.data, message))
    }

    /// Whatever becomes of its bytes, a profile is refused or can be read with.
    @Test func damagedProfiles() {
        for (number, profile) in Profile.builtIn.enumerated() {
            let bytes = Array(profile.source.utf8)
            for place in stride(from: number % 7, to: bytes.count, by: 7) {
                var damaged = bytes
                damaged[place] = [0x22, 0x2E, 0x5E, 0x7B, 0x30][place % 5]
                guard let changed = try? Profile(json: damaged, name: "d") else { continue }
                _ = try? PageParser(profile: changed).parse(Array("[{}]".utf8), name: "p")
            }
        }
    }

    @Test func pathsHaveALimit() throws {
        func path(_ keys: Int) -> String { Array(repeating: "a", count: keys).joined(separator: ".") }
        #expect(try FieldPath(path(128)).keys.count == 128)
        let long = #"{"name":"x","id":{"path":"\#(path(200_000))"}}"#
        let error = dumpError { _ = try Profile(json: Array(long.utf8), name: "p") }
        #expect(error?.message.hasSuffix("has more than 128 keys") == true)
    }

    @Test func overrides() throws {
        var profile = try #require(Profile.named("stackexchange"))
        try profile.setID(path: "link")
        try profile.setKey(path: "owner.user_id", type: .integer)
        #expect(profile.id.path.keys == ["link"] && profile.id.type == .any)
        #expect(profile.key?.path.keys == ["owner", "user_id"] && profile.hasKey)
        #expect(dumpError { try profile.setKey(path: ".") }?.kind == .data)
        #expect(profile.key?.path.keys == ["owner", "user_id"])
    }

    @Test(arguments: [
        ("", []), ("a", ["a"]), ("a.0.b", ["a", "0", "b"]), (#"a\.b.c\\"#, ["a.b", #"c\"#]),
    ])
    func paths(text: String, keys: [String]) throws {
        #expect(try FieldPath(text).keys == keys)
    }
}
