import Foundation
import Testing

@testable import Quire

/// Random histories of the executable specification, replayed step by step through real LMDB. They are
/// written afresh by `fuzz.py --emit`, where the oracle lies beside the checkout.
@Suite struct HistoryTests {
    static let oracle = Shared.folder.map { $0 + "/oracle" }
    static let count = Shared.number("QUIRE_HISTORIES") ?? 270
    static let start = Shared.number("QUIRE_START") ?? 1_000_000
    /// So many are written at a time.
    private static let chunk = 90

    @Test(.enabled(if: oracle != nil, "needs ../shared/oracle"))
    func agreeWithTheModel() throws {
        var (seen, broken) = (0, 0)
        for start in stride(from: Self.start, to: Self.start + Self.count, by: Self.chunk) {
            let count = min(Self.chunk, Self.start + Self.count - start)
            guard let histories = try Self.emit(count, from: start) else {
                broken += count
                continue
            }
            for (i, history) in histories.enumerated() {
                let tuning = i % 2 == 0 ? ScenarioTests.cramped : Tuning()
                let sound = Self.upToDeparture(history)
                try ScenarioTests.replay(sound, tuning, reopeningEvery: 7 + i % 20)
                seen += sound["steps"]!.list!.count
            }
        }
        print("\(Self.count - broken) histories of \(seen) operations")
        #expect(broken * 5 <= Self.count, "the model itself breaks too often; try another QUIRE_START")
    }

    /// The model lets two requests for bodies share a ticket although they name different posts, and
    /// then removes posts that nobody asked for; the engine does not (Docs/decisions.md, 1). A history
    /// is compared up to the step where that happens, about 1 in 400.
    ///
    /// And the model forgets pages one after the other where the engine forgets them in one change
    /// (Docs/decisions.md, 10), which can be told from positions and links if any lay above what stays. A history
    /// is compared up to such a prune, too.
    private static func upToDeparture(_ history: JSON) -> JSON {
        var wanted: [Double: JSON] = [:]
        var posts: [Substring] = []
        let steps = history["steps"]!.list!
        let sound = steps.prefix { step in
            let before = posts
            posts = step["expect"]?["picture"]?.text.map(Self.posts) ?? posts
            if step["op"]?.text == "prune" && !before.starts(with: posts) { return false }
            guard let plan = step["expect"]?["plan"], let ids = plan["ids"],
                let ticket = step["expect"]?["ticket"]?.number
            else { return true }
            defer { wanted[ticket] = ids }
            return wanted[ticket].map { $0 == ids } ?? true
        }
        guard case .object(var members) = history else { return history }
        members["steps"] = .list(Array(sound))
        return .object(members)
    }

    /// Those of a picture that stand in the server's order.
    private static func posts(of picture: String) -> [Substring] {
        picture.split(separator: "[").dropFirst().flatMap { segment in
            segment.prefix { $0 != "]" }.split(separator: " ").filter { !$0.hasPrefix("+") }
        }
    }

    /// Nil if the model breaks a promise of its own in one of them (about 1 in 3,000).
    private static func emit(_ count: Int, from start: Int) throws -> [JSON]? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = URL(fileURLWithPath: oracle!)
        process.arguments = ["python3", "fuzz.py", "--emit", "\(count)", "--start", "\(start)"]
        process.environment = ProcessInfo.processInfo.environment
            .merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus != 0 { return nil }
        return try JSON(data).list!
    }
}
