import Foundation
import Testing

/// This program, started again for one test that asks its environment whether it is a child.
enum TestChild {
    /// Runs the test with these variables in a process with its own seed of hashes, and waits for its end.
    static func run(_ test: String, _ variables: [String: String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", test]
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_DETERMINISTIC_HASHING"] = nil
        process.environment = environment.merging(variables) { $1 }
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
