import Quire
import Testing

@testable import QuireDumps

@Suite struct OrderFitTests {
    private func fit(_ pages: [[String]], _ profile: String = #"{"name":"x","id":{"path":"id"}}"#) throws
        -> OrderFit
    {
        let profile = try Profile(json: Array(profile.utf8), name: "x")
        let parser = PageParser(profile: profile)
        var fit = OrderFit(profile)
        for page in pages {
            fit.add(try parser.parse(Array("[\(page.joined(separator: ","))]".utf8), name: "page"))
        }
        return fit
    }

    @Test func aFieldThatDescendsAndChangesIsABump() throws {
        let fit = try fit([
            [#"{"id": 1, "at": 9, "n": 5}"#, #"{"id": 2, "at": 8, "n": 7}"#],
            [#"{"id": 2, "at": 12, "n": 7}"#, #"{"id": 3, "at": 7, "n": 2}"#],
        ])
        #expect(fit.suggestion == .init(order: .bump, key: "at"))
    }

    @Test func aFieldThatNeverChangesIsStable() throws {
        let fit = try fit([
            [
                #"{"id": "b", "created": "2024-05-02T00:00:00Z"}"#,
                #"{"id": "a", "created": "2024-05-01T00:00:00Z"}"#,
            ],
            [
                #"{"id": "d", "created": "2023-05-02T00:00:00Z"}"#,
                #"{"id": "c", "created": "2023-05-01T00:00:00Z"}"#,
            ],
        ])
        #expect(fit.suggestion == .init(order: .stable, key: "created"))
    }

    @Test func equalValuesAreNotStable() throws {
        let fit = try fit([
            [
                #"{"id": "c", "at": 5}"#, #"{"id": "b", "at": 5}"#, #"{"id": "a", "at": 4}"#,
                #"{"id": "z", "at": 3}"#,
            ]
        ])
        #expect(fit.suggestion == .init(order: .bump, key: "at"))
    }

    @Test func noFieldIsRanked() throws {
        let fit = try fit([
            [#"{"id": 9, "at": 9}"#, #"{"id": 2, "at": 8}"#],
            [#"{"id": 3, "at": 1}"#, #"{"id": 4, "at": 7}"#],
        ])
        #expect(fit.suggestion == .init(order: .ranked, key: nil))
        #expect(try self.fit([[#"{"id": 9}"#]]).suggestion == nil)
    }

    /// Whole numbers however they are written, and dates; nothing in a nested value, and no true or false.
    @Test func whatCouldBeAKey() throws {
        let fit = try fit([
            [
                #"{"id": 3, "a\u0074": 3e2, "n": {"at": 1}, "f": true, "s": "b\"}"}"#,
                #"{ "id" : 9 , "a\u0074" : 250.0 , "f" : true }"#,
                #"{"id": 5, "a\u0074": "200", "f": true}"#,
            ]
        ])
        #expect(fit.suggestion == .init(order: .stable, key: "at"))
        for value in ["1.5", "1e300", "null", #""x""#, "[2]"] {
            let last = #"{"id": 5, "at": 1}"#
            let fit = try self.fit([[#"{"id": 3, "at": 9}"#, #"{"id": 7, "at": \#(value)}"#, last]])
            #expect(fit.suggestion == OrderFit.Suggestion.none, "\(value)")
        }
    }

    /// The path is that of a profile's key: from the item, with dots escaped.
    @Test func theFieldIsNamedAsAProfileNamesIt() throws {
        let fit = try fit(
            [
                [
                    #"{"d": {"id": "x", "a.b": 9}}"#, #"{"d": {"id": "y", "a.b": 8}}"#,
                    #"{"d": {"id": "q", "a.b": 1}}"#,
                ]
            ],
            #"{"name":"x","post":"d","id":{"path":"d.id"}}"#)
        let key = try #require(fit.suggestion?.key)
        var profile = try Profile(json: Array(#"{"name":"x","id":{"path":"d.id"}}"#.utf8), name: "x")
        try profile.setKey(path: key)
        let answer = try PageParser(profile: profile).parse(
            Array(#"[{"d": {"id": "x", "a.b": 9}}]"#.utf8), name: "p")
        #expect(answer.posts[0].key == 9)
    }
}
