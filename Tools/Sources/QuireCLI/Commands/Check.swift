import ArgumentParser
import Quire

struct Check: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test every record and every rule of a cache.",
        discussion: """
            Exit code 1 if there are findings. Changes nothing. Ctrl-C stops it, prints the findings until then, and \
            exits with code 130.

            Examples:
              quire check so.quire
              quire check so.quire --quick --json
            """)

    @OptionGroup var target: CacheArgument
    @Flag(help: "Test only the records of the cache and of its feeds: about a millisecond.") var quick = false
    @OptionGroup var search: SearchOptions

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        return try search.run(output) { limit, progress in
            try cache.check(quick ? .quick : .full, limit: limit, progress: progress)
        }
    }
}

/// How check and verify go, and how they say what they found.
struct SearchOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Stop after this many findings.", valueName: "number"))
    var limit = 100

    @OptionGroup var progress: ProgressOption
    @OptionGroup var json: JSONOption

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    private struct Line: Encodable {
        let code: String
        let message: String
        let location: String
    }

    func run(
        _ output: Output, _ search: (Int, (CheckProgress) -> Bool) throws -> CheckReport
    ) throws -> ExitStatus {
        let work = LongWork(progress)
        defer { work.clear() }
        let report = try search(limit) { work.goesOn($0.fraction) }
        work.clear()
        try print(report, output)
        try output.flush()
        if work.isStopped {
            Messages.write("stopped; there may be more to find")
            return .interrupted
        }
        if !report.isComplete {
            Messages.write("stopped after \(counted(limit, "finding")); there may be more, see --limit")
        }
        return report.findings.isEmpty ? .ok : .findings
    }

    /// What findings say comes from the file.
    private func print(_ report: CheckReport, _ output: Output) throws {
        let lines = JSONLines(output)
        for finding in report.findings {
            if json.isOn {
                try lines.print(
                    Line(code: finding.code.rawValue, message: finding.message, location: finding.location))
            } else {
                try output.line(shown(finding.description))
            }
        }
        if json.isOn { return }
        let count = report.findings.isEmpty ? "no findings" : counted(report.findings.count, "finding")
        try output.line(report.isComplete ? count : "\(count) so far")
    }
}
