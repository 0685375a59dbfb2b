import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// Servers that take hidden posts out of pages that they have already cut, or say "more" for ever.
@Suite("quire pull and pages without posts", .timeLimit(.minutes(10)), .serialized)
struct PullEmptyPagesTests {
    /// Pages of ten in the manner of Stack Exchange. The posts of some pages are hidden, and beyond the end
    /// each page says what `saysMoreBeyond` says.
    private final class List: Sendable {
        let count: Int
        let hidden: ClosedRange<Int>
        let isFixed: Bool
        let saysMoreBeyond: Bool
        /// How many posts came on top since.
        let added = Mutex(0)

        init(count: Int = 60, hidden: ClosedRange<Int>, isFixed: Bool, saysMoreBeyond: Bool = false) {
            (self.count, self.hidden, self.isFixed, self.saysMoreBeyond) = (
                count, hidden, isFixed, saysMoreBeyond
            )
        }

        func server() async throws -> LoopbackServer {
            try await LoopbackServer.start { [self] request in
                let page = Int(request.query["page"] ?? "1") ?? 1
                let size = isFixed ? 10 : Int(request.query["pagesize"] ?? "10") ?? 10
                let all = ids
                let rows = all.dropFirst((page - 1) * size).prefix(size).compactMap(\.self)
                    .map { #"{"question_id": \#($0), "last_activity_date": \#(1_700_000_000 + 60 * $0)}"# }
                let isMore = saysMoreBeyond || page * size < all.count
                return .json(#"{"items": [\#(rows.joined(separator: ","))], "has_more": \#(isMore)}"#)
            }
        }

        /// The list of the server; nil for what it hides.
        var ids: [Int?] {
            let below = (0..<count).map { hidden.contains($0 / 10 + 1) ? nil : count - $0 }
            return (0..<added.withLock(\.self)).reversed().map { count + 1 + $0 } + below
        }

        var shown: [String] { ids.compactMap { $0.map(String.init) } }
    }

    @Test(
        "pages whose posts are all hidden lead on, and the mirror of the others is whole",
        arguments: [(3, false), (5, false), (14, false), (14, true)])
    func hidden(last: Int, isFixed: Bool) async throws {
        let list = List(count: 10 * last + 20, hidden: 3...last, isFixed: isFixed)
        let server = try await list.server()
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/questions")
        #expect(run.out.contains("whole: no gaps") && !run.out.contains("not whole"), "\(run)")
        #expect(try await box.rows(of: "f") == list.shown)
    }

    @Test("a run of 30 hidden pages takes two calls, also if new posts came in between")
    func twoCalls() async throws {
        let list = List(count: 350, hidden: 3...32, isFixed: true)
        let server = try await list.server()
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/questions")
        #expect(first.out.contains("not whole") && first.out.contains("20 in a row, are empty"), "\(first)")
        list.added.withLock { $0 = 3 }
        let second = try await box.pull("f")
        #expect(second.out.contains("whole: no gaps") && !second.out.contains("not whole"), "\(second)")
        #expect(try await box.rows(of: "f") == list.shown)
    }

    @Test(
        "numbered pages that are empty and say \"more\" for ever end the work, in each call, and are no end",
        arguments: [false, true])
    func endlessNumbers(isFixed: Bool) async throws {
        let list = List(hidden: 3...4, isFixed: isFixed, saysMoreBeyond: true)
        let server = try await list.server()
        let box = try Sandbox()
        var asked = 0
        for call in 1...3 {
            let run = try await box.pull("f", server.address + "/questions", "--exit-code", "--json")
            let line = try run.objects().last
            #expect(run.status == 1 && line?["stopped"] as? String == "stuck", "\(run)")
            #expect(line?["whole"] as? Bool == false && line?["tail_end"] as? Bool == false, "call \(call)")
            let reason = line?["reason"] as? String
            #expect(reason?.contains("20 in a row, are empty, and each says that more follows") == true)
            #expect(server.requests.count - asked <= 40, "\(run)")
            asked = server.requests.count
        }
        #expect(try await box.rows(of: "f") == list.shown)
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("a run of 21 empty pages by link: the first call names the link, the second goes past them")
    func long() async throws {
        let server = try await LoopbackServer.start { request in
            let page = Int(request.query["page"] ?? "1") ?? 1
            let first = page <= 2 ? 1 + (page - 1) * 10 : 21 + (page - 24) * 10
            let rows = 3...23 ~= page ? [] : (first..<first + 10).map { #"{"id": \#($0)}"# }
            let links = page < 25 ? ["Link": "</list?page=\(page + 1)>; rel=\"next\""] : [:]
            return .json("[\(rows.joined(separator: ","))]", headers: links)
        }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/list", "--order", "keyless")
        #expect(first.out.contains("not whole"), "\(first)")
        #expect(first.out.contains("/list?page=22: this page and those before"), "\(first)")
        #expect(server.requests.count == 22)
        let second = try await box.pull("f")
        #expect(second.out.contains("whole: no gaps") && second.out.contains("20 new"), "\(second)")
        #expect(try await box.rows(of: "f") == (1...40).map(String.init))
    }
}
