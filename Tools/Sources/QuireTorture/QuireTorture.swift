import ArgumentParser
import Foundation
import QuireSimulator

/// Shows by faults that nothing acknowledged is lost and nothing damaged is believed.
@main
struct QuireTorture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quire-torture", abstract: "Puts caches through crashes, power cuts and damage.",
        discussion: "The same seed repeats the same faults, except the moments at which processes die.",
        subcommands: [
            Kill.self, KillPoints.self, PowerCut.self, Faults.self, Allocations.self, FileSystems.self,
            FullDisk.self,
            Suspended.self, Growth.self, ReaderSlots.self, Limits.self, Clocks.self, Readers.self,
            HostileFiles.self,
            TurnTaking.self, OracleHistories.self, NumberedHistories.self,
        ])
}

struct CommonOptions: ParsableArguments {
    @Option(help: "Decides everything that is random.") var seed = UInt64.random(in: 0..<1_000_000)

    @Option(help: "Where caches are created; a folder of its own inside, removed at the end.")
    var folder = NSTemporaryDirectory()
}

/// One line of the table at the end of `make torture`.
struct Summary {
    let name: String
    let unit: String
    var count = 0
    var notes = ""

    init(name: String, unit: String) { (self.name, self.unit) = (name, unit) }
}

/// This machine does not permit it. The exit status is 77 then.
struct Skipped: Error {
    let why: String
}

protocol TortureCommand: ParsableCommand {
    var common: CommonOptions { get }
    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary
}

extension TortureCommand {
    func run() throws {
        let folder = common.folder + "/quire-torture-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var random = SplitMix64(seed: common.seed)
        do {
            let summary = try run(in: folder, &random)
            try FileManager.default.removeItem(atPath: folder)
            print(
                "passed\t\(summary.name)\t\(summary.count) \(summary.unit)\tseed \(common.seed)"
                    + "\t\(summary.notes)")
        } catch let skipped as Skipped {
            try FileManager.default.removeItem(atPath: folder)
            print("skipped\t\(Self._commandName)\t\(skipped.why)")
            throw ExitCode(77)
        } catch let violation as Violation {
            // The files stay: they are the evidence.
            var arguments = CommandLine.arguments.dropFirst()
            if !arguments.contains("--seed") { arguments += ["--seed", String(common.seed)] }
            print("FAILED\t\(Self._commandName)\t\(violation.what)")
            print("files: \(folder)\nreplay: quire-torture \(arguments.joined(separator: " "))")
            throw ExitCode(1)
        }
    }
}
