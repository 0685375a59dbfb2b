import LoopbackServers
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Testing

/// Deltas over HTTP: the token in the address, the rest behind the answer's next link (R29).
@Suite(.timeLimit(.minutes(10))) struct DeltaHTTPTests {
    private static let profile = #"""
        {"name": "x", "order": "stable", "items": "items", "id": {"path": "id"}, "key": {"path": "id"},
         "next": {"path": "next"}, "since": {"path": "sync"}, "deleted": "gone"}
        """#

    @Test func theAddressHasTheToken() async throws {
        let server = try await LoopbackServer.start { request in
            switch (request.query["since"], request.query["token"]) {
            case ("s 1", nil): .json(#"{"items":[{"id":11}],"gone":[8],"next":"p2"}"#)
            case (nil, "p2"): .json(#"{"items":[{"id":10}],"sync":"s2"}"#)
            default: .json(#"{"items":[{"id":9},{"id":8}],"sync":"s 1"}"#)
            }
        }
        let profile = try Profile(json: Array(Self.profile.utf8), name: "profile")
        let fixture = try PagerFixture(profile.options)
        let pager = fixture.pager(
            try HTTPSource("\(server.address)/list?since={since}&token={token}&n={limit}", profile: profile))
        try await pager.refresh()
        #expect(try fixture.picture == "[9 8] |end")
        try await pager.update()
        #expect(try fixture.picture == "[11 10 9] |end")
    }
}
