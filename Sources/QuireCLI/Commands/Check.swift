import ArgumentParser
import Quire

struct Check: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test every record and every rule of a cache.",
        discussion: "Exit code 1 when there are findings. Changes nothing.")

    @OptionGroup var target: CacheArgument
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let code: String
        let message: String
        let place: String
    }

    func run(_ output: Output) throws -> ExitStatus {
        let findings = try target.open().check()
        let lines = JSONLines(output)
        for finding in findings {
            if json.isOn {
                try lines.print(
                    Line(
                        code: finding.code.rawValue, message: finding.message, place: finding.place))
            } else {
                try output.line(shown(finding.description))
            }
        }
        if !json.isOn {
            try output.line(findings.isEmpty ? "no findings" : counted(findings.count, "finding"))
        }
        return findings.isEmpty ? .ok : .findings
    }
}
