import Foundation
import TestSupport
import Testing

@testable import Quire

/// Random histories of the executable specification, replayed step by step through real LMDB. They are
/// written afresh by `fuzz.py --emit`, where the oracle lies beside the checkout, with our departures from it
/// (Tests/Specification).
@Suite struct HistoryTests {
    static let oracle = Shared.folder.map { $0 + "/oracle" }
    private static let departures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().path + "/Specification/departures.py"
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
                let tuning = i % 2 == 0 ? Tuning.cramped : Tuning()
                try ScenarioTests.replay(history, tuning, reopeningEvery: 7 + i % 20)
                seen += history["steps"]!.list!.count
            }
        }
        print("\(Self.count - broken) histories of \(seen) operations")
        #expect(broken * 5 <= Self.count, "the model itself breaks too often; try another QUIRE_START")
    }

    /// Nil if the model breaks a promise of its own in one of them (about 1 in 3,000).
    private static func emit(_ count: Int, from start: Int) throws -> [JSON]? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", departures, oracle!, "--emit", "\(count)", "--start", "\(start)"]
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
