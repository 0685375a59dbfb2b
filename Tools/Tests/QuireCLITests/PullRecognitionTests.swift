import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@Suite("what quire pull sees in the first answer", .timeLimit(.minutes(10)), .serialized)
struct PullRecognitionTests {
    private func found(
        _ path: String, _ items: [String], _ arguments: String...
    ) async throws -> String {
        let server = try await LoopbackServer.start { _ in
            .json(#"{"items": [\#(items.joined(separator: ","))], "has_more": false}"#)
        }
        let box = try Sandbox()
        let run = try await PullProcess(
            box, ["so", server.address + path, "--pause", "0s"] + arguments
        ).end()
        return withExtendedLifetime(box) { run.err }
    }

    /// Questions by activity, whose other fields are in no order.
    private let active = (0..<5).map {
        #"{"question_id": \#([7, 9, 1, 4, 8][$0]), "last_activity_date": \#(1_700_000_009 - $0), "#
            + #""creation_date": \#(1_600_000_000 + [3, 1, 5, 2, 4][$0])}"#
    }
    /// Questions by creation.
    private let created = (0..<5).map {
        #"{"question_id": \#(9 - $0), "creation_date": \#(1_600_000_009 - $0), "score": \#($0 * 7 % 5)}"#
    }

    @Test("the order: as the request says, as the API is known, as the fields descend")
    func orders() async throws {
        #expect(try await found("/questions", active).contains("order bump by last_activity_date: "))
        let sorted = try await found("/questions?sort=creation", created)
        #expect(sorted.contains("order bump by creation_date: the request says sort=creation"))
        #expect(try await found("/questions?sort=votes", active).contains("order ranked: the request says"))
        // A field whose name is known, but does not descend, is not believed.
        #expect(
            try await found("/questions?sort=creation", active).contains("creation_date does not descend"))
        #expect(
            try await found("/other", created).contains("order bump by creation_date: creation_date desc"))
    }

    /// `[30 … 1]` by the time of the last change; then 10 to 1 change, and all of the first page has risen.
    @Test(
        "a whole page of posts that have risen removes no other post",
        arguments: [[], ["--profile", "github"], ["--profile", "github", "--key", "updated_at"]])
    func risen(_ options: [String]) async throws {
        let order = Mutex(Array((1...30).reversed()))
        let server = try await LoopbackServer.start { request in
            let start = ((request.query["page"].flatMap { Int($0) } ?? 1) - 1) * 10
            let all = order.withLock { $0 }
            let rows = all[start..<start + 10].map { id in
                let time = all == all.sorted(by: >) || id > 10 ? id : id + 30
                return #"{"id": \#(id), "url": "https://api.github.com/\#(id)", "#
                    + #""created_at": "2024-01-01T00:00:\#(10 + id)Z", "#
                    + #""updated_at": "2024-01-01T00:01:\#(10 + time)Z"}"#
            }
            let next = #"</issues?sort=updated&page=\#(start / 10 + 2)>; rel="next""#
            return .json("[\(rows.joined(separator: ","))]", headers: start < 20 ? ["Link": next] : [:])
        }
        let box = try Sandbox()
        let address = server.address + "/issues?sort=updated"
        let first = try await PullProcess(box, ["list", address, "--pause", "0s"] + options).end()
        let reason = options.contains("--key") ? "updated_at descends" : "the request says sort=updated"
        #expect(first.err.contains("order bump by updated_at: \(reason)"), "\(first)")
        order.withLock { $0 = Array((1...10).reversed()) + Array((11...30).reversed()) }
        let second = try await box.pull("list")
        #expect(second.out.contains("30 posts") && second.out.contains("whole"), "\(second)")
        #expect(try await box.rows(of: "list") == order.withLock { $0 }.map(String.init))
    }

    /// The list is sorted by its changes, and read as sorted by creation. `[20 … 1]`, then 3, 12 and 7 rise.
    @Test("a first page that contradicts the order removes nothing, and says so")
    func contradiction() async throws {
        let order = Mutex(Array((1...20).reversed()))
        let server = try await LoopbackServer.start { request in
            let start = request.query["c"].flatMap { Int($0) } ?? 0
            let ids = order.withLock { Array($0[start..<min(start + 3, 20)]) }
            let next = start + 3 < 20 ? #""/list?c=\#(start + 3)""# : "null"
            return .json(#"{"items": [\#(ids.map(Self.row).joined(separator: ","))], "next": \#(next)}"#)
        }
        let box = try Sandbox()
        let arguments = ["--order", "bump", "--key", "created_at"]
        let address = server.address + "/list"
        let first = try await PullProcess(box, ["list", address, "--pause", "0s"] + arguments).end()
        #expect(first.out.contains("list: 20 posts (20 new, 7 requests), whole"), "\(first)")
        order.withLock { $0 = [3, 12, 7] + $0.filter { ![3, 12, 7].contains($0) } }
        let second = try await box.pull("list")
        #expect(second.out.contains("list: 20 posts (0 new, ") && second.out.contains("1 gap"), "\(second)")
        #expect(second.out.contains("1 answer contradicts the order of the feed: "), "\(second)")
        let rest = (1...20).reversed().filter { ![3, 12, 7].contains($0) }.map(String.init)
        #expect(try await box.rows(of: "list") == ["3", "12", "7", "~"] + rest)
    }

    @Test("the closing line says by how many posts the feed has become shorter")
    func fewer() async throws {
        let count = Mutex(9)
        let server = try await LoopbackServer.start { _ in
            let rows = (1...count.withLock { $0 }).reversed().map { Self.row($0) }
            return .json(#"{"items": [\#(rows.joined(separator: ","))], "has_more": false}"#)
        }
        let box = try Sandbox()
        _ = try await box.pull("list", server.address + "/list")
        count.withLock { $0 = 5 }
        let run = try await box.pull("list", server.address + "/list")
        #expect(run.out.contains("list: 5 posts (4 fewer, 1 request)"), "\(run)")
    }

    @Test("the flags of ingest say otherwise")
    func flags() async throws {
        let given = try await found("/questions", active, "--order", "keyless")
        #expect(given.contains("order keyless: as --order says"))
        let keyed = try await found("/questions", active, "--order", "bump", "--key", "last_activity_date")
        #expect(keyed.contains("bump by last_activity_date: as --order says"))
        #expect(try await found("/questions?order=asc", active).contains("order=asc: oldest first"))
        let rising = (0..<5).map { #"{"id": \#($0), "created_at": \#(1_700_000_000 + $0)}"# }
        let upwards = "/l?ordering=created_at"
        #expect(try await found(upwards, rising).contains("ordering=created_at: oldest first: new"))
        let said = try await found(upwards, rising, "--order", "ranked")
        #expect(said.contains("order ranked: as --order says"))
        let wrong = try await found("/questions", active, "--profile", "reddit")
        #expect(wrong.contains("read as reddit: "))
        let other = try await found("/questions", active, "--profile", "nothing")
        #expect(other.contains("no profile nothing"))
    }

    // MARK: APIs without a profile

    private static func row(_ id: Int) -> String {
        #"{"id": \#(id), "title": "Item \#(id)", "created_at": "2024-05-\#(10 + id / 10)T\#(10 + id % 10):00:00Z"}"#
    }

    @Test(
        "a place in the address says how the pages of an unknown API are numbered",
        arguments: ["page", "offset"])
    func numbered(name: String) async throws {
        let server = try await LoopbackServer.start { request in
            let number = request.query["n"].flatMap { Int($0) }
            let start = name == "offset" ? number ?? 0 : ((number ?? 1) - 1) * 10
            let ids = (0..<45).reversed().dropFirst(start).prefix(10).map { Self.row($0 + 1) }
            return .json("[\(ids.joined(separator: ","))]")
        }
        let box = try Sandbox()
        let plain = try await box.pull("plain", server.address + "/list")
        #expect(plain.out.contains(#"as in "…?page={page}""#), "\(plain)")
        let run = try await box.pull("list", server.address + "/list?n={\(name)}")
        #expect(run.status == 0 && run.out.contains("whole: no gaps"), "\(run)")
        #expect(try await box.rows(of: "list") == (1...45).reversed().map(String.init))
        let again = try await box.pull("list", server.address + "/list")
        #expect(again.status == 0 && again.out.contains("whole"), "\(again)")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("a token of an unknown API has no place until the address has one, and then the feed goes on")
    func token() async throws {
        let server = try await LoopbackServer.start { request in
            let start = request.query["after"].flatMap { Int($0.dropFirst()) } ?? 0
            let ids = (0..<45).reversed().dropFirst(start).prefix(10).map { Self.row($0 + 1) }
            let next = start + 10 < 45 ? #""t\#(start + 10)""# : "null"
            return .json(#"{"rows": [\#(ids.joined(separator: ","))], "meta": {"next_cursor": \#(next)}}"#)
        }
        let box = try Sandbox()
        let first = try await box.pull("list", server.address + "/list?x=1")
        #expect(first.status == 65 && first.out.contains("nothing says which parameter"), "\(first)")
        #expect(first.out.contains(#"as in "…?cursor={token}""#))
        let second = try await box.pull("list", server.address + "/list?x=1&after={token}")
        #expect(try await box.rows(of: "list") == (1...45).reversed().map(String.init), "\(second)")
        // The place is remembered, also if the address is said without it.
        let third = try await box.pull("list", server.address + "/list?x=1")
        #expect(third.status == 0, "\(third)")
        let other = try await box.pull("list", server.address + "/list?x=2&after={token}")
        #expect(other.status == 64 && other.err.contains("another list"), "\(other)")
    }

    @Test("a key may be a whole number in a string")
    func writtenKey() async throws {
        let rows = (0..<9).map { #"{"id": \#(90 - $0), "ts": "\#(1_700_005_700 - $0)"}"# }
        let server = try await LoopbackServer.start { _ in
            .json(#"{"rows": [\#(rows.joined(separator: ","))], "next": null}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list", "--key", "ts", "--order", "stable")
        #expect(run.status == 0 && run.out.contains("whole"), "\(run)")
        let last = try await box.other("show", box.cache, "f", "--json").objects().last
        #expect(last?["key"] as? Int == 1_700_005_692, "\(String(describing: last))")
    }

    /// Eight answers, four to each question.
    @Test("a list whose id does not tell its posts apart is not whole", arguments: [true, false])
    func sharedIDs(isNamed: Bool) async throws {
        let server = try await LoopbackServer.start { _ in
            let rows = (0..<8).map {
                #"{"answer_id": \#(900 - $0), "question_id": \#(90 - $0 / 4), "#
                    + #""last_activity_date": \#(1_700_000_900 - $0)}"#
            }
            return .json(#"{"items": [\#(rows.joined(separator: ","))], "has_more": false}"#)
        }
        let box = try Sandbox()
        let profile = isNamed ? ["--profile", "stackexchange"] : []
        let run = try await PullProcess(
            box, ["f", server.address + "/answers?pagesize=8", "--pause", "0s", "--exit-code"] + profile
        ).end()
        // A later call does not see the pages again, but the posts are still missing.
        let again = try await box.pull("f", "--exit-code")
        if isNamed {
            #expect(run.status == 1 && run.out.contains("6 posts share ids"), "\(run)")
            #expect(run.out.contains("answer_id; --id names"), "\(run)")
            #expect(again.status == 1 && again.out.contains("6 posts share ids"), "\(again)")
        } else {
            #expect(run.status == 0 && run.out.contains("8 posts (8 new"), "\(run)")
            #expect(again.status == 0 && again.out.contains("whole"), "\(again)")
        }
    }

    @Test("a failure names the server with its port")
    func port() async throws {
        let server = try await LoopbackServer.start { _ in .json("{}", status: 404) }
        let box = try Sandbox()
        let run = try await box.pull("list", server.address + "/list")
        #expect(run.err.contains(server.address + "/list: "), "\(run)")
    }

    @Test("Twilio: a frame of another API with members of the same names is not believed")
    func foreignFrame() async throws {
        let server = try await LoopbackServer.start { request in
            let page = request.query["Page"].flatMap { Int($0) } ?? 0
            let rows = (1...30).reversed().dropFirst(page * 10).prefix(10).map {
                #"{"sid": "SM\#(100 + $0)", "date_created": "2024-01-\#($0 < 10 ? "0" : "")\#($0)T10:00:00Z"}"#
            }
            let next = page < 2 ? #""/M.json?PageSize=10&Page=\#(page + 1)""# : "null"
            return .json(
                #"{"start": \#(page * 10), "end": \#(page * 10 + 9), "page": \#(page), "#
                    + #""next_page_uri": \#(next), "messages": [\#(rows.joined(separator: ","))]}"#)
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/M.json", "--id", "sid")
        #expect(run.out.contains("whole: no gaps, head closed, end"), "\(run)")
        #expect(try await box.rows(of: "f") == (101...130).reversed().map { "SM\($0)" }, "\(run)")
    }

    @Test("{token} is said to be unused where no answer has a token")
    func unusedToken() async throws {
        let server = try await LoopbackServer.start { _ in
            .json(
                #"{"records": [\#((0..<10).reversed().map(Self.row).joined(separator: ","))], "offset": "i9"}"#
            )
        }
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/list?offset={token}")
        #expect(run.out.contains("{token} in the address is not used"), "\(run)")
        #expect(!run.out.contains("{page}"), "\(run)")
    }

    @Test("a list whose first page is refused is not whole")
    func refusedHead() async throws {
        let server = try await ListServer.start(posts: 20) { number, _, _ in
            number > 1 ? .json("{}", status: 404) : nil
        }
        let box = try Sandbox()
        #expect(try await box.pull("f", server.url).out.contains("whole: no gaps, head closed, end reached"))
        let end = try await box.pull("f", "--json").objects().last
        #expect(end?["stopped"] as? String == "server" && end?["whole"] as? Bool == false)
        let run = try await box.pull("f")
        #expect(run.status == 65 && run.out.contains("not whole: the server refused a request"), "\(run)")
    }
}
