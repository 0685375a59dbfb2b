import Foundation
import Quire
import Testing

@testable import QuireInspector

@Suite("What the inspector answers")
struct ServerTests {
    private let gate = Gate(token: "abc123", port: 4_000)

    @Test("the address with its token, from its own host, to read")
    func accepted() {
        for host in ["127.0.0.1:4000", "localhost:4000"] {
            #expect(gate.path(method: "GET", path: "/abc123/", host: host, origin: nil) == .path(""))
            #expect(
                gate.path(method: "GET", path: "/abc123/api/map", host: host, origin: "http://\(host)")
                    == .path("api/map"))
        }
    }

    @Test(
        "no other token",
        arguments: ["/", "", "/abc123", "/abc12/", "/abc1234/", "/ABC123/", "//abc123/", "abc123/x/"])
    func token(path: String) {
        #expect(gate.path(method: "GET", path: path, host: "127.0.0.1:4000", origin: nil) == .refused(.token))
    }

    @Test(
        "no other host",
        arguments: [
            nil, "", "127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "127.0.0.1:4000.evil.example",
            "[::1]:4000",
        ])
    func host(host: String?) {
        #expect(gate.path(method: "GET", path: "/abc123/", host: host, origin: nil) == .refused(.host))
    }

    @Test("no other origin and no other method")
    func originAndMethod() {
        let host = "127.0.0.1:4000"
        for origin in ["null", "http://evil.example", "https://127.0.0.1:4000", "http://127.0.0.1:4001"] {
            #expect(
                gate.path(method: "GET", path: "/abc123/", host: host, origin: origin) == .refused(.origin))
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "get", "TRACE"] {
            #expect(
                gate.path(method: method, path: "/abc123/", host: host, origin: nil) == .refused(.method))
        }
    }

    // MARK: Routes

    private func routes(_ test: TestCache) -> Routes {
        Routes(caches: [InspectedCache(test.cache, name: "test")])
    }

    private func object(_ routes: Routes, _ path: String, _ query: [String: String]) throws -> [String: Any] {
        guard case .json(let bytes) = try routes.reply(to: path, Routes.Query(values: query)) else {
            Issue.record("\(path) is no JSON")
            return [:]
        }
        return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test("rows by their rank, and the body of each by its id")
    func rows() throws {
        let test = try TestCache()
        let feed = try test.feed("a", pages: 30, of: 10, missing: [7]) { Array("body \($0)".utf8) }
        let routes = routes(test)
        let number = String(feed.number)
        let answer = try object(
            routes, "api/rows", ["cache": "0", "feed": number, "from": "58", "limit": "4"])
        let rows = try #require(answer["rows"] as? [[String: Any]])
        #expect(rows.map { $0["rank"] as? Int } == [58, 59, 60, 61])
        #expect(rows[2]["gap"] != nil && rows[3]["id"] as? String == "230")
        let id = try #require(rows[3]["address"] as? String)
        let body = try object(routes, "api/body", ["cache": "0", "feed": number, "id": id])
        #expect(body["text"] as? String == "body 230" && body["cut"] as? Bool == false)
        let cut = try object(routes, "api/body", ["cache": "0", "feed": number, "id": id, "limit": "4"])
        #expect(cut["text"] as? String == "body" && cut["cut"] as? Bool == true)
        let rank = try object(routes, "api/rank", ["cache": "0", "feed": number, "id": id])
        #expect(rank["rank"] as? Int == 61)
    }

    @Test(
        "what is not there, or makes no sense, is said so",
        arguments: [
            ("api/rows", ["cache": "1", "feed": "1"]), ("api/rows", ["cache": "-1", "feed": "1"]),
            ("api/rows", ["cache": "0"]), ("api/map", ["cache": "0", "feed": "99999999999"]),
            ("api/body", ["cache": "0", "feed": "1", "id": "!!!"]),
            ("api/body", ["cache": "0", "feed": "1", "id": "OTk5"]),
            ("../etc/passwd", [:]), ("api", [:]), ("page.html", [:]),
        ] as [(String, [String: String])])
    func notFound(path: String, query: [String: String]) throws {
        let test = try TestCache()
        _ = try test.feed("a", pages: 1, of: 3)
        guard case .notFound = try routes(test).reply(to: path, Routes.Query(values: query)) else {
            Issue.record("\(path) was found")
            return
        }
    }

    @Test("numbers out of every range are no more than the whole")
    func ranges() throws {
        let test = try TestCache()
        _ = try test.feed("a", pages: 3, of: 5)
        let routes = routes(test)
        let most = String(Int.max)
        let map = try object(
            routes, "api/map", ["cache": "0", "feed": "1", "from": "-5", "to": most, "bars": most])
        #expect(map["from"] as? Int == 0 && map["to"] as? Int == 15)
        let rows = try object(routes, "api/rows", ["cache": "0", "feed": "1", "from": most, "limit": most])
        #expect((rows["rows"] as? [Any])?.isEmpty == true && rows["count"] as? Int == 15)
    }

    @Test("a map is made anew after a commit to its feed")
    func changes() throws {
        let test = try TestCache()
        let feed = try test.feed("a", pages: 10, of: 10, missing: [4])
        let routes = routes(test)
        func count() throws -> Int? {
            try object(routes, "api/map", ["cache": "0", "feed": String(feed.number)])["rows"] as? Int
        }
        #expect(try count() == 91)
        _ = try test.feed("b", pages: 1, of: 10)
        #expect(try count() == 91)
        try feed.delete(100)
        #expect(try count() == 90)
        let log = try object(routes, "api/log", ["cache": "0", "feed": String(feed.number)])
        let commits = try #require(log["commits"] as? [[String: Any]])
        #expect(commits[0]["removed"] as? Int == 1 && commits[0]["feed"] as? String == "a")
        #expect(commits.contains { ($0["gapsOpened"] as? [String])?.isEmpty == false })
        let answers = try #require(log["answers"] as? [[String: Any]])
        #expect(answers.map { $0["page"] as? Int } == [9, 8, 7, 6, 5, 4, 3, 2, 1])
    }

    @Test("the page that is served holds no script of its own")
    func page() throws {
        let page = String(decoding: Page.live(), as: UTF8.self)
        #expect(page.firstMatch(of: /<script(?! src="[a-z]+\.js"><\/script>)/) == nil)
        #expect(!page.contains("<style") && page.firstMatch(of: /\son[a-z]+=/) == nil)
    }
}

