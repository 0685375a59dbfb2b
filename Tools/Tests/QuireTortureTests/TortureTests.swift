import Foundation
import Testing

/// A short run of each torture, as a process: `make torture` runs the long ones.
@Suite(.timeLimit(.minutes(10))) struct TortureTests {
    private func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = arguments + Self.folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// It lies beside the test bundle.
    private static let program: String = {
        let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests ?? Bundle.main.bundlePath).deletingLastPathComponent()
            .appendingPathComponent("quire-torture").path
    }()

    private static let folder =
        FileManager.default.fileExists(atPath: "/dev/shm") ? ["--folder", "/dev/shm"] : []
    private static let hostile = ProcessInfo.processInfo.environment["QUIRE_HOSTILE"] ?? "80"

    @Test(arguments: [
        ["kill", "--count", "8"], ["kill", "--survivors", "--count", "8"], ["power", "--count", "50"],
        ["points", "--act", "refresh", "--act", "creation"],
        ["faults", "--act", "prune", "--act", "creation"], ["limits", "--count", "10"],
        ["allocations", "--act", "update", "--count", "3"], ["suspended", "--count", "3"],
        ["growth", "--count", "10"], ["slots", "--count", "1"],
        ["clocks", "--count", "3"], ["readers", "--count", "3"],
    ])
    func nothingIsLost(_ arguments: [String]) throws {
        let output = try run(arguments)
        #expect(output.hasPrefix("passed"), "\(output)")
    }

    /// Where mounting is permitted.
    @Test(arguments: [["full", "--count", "5"], ["shutdown", "--count", "1"]])
    func disksMayFail(_ arguments: [String]) throws {
        let output = try run(arguments)
        #expect(output.contains("passed\t") || output.contains("skipped\t"), "\(output)")
    }

    @Test func damagedFilesAreSurvived() throws {
        let output = try run(["hostile", "--count", Self.hostile])
        #expect(output.hasPrefix("passed"), "\(output)")
    }
}
