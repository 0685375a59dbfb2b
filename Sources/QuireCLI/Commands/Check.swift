import ArgumentParser
import Quire

struct Check: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test every record and every rule of a cache.",
        discussion: "Exit code 1 when there are findings. Changes nothing.")

    @OptionGroup var target: CacheArgument
    @Flag(help: "Only what the cache and its feeds say of themselves: a millisecond.") var quick = false
    @OptionGroup var json: JSONOption

    func run(_ output: Output) throws -> ExitStatus {
        let report = try target.open().check(quick ? .quick : .full) { _ in true }
        return try output.report(report.findings, asJSON: json.isOn)
    }
}

extension Output {
    private struct Line: Encodable {
        let code: String
        let message: String
        let place: String
    }

    /// Prints findings; what they say comes from the file.
    func report(_ findings: [Finding], asJSON: Bool) throws -> ExitStatus {
        let lines = JSONLines(self)
        for finding in findings {
            if asJSON {
                try lines.print(
                    Line(
                        code: finding.code.rawValue, message: finding.message, place: finding.place))
            } else {
                try line(shown(finding.description))
            }
        }
        if !asJSON { try line(findings.isEmpty ? "no findings" : counted(findings.count, "finding")) }
        return findings.isEmpty ? .ok : .findings
    }
}
