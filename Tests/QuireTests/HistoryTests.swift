import Foundation
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// Random histories of the executable specification (Tests/Specification), written afresh and replayed step
/// by step through real LMDB.
@Suite struct HistoryTests {
    static let count = Specification.number("QUIRE_HISTORIES") ?? 270
    static let start = Specification.number("QUIRE_START") ?? 1_000_000
    /// How many are written at a time.
    private static let chunk = 90

    /// The programs that write histories: well-behaved servers, those that do what is rare, those that choose
    /// the sizes of their pages, and crawls, also with pages against the order, with wrong keys, and of lists
    /// without an order.
    @Test(arguments: [
        ["fuzz.py"], ["fuzz.py", "--hard"], ["fuzz_sizes.py"], ["fuzz_recorded.py"],
        ["fuzz_recorded.py", "--crooked"], ["fuzz_recorded.py", "--rotten"],
        ["fuzz_recorded.py", "--ranked"],
    ])
    func agreeWithTheModel(_ program: [String]) throws {
        var (seen, broken) = (0, 0)
        for start in stride(from: Self.start, to: Self.start + Self.count, by: Self.chunk) {
            let count = min(Self.chunk, Self.start + Self.count - start)
            guard let histories = try Self.emit(program, count, from: start) else {
                broken += count
                continue
            }
            for (i, history) in histories.enumerated() {
                let tuning = i % 2 == 0 ? Tuning.cramped : Tuning()
                try ScenarioTests.replay(history, tuning, reopeningEvery: 7 + i % 20)
                seen += history["steps"]!.list!.count
            }
        }
        print("\(program.joined(separator: " ")): \(Self.count - broken) histories of \(seen) operations")
        #expect(broken * 5 <= Self.count, "the model itself breaks too often; try another QUIRE_START")
    }

    /// Nil if the model breaks a promise of its own in one of them.
    static func emit(_ program: [String], _ count: Int, from start: Int) throws -> [JSON]? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = Specification.folder
        process.arguments = ["python3"] + program + ["--emit", "\(count)", "--start", "\(start)"]
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
