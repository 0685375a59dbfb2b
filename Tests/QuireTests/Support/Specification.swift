import Foundation

/// The executable specification, which lies beside the tests, and how much of it to play.
enum Specification {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Specification").standardizedFileURL

    /// A number from the environment.
    static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
