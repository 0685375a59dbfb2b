import ArgumentParser
import Foundation

/// Turns results into tables.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Show results, and write them as Markdown.")

    @Argument(help: "Files written by run --json and json --json.")
    var files: [String]

    @Option(help: "A folder for report.md, and for report.json, from which plot.py draws.")
    var out: String?

    func run() throws {
        let report = try Report(files: files)
        print(report.text)
        guard let out else { return }
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        try Data(report.markdown.utf8).write(to: URL(fileURLWithPath: out + "/report.md"))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(report).write(to: URL(fileURLWithPath: out + "/report.json"))
    }
}
