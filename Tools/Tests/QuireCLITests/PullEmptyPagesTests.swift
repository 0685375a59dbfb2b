import FlyingFox
import Foundation
import LoopbackServers
import Testing

@testable import QuireCLI

/// Servers that take hidden posts out of pages that they have already cut, or say "more" for ever.
@Suite("quire pull and pages without posts", .timeLimit(.minutes(10)), .serialized)
struct PullEmptyPagesTests {
    private static let count = 60

    /// Pages of ten in the manner of Stack Exchange. The posts of some pages are hidden, and beyond the end
    /// each page says what `beyond` says.
    private static func server(
        hidden: ClosedRange<Int>, isFixed: Bool = false, saysMoreBeyond: Bool = false
    ) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            let page = Int(request.query["page"] ?? "1") ?? 1
            let size = isFixed ? 10 : Int(request.query["pagesize"] ?? "10") ?? 10
            let first = (page - 1) * size
            let ranks = first..<min(max(first, count), first + size)
            let rows = ranks.filter { !hidden.contains($0 / 10 + 1) }
                .map { count - $0 }
                .map { #"{"question_id": \#($0), "last_activity_date": \#(1_700_000_000 + 60 * $0)}"# }
            let isMore = saysMoreBeyond || first + size < count
            return .json(#"{"items": [\#(rows.joined(separator: ","))], "has_more": \#(isMore)}"#)
        }
    }

    private static func ids(hidden: ClosedRange<Int>) -> [String] {
        (0..<count).filter { !hidden.contains($0 / 10 + 1) }.map { "\(count - $0)" }
    }

    @Test(
        "pages whose posts are all hidden lead on, and the mirror of the others is whole", arguments: [3, 5])
    func hidden(last: Int) async throws {
        let server = try await Self.server(hidden: 3...last)
        let box = try Sandbox()
        let run = try await box.pull("f", server.address + "/questions")
        #expect(run.out.contains("whole: no gaps") && !run.out.contains("not whole"), "\(run)")
        #expect(try await box.rows(of: "f") == Self.ids(hidden: 3...last))
    }

    @Test("numbered pages that are empty and say \"more\" for ever end the work, in each call")
    func endlessNumbers() async throws {
        let server = try await Self.server(hidden: 3...6, saysMoreBeyond: true)
        let box = try Sandbox()
        var asked = 0
        for _ in 1...3 {
            let run = try await box.pull("f", server.address + "/questions", "--exit-code")
            #expect(run.status == 1 && run.out.contains("not whole"), "\(run)")
            #expect(run.out.contains("says that more follows") && !run.out.contains("--pages"), "\(run)")
            #expect(server.requests.count - asked <= 30, "\(run)")
            asked = server.requests.count
        }
        #expect(try await box.rows(of: "f") == Self.ids(hidden: 3...6))
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("an end that the engine assumes although each empty page says \"more\" is not called the end")
    func assumed() async throws {
        let server = try await Self.server(hidden: 3...6, isFixed: true, saysMoreBeyond: true)
        let box = try Sandbox()
        for call in 1...2 {
            let line = try await box.pull("f", server.address + "/questions", "--json").objects().last
            #expect(line?["whole"] as? Bool == false && line?["tail_end"] as? Bool == false, "call \(call)")
            #expect(line?["stopped"] as? String == "stuck")
            #expect((line?["reason"] as? String)?.contains("says that more follows") == true)
        }
    }

    @Test("a run of eleven empty pages by link: the first call names the link, the second goes past them")
    func long() async throws {
        let server = try await LoopbackServer.start { request in
            let page = Int(request.query["page"] ?? "1") ?? 1
            let first = page <= 2 ? 1 + (page - 1) * 10 : 21 + (page - 14) * 10
            let rows = 3...13 ~= page ? [] : (first..<first + 10).map { #"{"id": \#($0)}"# }
            let links = page < 15 ? ["Link": "</list?page=\(page + 1)>; rel=\"next\""] : [:]
            return .json("[\(rows.joined(separator: ","))]", headers: links)
        }
        let box = try Sandbox()
        let first = try await box.pull("f", server.address + "/list", "--order", "keyless")
        #expect(first.out.contains("not whole"), "\(first)")
        #expect(first.out.contains("/list?page=12: this page and those before"), "\(first)")
        #expect(server.requests.count == 12)
        let second = try await box.pull("f")
        #expect(second.out.contains("whole: no gaps") && second.out.contains("20 new"), "\(second)")
        #expect(try await box.rows(of: "f") == (1...40).map(String.init))
    }
}