@Suite("Bytes as text")
struct TextTests {
    private func cut(_ bytes: [UInt8], limit: Int) -> CutText {
        bytes.withUnsafeBytes { CutText($0, limit: limit) }
    }

    @Test("broken UTF-8 shows U+FFFD")
    func broken() {
        #expect(cut([0x61, 0xFF, 0x62], limit: 10).text == "a\u{FFFD}b")
        #expect(cut([0x80, 0x80, 0x80, 0x80, 0x80], limit: 4).isCut)
    }

    @Test("a character is not cut in the middle")
    func characters() {
        let bytes = Array("ä€😀".utf8)
        let texts = (0...9).map { cut(bytes, limit: $0).text }
        #expect(texts == ["", "", "ä", "ä", "ä", "ä€", "ä€", "ä€", "ä€", "ä€😀"])
    }

    @Test("an id of any bytes comes back from an address")
    func ids() throws {
        for bytes in [
            [0x31], [0xFF, 0xFE, 0x00], Array("<a href='?&='>".utf8), Array(repeating: 0x3F, count: 100),
        ] {
            let id = try #require(PostID(bytes: bytes.map { UInt8($0) }))
            let text = IDText.encoded(id)
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
            #expect(IDText.decoded(text) == id)
        }
        #expect(IDText.decoded("") == nil)
    }
}
