import Foundation

/// Results of several runs, put together.
struct Report: Codable {
    var machine: Machine
    var date: String
    var sizes: [SizeResult]
    var json: [JSONResult]

    /// Reads files written by `run --json` and `json --json`. Sizes are ordered by their number of posts.
    init(files: [String]) throws {
        var runs: [ResultFile] = []
        json = []
        for path in files {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            if let run = try? JSONDecoder().decode(ResultFile.self, from: data) {
                runs.append(run)
            } else {
                json.append(try JSONDecoder().decode(JSONResult.self, from: data))
            }
        }
        guard let first = runs.first else { throw RunFailure("none of the files is of a run") }
        (machine, date) = (first.machine, first.date)
        sizes = runs.flatMap(\.sizes).sorted {
            ($0.workload.pageSize, $0.workload.ids.rawValue, $0.workload.posts)
                < ($1.workload.pageSize, $1.workload.ids.rawValue, $1.workload.posts)
        }
    }

    init(_ file: ResultFile) {
        (machine, date, sizes, json) = (file.machine, file.date, file.sizes, [])
    }

    static func title(_ size: SizeResult) -> String {
        let workload = size.workload
        return "\(number(workload.posts)) posts, \(workload.pageSize) to a page, "
            + "\(workload.ids.rawValue) ids" + (size.durability == .relaxed ? ", relaxed" : "")
    }

    private var jsonTargets: [Target] {
        json.map {
            Target(
                operation: "JSON to committed posts, \($0.isSynced ? "synced" : "not synced")",
                against: "the slower of parser and engine", bound: .atLeast(0.5), measured: $0.ratio)
        }
    }

    var text: String {
        var parts: [String] = []
        for size in sizes {
            parts.append("\(Self.title(size)); medians of \(size.rounds) rounds")
            parts.append(Measure.table(of: size).text)
            if size.engines.contains(where: { $0.engine == .quire }) {
                parts.append(Target.table(Targets(size: size).all).text)
            }
        }
        if !json.isEmpty {
            parts += json.map(\.text)
            parts.append(Target.table(jsonTargets).text)
        }
        return parts.joined(separator: "\n\n")
    }

    // MARK: Markdown

    var markdown: String {
        let engines = Dictionary(
            sizes.flatMap(\.engines).map { ($0.engine, $0) }, uniquingKeysWith: { first, _ in first })
        var parts = [
            "# Benchmarks",
            """
            Written by `quire-bench report`; how it is measured: [Benchmarks/README.md](../../Benchmarks/README.md).
            Ratios are of medians over rounds in which the engines take turns. SQLite is the best of its
            layouts, for each line anew.
            """,
            """
            - \(machine.processor), \(machine.cores) cores, \(machine.memory)
            - \(machine.system), kernel \(machine.kernel), \(machine.fileSystem)
            - \(machine.swift), \(date.prefix(10))
            """,
            Table(
                header: ["engine", "version", "what it is"],
                rows: EngineName.allCases.compactMap { engines[$0] }.map {
                    [$0.engine.rawValue, $0.version, $0.about]
                }
            ).markdown.replacing("---:", with: "---"),
        ]
        for size in sizes where size.engines.contains(where: { $0.engine == .quire }) {
            parts.append("## Targets: \(Self.title(size))")
            parts.append(Target.table(Targets(size: size).all).markdown)
        }
        if !json.isEmpty {
            parts.append("## JSON")
            parts.append(Target.table(jsonTargets).markdown)
            parts += json.map { "```\n\($0.text)\n```" }
        }
        for size in sizes {
            parts.append("## Numbers: \(Self.title(size))")
            parts.append("![Times the cost of Quire](\(Self.plotName(size)).svg)")
            parts.append(Measure.table(of: size).markdown)
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// plot.py names its files in the same way.
    private static func plotName(_ size: SizeResult) -> String {
        "ratios-\(size.workload.posts)-\(size.workload.pageSize)-\(size.workload.ids.rawValue)"
    }
}
