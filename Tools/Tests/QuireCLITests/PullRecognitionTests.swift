import FlyingFox
import Foundation
import LoopbackServers
import Testing

@Suite("what quire pull sees in the first answer", .timeLimit(.minutes(5)), .serialized)
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
        #expect(try await found("/questions", active).contains("bump by last_activity_date (as usual there)"))
        #expect(
            try await found("/questions?sort=creation", created).contains(
                "bump by creation_date (sort=creation)"))
        #expect(try await found("/questions?sort=votes", active).contains("order ranked (sort=votes)"))
        // A field whose name is known, but does not descend, is not believed.
        #expect(
            try await found("/questions?sort=creation", active).contains(
                "bump by last_activity_date (it desc"))
        #expect(try await found("/other", created).contains("by creation_date (it descends)"))
        let mixed = [active[0], active[2], active[1]]
        #expect(try await found("/other", mixed).contains("order keyless (no time descends)"))
    }

    @Test("the flags of ingest say otherwise")
    func flags() async throws {
        let given = try await found("/questions", active, "--order", "keyless")
        #expect(given.contains("order keyless (as given)"))
        let keyed = try await found("/questions", active, "--order", "bump", "--key", "last_activity_date")
        #expect(keyed.contains("bump by last_activity_date (as given)"))
        #expect(try await found("/questions?order=asc", active).contains("the oldest post"))
        let wrong = try await found("/questions", active, "--profile", "reddit")
        #expect(wrong.contains("as reddit reads it: "))
        let other = try await found("/questions", active, "--profile", "nothing")
        #expect(other.contains("no profile nothing"))
    }
}
