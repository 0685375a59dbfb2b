import FlyingFox
import Foundation
import LoopbackServers
import Quire
import Synchronization
import Testing

@testable import QuireCLI

/// How the pages of an API that has no profile are asked for.
@Suite("quire pull and the pages of unknown APIs", .timeLimit(.minutes(10)), .serialized)
struct PullPagingTests {
    /// The posts of a server, newest first.
    private final class List: Sendable {
        let ids: Mutex<[Int]>
        init(_ count: Int) { ids = Mutex((1...max(1, count)).reversed().map(\.self)) }

        func rows(_ start: Int, _ size: Int = 10) -> String {
            let rows = ids.withLock { $0.dropFirst(max(0, start)).prefix(size) }.map {
                #"{"id": \#($0), "created_at": \#(1_700_000_000 + 60 * $0), "title": "post \#($0)"}"#
            }
            return "[\(rows.joined(separator: ","))]"
        }

        var count: Int { ids.withLock(\.count) }
        var all: [String] { ids.withLock { $0.map(String.init) } }
        func remove(_ range: Range<Int>) { ids.withLock { $0.removeSubrange(range) } }
        func insert(_ count: Int) {
            ids.withLock { ids in
                for _ in 0..<count { ids.insert(ids.max()! + 1, at: 0) }
            }
        }
    }

    private static func number(_ request: HTTPRequest, _ name: String, _ usual: Int) -> Int {
        request.query[name].flatMap { Int($0) } ?? usual
    }

    // MARK: Links that are positions

