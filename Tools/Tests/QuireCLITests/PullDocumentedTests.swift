import FlyingFox
import Foundation
import LoopbackServers
import Synchronization
import Testing

@testable import QuireCLI

/// Servers as the documentation of their APIs describes them, asked without a flag: while posts come and go,
/// no post is lost, and none is hidden.
@Suite("quire pull from servers that are as their documentation says", .timeLimit(.minutes(10)))
struct PullDocumentedTests {
    @Test("no flag is needed, and the mirror is the list", arguments: PlayedAPI.documented)
    func played(api: PlayedAPI) async throws {
        let server = try await LoopbackServer.start { api.answer(api.posts, $0, api.size) }
        let box = try Sandbox()
        let run = try await box.pull("feed", server.address + api.path)
        #expect(run.status == 0 && run.err.contains("read as \(api.profile): "), "\(run)")
        #expect(run.out.contains("whole: no gaps, head closed, end reached"), "\(run)")
        #expect(try await box.rows(of: "feed") == api.posts.map(\.id), "\(run)")
        let ideal = (api.posts.count + api.size - 1) / api.size
        #expect(server.requests.count <= ideal + 1, "\(server.requests.map { "\($0.query)" })")
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("posts leave where the next request begins, and others come", arguments: PlayedAPI.documented)
    func moving(api: PlayedAPI) async throws {
        let held = Mutex(Array(api.posts.dropFirst(25)))
        let server = try await LoopbackServer.start { request in
            api.answer(held.withLock(\.self), request, api.size)
        }
        let box = try Sandbox()
        let address = server.address + api.path
        #expect(try await box.pull("feed", address, "--pages", "2").status == 0)
        // The lowest cached post leaves.
        let lowest = try #require(try await box.rows(of: "feed").last)
        held.withLock { $0.removeAll { $0.id == lowest } }
        #expect(try await box.pull("feed").out.contains("whole: no gaps"))
        // More come than a page holds, a gap opens, and the post above it leaves.
        held.withLock { $0.insert(contentsOf: api.posts.prefix(25), at: 0) }
        #expect(try await box.pull("feed", "--pages", "1").out.contains("1 gap"))
        let rows = try await box.rows(of: "feed")
        let above = rows[try #require(rows.firstIndex(of: "~")) - 1]
        held.withLock { $0.removeAll { $0.id == above } }
        #expect(try await box.pull("feed").out.contains("whole: no gaps"))
        // Where links are positions, a post that left draws another one over a join; that is unverified then.
        let run = try await box.pull("feed")
        #expect(run.out.contains("whole: no gaps"), "\(run)")
        let (shown, list) = (try await box.rows(of: "feed"), held.withLock { $0.map(\.id) })
        let hidden = Set(list).subtracting(shown)
        #expect(hidden.isEmpty || run.out.contains("unverified"), "\(run)")
        #expect(hidden.isEmpty || api.profile == "youtube", "\(run)")
        // A post that left may stay until its neighbourhood is asked for again.
        #expect(shown.filter { ![lowest, above].contains($0) } == list.filter { !hidden.contains($0) })
        #expect(try await box.other("check", box.cache).status == 0)
    }

    @Test("Reddit: an empty page for a post that is gone ends nothing and removes nothing")
    func vanished() async throws {
        let held = Mutex((1...60).reversed().map { "t3_\($0)" })
        let server = try await LoopbackServer.start { request in
            let ids = held.withLock(\.self)
            var rest = ids[...]
            if let after = request.query["after"] {
                rest = ids.firstIndex(of: after).map { ids[($0 + 1)...] } ?? []
            }
            let page = rest.prefix(10)
            let rows = page.map { #"{"kind": "t3", "data": {"name": "\#($0)"}}"# }.joined(separator: ",")
            let after = rest.count > page.count ? "\"\(page.last!)\"" : "null"
            return .json(#"{"kind": "Listing", "data": {"children": [\#(rows)], "after": \#(after)}}"#)
        }
        let box = try Sandbox()
        #expect(try await box.pull("new", server.address + "/r/x/new?limit=10", "--pages", "2").status == 0)
        held.withLock { $0.removeAll { $0 == "t3_41" } }
        let run = try await box.pull("new")
        #expect(run.out.contains("59 posts") || run.out.contains("60 posts"), "\(run)")
        #expect(run.out.contains("whole: no gaps, head closed, end reached"), "\(run)")
        held.withLock { $0.insert(contentsOf: (61...95).reversed().map { "t3_\($0)" }, at: 0) }
        #expect(try await box.pull("new", "--pages", "1").out.contains("1 gap"))
        held.withLock { $0.removeAll { $0 == "t3_86" } }
        let filled = try await box.pull("new")
        #expect(filled.out.contains("whole: no gaps"), "\(filled)")
        let shown = try await box.rows(of: "new")
        #expect(shown.filter { !["t3_41", "t3_86"].contains($0) } == held.withLock(\.self))
    }

    @Test("Discord: five requests a second are waited for, not given up for a day")
    func bucket() async throws {
        let api = PlayedAPI.documented[1]
        let count = Mutex(0)
        let server = try await LoopbackServer.start { request in
            let left = count.withLock { count in
                count += 1
                return 4 - (count - 1) % 5
            }
            var response = api.answer(api.posts, request, 4)
            response.headers[HTTPHeader("X-RateLimit-Remaining")] = "\(left)"
            response.headers[HTTPHeader("X-RateLimit-Reset")] = "4102444800.250"
            response.headers[HTTPHeader("X-RateLimit-Reset-After")] = "1.250"
            return response
        }
        let box = try Sandbox()
        let run = try await PullInside(box, "feed", server.address + "/api/v10/channels/9/messages?limit=4")
        #expect(run.end.stopped == .whole, "\(run.end.lines)")
        // the usual second between two requests, and the rest of what the server asks for
        #expect(run.waits.filter { $0 == .milliseconds(250) }.count == 2, "\(run.waits)")
        #expect(try await box.rows(of: "feed") == api.posts.map(\.id))
    }
}
