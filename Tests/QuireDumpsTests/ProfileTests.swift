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
        #expect(profile.options == FeedOptions(order: .keyless, paging: .page, firstPage: 1))
        #expect(!profile.hasKey)
        #expect(Profile.named("nobody") == nil)
    }

    @Test func everythingButNameAndIDHasADefault() throws {
        let profile = try Profile(json: Array(#"{"name":"x","id":{}}"#.utf8), name: "x")
        #expect(profile.title == "x" && profile.order == .keyless && profile.paging == .cursor)
        #expect(profile.firstPage == 1 && profile.items == .here && profile.id.path == .here)
        #expect(profile.id.type == .any && profile.next == nil && !profile.hasOpaqueRows)
    }

    @Test(arguments: [
        (#"{"#, "p.json: not JSON"),
        (#"[]"#, "p.json: it is not an object"),
        (#"{"id":{}}"#, "p.json: name: missing"),
        (#"{"name":"x"}"#, "p.json: id: missing"),
        (#"{"name":7,"id":{}}"#, "p.json: name is not a string"),
        (#"{"name":null,"id":{}}"#, "p.json: name is not a string"),
        (#"{"name":"x","id":"n"}"#, "p.json: id is not an object"),
        (#"{"name":"x","id":{},"itmes":"a"}"#, "p.json: itmes: unknown field"),
        (#"{"name":"x","id":{"pth":"a"}}"#, "p.json: id.pth: unknown field"),
        (#"{"name":"x","id":{"type":"int"}}"#, "p.json: id.type: \"int\" is none of integer, string, any"),
        (#"{"name":"x","id":{"path":"a..b"}}"#, "p.json: id.path: \"a..b\" has an empty key"),
        (#"{"name":"x","id":{"path":"a\\"}}"#, "p.json: id.path: \"a\\\" ends in a backslash"),
        (#"{"name":"x","id":{"path":"a\\b"}}"#, "p.json: id.path: \"a\\b\": only \\. and \\\\ are escapes"),
        (#"{"name":"x","id":{},"key":{}}"#, "p.json: key.path: missing"),
        (#"{"name":"x","id":{},"next":{}}"#, "p.json: next: none of path, header, link, template, counted, more"),
        (
            #"{"name":"x","id":{},"next":{"path":"a","absent":"no"}}"#,
            "p.json: next.absent: \"no\" is none of end, unknown"
        ),
        (
            #"{"name":"x","id":{},"order":"up"}"#,
            "p.json: order: \"up\" is none of stable, keyless, bump, append-only, ranked"
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
        (#"{"name":"x","id":{},"\u001b[2J":1}"#, "p.json: \\u{1B}[2J: unknown field"),
    ])
    func mistakesAreNamed(json: String, message: String) {
        let error = dumpError { _ = try Profile(json: Array(json.utf8), name: "p.json") }
        #expect(error == DumpError(.data, message))
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