    /// A server whose links are made by `link` of the place where the next page begins.
    private static func linked(
        _ list: List, inHeader: Bool = false, at start: @escaping @Sendable (HTTPRequest) -> Int,
        _ link: @escaping @Sendable (_ host: String, _ start: Int) -> String
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let start = start(request)
            let host = request.headers[HTTPHeader("Host")] ?? ""
            let next = start + 10 < list.count ? link(host, start + 10) : nil
            if inHeader {
                return .json(list.rows(start), headers: next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:])
            }
            let text = next.map { "\"\($0.replacing("/", with: "\\/"))\"" } ?? "null"
            return .json(#"{"results": \#(list.rows(start)), "next": \#(text)}"#)
        }
    }

    @Test(
        "a link that is plainly a position is said to be one, and posts that slid under it leave a doubt",
        arguments: ["?page=", "?sort=-id&p=", "?page[number]=", "?limit=10&offset=", "?key=sesame&start="],
        [false, true])
    func positions(link: String, inHeader: Bool) async throws {
        let list = List(65)
        let name = String(link.split(whereSeparator: { "?&".contains($0) }).last!.dropLast())
        let isOffset = ["offset", "start"].contains(name)
        let server = try await Self.linked(list, inHeader: inHeader) { request in
            let number = Self.number(request, name, isOffset ? 0 : 1)
            return isOffset ? number : (number - 1) * 10
        } _: { host, start in
            "http://\(host)/list\(link)\(isOffset ? start : start / 10 + 1)"
        }
        let box = try Sandbox()
        var address = server.address + "/list"
        if link.contains("sort") { address += "?sort=-id" }
        if link.contains("key") { address += "?key={env:SECRET}" }
        let secret = ["SECRET": "sesame"]
        let first = try await box.pull("f", address, "--pages", "3", environment: secret)
        let kind = isOffset ? "offsets (\(name)=10)" : "page numbers (\(name)=2)"
        #expect(first.err.contains("its links are \(kind)"), "\(first)")
        list.remove(10..<17)
        let second = try await box.pull("f", environment: secret)
        #expect(second.out.contains("joins are unverified") && second.status == 0, "\(second)")
        let third = try await box.pull("f", "--verify", environment: secret)
        #expect(third.status == 0, "\(third)")
        // The removed ones stay until their neighbourhood is asked for again.
        #expect(Set(try await box.rows(of: "f")).isSuperset(of: list.all), "\(third)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test(
        "a cursor that happens to be a number stays one",
        arguments: ["?max_id=", "?since_id=", "?before=", "?cursor=", "?page=2&before=", "?from="])
    func cursors(link: String) async throws {
        let list = List(35)
        let name = String(link.split(whereSeparator: { "?&".contains($0) }).last!.dropLast())
        let server = try await Self.linked(list) { request in
            guard let id = request.query[name].flatMap({ Int($0) }) else { return 0 }
            return list.ids.withLock { $0.firstIndex { $0 < id } ?? $0.count }
        } _: { _, start in
            "/list\(link)\(list.ids.withLock { $0[start - 1] })"
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list")
        #expect(!run.err.contains("its links are"), "\(run)")
        #expect(run.out.contains("whole: no gaps, head closed, end reached\n"), "\(run)")
        #expect(try await box.rows(of: "f") == list.all)
    }

    @Test("ingest of recorded responses takes such a link for a position, too")
    func recorded() async throws {
        let list = List(30)
        let box = try Sandbox()
        for page in 1...3 {
            let next = page < 3 ? #""https://a.example/list?page=\#(page + 1)""# : "null"
            try box.write(
                "\(page).json", #"{"results": \#(list.rows(page * 10 - 10)), "next": \#(next)}"#)
            let query = page == 1 ? "" : "?page=\(page)"
            try box.write("\(page).json.headers", "GET https://a.example/list\(query)\nHTTP/1.1 200 OK\n\n")
        }
        let run = try await box.other("ingest", box.cache, "f", box.path("1.json"), box.path("2.json"))
        #expect(run.out.contains("its links are page numbers (page=2)"), "\(run)")
        let feeds = try await box.other("gaps", box.cache, "f")
        #expect(feeds.out.contains("1 join is unverified"), "\(feeds)")
    }

    // MARK: The number of the first page

    /// A server of numbered pages. `says` makes members beside the list of the number.
    private static func numbered(
        _ list: List, first: Int, clamps: Bool = false,
        says: @escaping @Sendable (Int) -> String = { _ in "" }
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let number = number(request, "page", first)
            if clamps && (number - first) * 10 >= list.count {
                return .json(#"{"error": "no such page"}"#, status: 404)
            }
            return .json(#"{"content": \#(list.rows((number - first) * 10))\#(says(number))}"#)
        }
    }

    @Test(
        "the number of the first page is what the first answer says, else what page 1 shows",
        arguments: [0, 1],
        [
            #", "number": %"#, #", "meta": {"current_page": %}"#, #", "page": {"size": 10, "number": %}"#,
            "", "clamps", #", "number": 7"#,
        ])
    func firstPage(first: Int, says: String) async throws {
        let list = List(45)
        let server = try await Self.numbered(list, first: first, clamps: says == "clamps") {
            says == "clamps" ? "" : says.replacing("%", with: "\($0)")
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?page={page}")
        #expect(run.err.contains("its pages are counted from \(first)"), "\(run)")
        #expect(try await box.rows(of: "f") == list.all, "\(run)")
        let isAsked = !says.contains("%")
        #expect(run.err.contains("as page 1 shows") == isAsked, "\(run)")
        list.insert(3)
        let again = try await box.pull("f")
        #expect(try await box.rows(of: "f") == list.all, "\(again)")
        #expect(server.requests.allSatisfy { Self.number($0, "page", first) >= first })
    }

    @Test("a list with one page says no other number", arguments: ["", "clamps"])
    func onePage(kind: String) async throws {
        let list = List(5)
        let server = try await Self.numbered(list, first: 0, clamps: kind == "clamps")
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?page={page}")
        #expect(run.err.contains("its pages are counted from 0"), "\(run)")
        list.insert(30)
        let again = try await box.pull("f")
        #expect(try await box.rows(of: "f") == list.all, "\(again)")
    }

    @Test("a place in the address says it, and then nothing is asked for that", arguments: [0, 1])
    func saidFirstPage(first: Int) async throws {
        let list = List(45)
        let server = try await Self.numbered(list, first: first)
        let box = try Sandbox()
        let run = try await box.pull(
            "f", server.address + "/list?page={page:\(first)}", "--pages", "2")
        #expect(run.err.contains("counted from \(first), as the address says"), "\(run)")
        #expect(run.status == 0 && server.requests.last?.query["page"] == "\(first + 1)", "\(run)")
        let again = try await box.pull("f")
        #expect(try await box.rows(of: "f") == list.all, "\(again)")
        let limited = try await box.pull("g", server.address + "/list?page={page}", "--pages", "1")
        #expect(limited.status == 64 && limited.err.contains("{page:0} or {page:1}"), "\(limited)")
        let other = try await box.pull("f", server.address + "/list?page={page:\(1 - first)}")
        #expect(other.status == 65 && other.err.contains("was begun as if from \(first)"), "\(other)")
        #expect(try await box.rows(of: "f") == list.all)
    }

    @Test("a feed that was begun with a wrong number loses nothing, and says what to do")
    func wrongFirstPage() async throws {
        let list = List(45)
        let server = try await Self.numbered(list, first: 0)
        let box = try Sandbox()
        _ = try await box.pull("f", server.address + "/list?page={page:1}")
        let rows = try await box.rows(of: "f")
        #expect(!rows.contains("30"))
        do {  // the number was not remembered once
            let feed = try #require(try Cache(at: box.cache).existingFeed(named: "f"))
            try feed.cache.batch {
                try PullMemory(address: server.address + "/list?page={page}", pageSize: 10, firstPage: nil)
                    .remember(with: $0[feed])
            }
        }
        for _ in 1...2 {
            let run = try await box.pull("f")
            #expect(run.status == 65 && run.err.contains("counted from 0, as page 1 shows other"), "\(run)")
            #expect(run.err.contains("give the list a feed of its own"), "\(run)")
            #expect(try await box.rows(of: "f") == rows)
        }
    }

    // MARK: Lists that say later how they go on

    @Test(
        "a list that had one page goes on by the link that a later answer shows",
        arguments: ["null", "absent", "header"], [12, 30])
    func laterLink(kind: String, more: Int) async throws {
        let list = List(5)
        let server = try await LoopbackServer.start { request in
            let page = Self.number(request, "page", 1)
            let hasNext = page * 10 < list.count
            let rows = list.rows(page * 10 - 10)
            if kind == "header" {
                let link = hasNext ? "<?page=\(page + 1)>; rel=\"next\"" : "</list>; rel=\"first\""
                return .json(rows, headers: ["Link": link])
            }
            let none = kind == "null" ? #", "next": null"# : ""
            return .json(#"{"rows": \#(rows)\#(hasNext ? ", \"next\": \"/list?page=\(page + 1)\"" : none)}"#)
        }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/list")
        #expect(first.out.contains("the end was not seen"), "\(first)")
        list.insert(4)
        #expect(try await box.pull("f").status == 0)
        list.insert(more)
        let run = try await box.pull("f")
        #expect(run.err.contains("an answer says now how the list goes on"), "\(run)")
        #expect(try await box.rows(of: "f") == list.all, "\(run)")
        let again = try await box.pull("f")
        #expect(!again.err.contains("says now") && again.status == 0, "\(again)")
        // A member that is missing says nothing, null does.
        #expect(again.out.contains("whole: no gaps, head closed, end") == (kind != "absent"), "\(again)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("a cursor that a later answer shows is followed with its place in the address")
    func laterCursor() async throws {
        let list = List(5)
        let server = try await LoopbackServer.start { request in
            let start = request.query["after"].flatMap { Int($0.dropFirst()) } ?? 0
            let next = start + 10 < list.count ? "\"t\(start + 10)\"" : "null"
            return .json(#"{"rows": \#(list.rows(start)), "meta": {"next_cursor": \#(next)}}"#)
        }
        let box = try Sandbox()
        #expect(try await box.pull("f", server.address + "/list").status == 0)
        list.insert(30)
        let second = try await box.pull("f")
        #expect(second.status == 65 && second.out.contains("nothing says which parameter"), "\(second)")
        let third = try await box.pull("f", server.address + "/list?after={token}")
        #expect(try await box.rows(of: "f") == list.all, "\(third)")
    }

    // MARK: Places in the address

    private static func plain(_ list: List, first: Int = 1) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let below = request.query["before"].flatMap { Int($0) }.map { id in
                list.ids.withLock { $0.firstIndex { $0 < id } ?? $0.count }
            }
            let start =
                below ?? request.query["skip"].flatMap { Int($0) }
                ?? (Self.number(request, "page", first) - first) * 10
            return .json(#"{"data": \#(list.rows(start))}"#)
        }
    }

    @Test(
        "a feed that has its first page goes on with a place that is written into the address",
        arguments: ["page={page}", "page={page:0}", "skip={offset}", "before={below}"], [0, 4, 25])
    func writtenPlace(parameter: String, more: Int) async throws {
        let list = List(45)
        let server = try await Self.plain(list, first: parameter == "page={page}" ? 1 : 0)
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/list")
        #expect(first.out.contains(#"as in "…?page={page}" or "…?before={below}""#), "\(first)")
        if more > 0 {
            list.insert(more)
            #expect(try await box.pull("f").status == 0)
        }
        let run = try await box.pull("f", server.address + "/list?" + parameter)
        #expect(try await box.rows(of: "f") == list.all, "\(run)")
        #expect(run.status == 0 && run.out.contains("whole: no gaps, head closed"), "\(run)")
        list.insert(13)
        let again = try await box.pull("f")
        #expect(try await box.rows(of: "f") == list.all && again.status == 0, "\(again)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("{below} is asked with from the first answer on")
    func below() async throws {
        let list = List(45)
        let server = try await Self.plain(list)
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?before={below}")
        #expect(run.out.contains("whole: no gaps, head closed, end reached\n"), "\(run)")
        #expect(try await box.rows(of: "f") == list.all && server.requests.count < 10)
        list.insert(23)
        let again = try await box.pull("f")
        #expect(try await box.rows(of: "f") == list.all && again.status == 0, "\(again)")
    }

    @Test(
        "a server that shows nothing below a post that is gone has not come to its end",
        arguments: [true, false])
    func goneBelow(isKnownLater: Bool) async throws {
        let list = List(45)
        let server = try await LoopbackServer.start { request in
            guard let id = request.query["before"].flatMap({ Int($0) }) else {
                return .json(#"{"data": \#(list.rows(0))}"#)
            }
            let place = list.ids.withLock { $0.firstIndex(of: id) }
            return .json(#"{"data": \#(place.map { list.rows($0 + 1) } ?? "[]")}"#)
        }
        let box = try Sandbox()
        let address = server.address + "/list"
        if isKnownLater { #expect(try await box.pull("f", address).status == 0) }
        #expect(try await box.pull("f", address + "?before={below}", "--pages", "3").status == 0)
        list.remove(29..<30)
        let run = try await box.pull("f")
        #expect(Set(try await box.rows(of: "f")).isSuperset(of: list.all), "\(run)")
        #expect(run.out.contains("whole: no gaps") && run.status == 0, "\(run)")
    }

    @Test("a page whose posts are all hidden is not the end", arguments: ["page={page}", "skip={offset}"])
    func hiddenPage(parameter: String) async throws {
        let list = List(45)
        let server = try await LoopbackServer.start { request in
            let start = Self.number(request, "skip", Self.number(request, "page", 1) * 10 - 10)
            return .json(#"{"data": \#(start == 20 ? "[]" : list.rows(start))}"#)
        }
        let box = try Sandbox()
        #expect(try await box.pull("f", server.address + "/list").status == 0)
        let run = try await box.pull("f", server.address + "/list?" + parameter)
        #expect(try await box.rows(of: "f") == list.all.filter { !(16...25).contains(Int($0)!) }, "\(run)")
    }

    @Test("a place that is not used is said", arguments: ["{above}", "{below}", "{page}"])
    func unused(place: String) async throws {
        let list = List(15)
        let server = try await Self.linked(list) {
            Self.number($0, "offset", 0)
        } _: {
            "http://\($0)/list?offset=\($1)"
        }
        let box = try Sandbox()
        try box.write(
            "own.json",
            #"{"name": "own", "items": "results", "id": {"path": "id"}, "next": {"path": "next"}}"#)
        let run = try await box.pull(
            "f", server.address + "/list?x=\(place)", "--profile-file", box.path("own.json"))
        #expect(run.err.contains("\(place) in the address is not used"), "\(run)")
        #expect(try await box.rows(of: "f") == list.all)
    }

    @Test("a feed of cursors cannot go on by numbers, and says what to do")
    func cursorFeed() async throws {
        let list = List(45)
        let server = try await Self.plain(list)
        let box = try Sandbox()
        try box.write("own.json", #"{"name": "own", "items": "data", "id": {"path": "id"}}"#)
        let own = ["--profile-file", box.path("own.json")]
        #expect(try await box.pull("f", server.address + "/list", own[0], own[1]).status == 0)
        let run = try await box.pull("f", server.address + "/list?page={page}")
        #expect(run.status == 64 && run.err.contains("give the list a feed of its own"), "\(run)")
        let other = try await box.pull("g", server.address + "/list?page={page}", own[0], own[1])
        #expect(try await box.rows(of: "g") == list.all, "\(other)")
    }
}
