import Quire
import Testing

@testable import QuireDumps

@Suite struct ProfileTests {
    @Test func builtInProfiles() throws {
        #expect(Profile.builtIn.count == 32)
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

    @Test func aProfileSaysTheParametersOfARequest() throws {
        let plain = try Profile(json: Array(#"{"name":"x","id":{}}"#.utf8), name: "x")
        #expect(plain.requestParameters.page == "page" && plain.requestParameters.offset == "offset")
        #expect(plain.requestParameters.size == nil && plain.requestParameters.token == nil)
        #expect(plain.requestBody == nil && plain.bodiesRequest == nil)
        let own = #"{"name":"x","id":{},"request":{"size":"n","page":"p","offset":"o","token":"t"}}"#
        let parameters = try Profile(json: Array(own.utf8), name: "x").requestParameters
        #expect(parameters.size == "n" && parameters.page == "p")
        #expect(parameters.offset == "o" && parameters.token == "t")
        #expect(Profile.named("gitlab")?.requestParameters.token == "page")
        #expect(Profile.named("matrix")?.requestParameters.token == "from")
        #expect(Profile.named("hackernews")?.bodiesRequest?.address == "item/{ids}.json")
    }

    @Test func theBodyOfARequestHasPlaces() throws {
        let text = #"""
            {"name": "x", "id": {}, "request": {"body": {"query": "{viewer}", "n": 9007199254740993, "f": 1.5,
             "variables": {"after": "{token}", "first": "{limit}", "o": ["{below}", null, true, "a{token}"]}}}}
            """#
        let body = try #require(try Profile(json: Array(text.utf8), name: "x").requestBody)
        #expect(body.places == ["token", "limit", "below"])
        func filled(_ values: [String: String]) -> String {
            String(decoding: body.filled(values), as: UTF8.self)
        }
        #expect(
            filled(["limit": "20", "page": "7"])
                == #"{"f":1.5,"n":9007199254740993,"query":"{viewer}","variables":{"first":20,"o":[null,true,"a{token}"]}}"#
        )
        #expect(
            filled(["limit": "20", "token": "c\"9", "below": "5"])
                == #"{"f":1.5,"n":9007199254740993,"query":"{viewer}","variables":{"after":"c\"9","first":20,"o":["5",null,true,"a{token}"]}}"#
        )
    }

    @Test func anArrayOfNothingButPlacesIsLeftOut() throws {
        let text = #"""
            {"name": "x", "id": {}, "request": {"body": {"search_after": ["{token}"], "sort": [],
             "o": {"deep": [["{token}"]], "both": ["{token}", 5]}}}}
            """#
        let body = try #require(try Profile(json: Array(text.utf8), name: "x").requestBody)
        #expect(String(decoding: body.filled([:]), as: UTF8.self) == #"{"o":{"both":[5]},"sort":[]}"#)
        #expect(
            String(decoding: body.filled(["token": "7"]), as: UTF8.self)
                == #"{"o":{"both":["7",5],"deep":[["7"]]},"search_after":["7"],"sort":[]}"#)
    }

    @Test func everythingButNameAndIDHasADefault() throws {
        let profile = try Profile(json: Array(#"{"name":"x","id":{}}"#.utf8), name: "x")
        #expect(profile.title == "x" && profile.order == .keyless && profile.paging == .cursor)
        #expect(profile.firstPage == 1 && profile.items == .here && profile.id.path == .here)
        #expect(profile.sizes == .unknown)
        #expect(profile.id.type == .any && profile.next == nil && !profile.hasOpaqueRows)
    }

    @Test(arguments: [
        (#"{"#, "p.json: not JSON: it is cut: it ends in the middle, at byte 1"),
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
            "p.json: next: none of path, header, link, template, counted, found, more"
        ),
        (
            #"{"name":"x","id":{},"next":{"path":"a","absent":"no"}}"#,
            "p.json: next.absent: \"no\" is not one of end, unknown, null"
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
        (
            #"{"name":"x","id":{},"error":{"path":"e","name":["#
                + (1...17).map { "\"n\($0)\"" }.joined(separator: ",") + "]}}",
            "p.json: error.name: has more than 16 paths"
        ),
        (#"{"name":"X y","id":{}}"#, "p.json: name: not 1 to 40 small letters, digits and hyphens"),
        (#"{"name":"x","id":{},"first_page":-1}"#, "p.json: first_page: not from 0 to 1000000"),
        (#"{"name":"x","id":{},"next":{"path":"a","link":"b"}}"#, "p.json: next.link: excludes path"),
        (#"{"name":"x","id":{},"next":{"link":"b","more":"c"}}"#, "p.json: next.more: excludes link"),
        (
            #"{"name":"x","id":{},"next":{"template":"a={id}","end":"0"}}"#,
            "p.json: next.end: excludes template"
        ),
        (#"{"name":"x","id":{},"next":{"link":"b","empty":"end"}}"#, "p.json: next.empty: excludes link"),
        (
            #"{"name":"x","id":{},"next":{"path":"a","empty":"no"}}"#,
            "p.json: next.empty: \"no\" is not one of end, doubtful"
        ),
        (
            #"{"name":"x","id":{},"previous":{"path":"a","empty":"end"}}"#,
            "p.json: previous.empty: only next has it"
        ),
        (
            #"{"name":"x","id":{},"lines":true,"next":{"template":"a={id}","more":"m"}}"#,
            "p.json: next: lines have no document around them"
        ),
        (#"{"name":"x","id":{},"next":{"counted":false}}"#, "p.json: next.counted: is not true"),
        (#"{"name":"x","id":{},"next":{"counted":true}}"#, "p.json: next: counting needs page"),
        (#"{"name":"x","id":{},"next":{"found":false}}"#, "p.json: next.found: is not true"),
        (#"{"name":"x","id":{},"next":{"found":true,"end":"0"}}"#, "p.json: next.end: excludes found"),
        (#"{"name":"x","id":{},"previous":{"found":true}}"#, "p.json: previous: only next can be found"),
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
        (#"{"name":"x","id":{},"request":{"size":""}}"#, "p.json: request.size: is empty"),
        (
            #"{"name":"x","id":{},"request":{"page":"a=b"}}"#,
            "p.json: request.page: \"a=b\" is not the name of a parameter"
        ),
        (#"{"name":"x","id":{},"request":{"token":7}}"#, "p.json: request.token is not a string"),
        (
            #"{"name":"x","id":{},"request":{"offset":"a","offset":"b"}}"#,
            "p.json: request.offset is there twice"
        ),
        (#"{"name":"x","id":{},"request":{"body":[1]}}"#, "p.json: request.body is not an object"),
        (#"{"name":"x","id":{},"request":{"body":"q"}}"#, "p.json: request.body is not an object"),
        (
            #"{"name":"x","id":{},"bodies":{"address":"a/{ids}"}}"#,
            "p.json: bodies: only paging ids has them"
        ),
        (#"{"name":"x","id":{},"paging":"ids","bodies":{}}"#, "p.json: bodies.address: missing"),
        (
            #"{"name":"x","id":{},"paging":"ids","bodies":{"address":"a/{id}"}}"#,
            "p.json: bodies.address: \"a/{id}\" does not have {ids} once"
        ),
        (
            #"{"name":"x","id":{},"paging":"ids","bodies":{"address":"a/{ids}","id":"a..b"}}"#,
            "p.json: bodies.id: \"a..b\" has an empty key"
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
