import Foundation
import Testing

@testable import Quire

/// Random histories of the executable specification, replayed step by step through real LMDB. They are
/// written afresh by `fuzz.py --emit`, where the oracle lies beside the checkout.
@Suite struct HistoryTests {
    static let oracle = Shared.folder.map { $0 + "/oracle" }
    static let count = Shared.number("QUIRE_HISTORIES") ?? 270
    static let start = Shared.number("QUIRE_START") ?? 1_000_000

    @Test(.enabled(if: oracle != nil, "needs ../shared/oracle"))
    func agreeWithTheModel() throws {
        let histories = try Self.emit(Self.count, from: Self.start)
        #expect(histories.count == Self.count)
        for (i, history) in histories.enumerated() {
            if Shared.number("QUIRE_TRACE") != nil { print(history["id"]!.text!) }
            let tuning = i % 2 == 0 ? ScenarioTests.cramped : Tuning()
            try ScenarioTests.replay(history, tuning, reopeningEvery: 7 + i % 20)
        }
    }

    private static func emit(_ count: Int, from start: Int) throws -> [JSON] {
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
        return try JSON(data).list!
    }
}
