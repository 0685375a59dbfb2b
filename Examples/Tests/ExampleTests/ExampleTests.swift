import Foundation
import Testing

/// Each example, run as a program, prints what README.md shows.
@Suite(.timeLimit(.minutes(10))) struct ExampleTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        /// What follows the command.
        let output: String
        var testDescription: String { name }
    }

    static let shown: [Example] = {
        let text = (try? String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)) ?? ""
        return text.components(separatedBy: "    $ swift run ").dropFirst().map { part in
            let lines = part.components(separatedBy: "\n")
            let output = lines.dropFirst().prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
            return Example(name: lines[0], output: output.joined(separator: "\n"))
        }
    }()

    @Test func allSevenAreShown() {
        let names = [
            "ChatHistory", "LimitOffsetFeed", "MusicStore", "NewsStore", "ReaderTimeline", "RepositorySearch",
            "StackOverflowFeed",
        ]
        #expect(Self.shown.map(\.name).sorted() == names)
    }

    @Test(arguments: shown)
    func printsWhatTheReadmeShows(example: Example) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = Self.programs.appending(path: example.name)
        process.standardOutput = pipe
        try process.run()
        let written = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: written, as: UTF8.self) == example.output + "\n")
    }

    /// Where the tests lie, the examples do.
    private static let programs: URL = {
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            return URL(filePath: argument.components(separatedBy: ".xctest")[0]).deletingLastPathComponent()
        }
        return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    }()
}
