import ArgumentParser
import CRecorder
import Foundation
import QuireSimulator

/// A process is killed just before each call that it makes to the system, one after the other, in each kind
/// of operation.
///
///     refresh:  pread  write  write | fdatasync  pwrite        killed at |: once for each place
struct KillPoints: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "points", abstract: "Kill a writer before each call it makes to the system.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var choice: Stage.Choice
    @Option(help: "How many states of the history, for each kind of operation.") var count = 1

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let digests = try CommitHistory.digests(
            upTo: (Self.rounds + 2) * Operation.allCases.count, in: folder)
        var summary = Summary(name: "kill points", unit: "points")
        var (before, after) = (0, 0)
        for _ in 0..<count {
            for act in choice.acts {
                let stage = try Stage(act, round: random.below(Self.rounds), in: folder)
                var call = 1
                while let state = try kill(stage, before: call, digests) {
                    if state == stage.state { before += 1 } else { after += 1 }
                    call += 1
                }
                summary.count += call - 1
            }
        }
        summary.notes =
            "\(choice.acts.count) kinds of operation; not there yet \(before) times, "
            + "there \(after) times"
        return summary
    }

    /// How often the history goes through all operations before.
    private static let rounds = 3

    /// The state that was found afterwards; nil when there are fewer calls than that.
    private func kill(_ stage: Stage, before call: Int, _ digests: [UInt64]) throws -> UInt64? {
        try stage.reset()
        let child = Child { tell in
            recorder_start(strdup(stage.path), -1)
            do {
                var history = try stage.open()
                _ = recorder_fail(call, CInt(RECORDER_KILL), 0)
                tell(try stage.perform(on: &history))
                return 0
            } catch {
                complain("\(error)")
                return 1
            }
        }
        let (ending, numbers) = child.wait()
        let place = "\(stage.act) in state \(stage.state), killed before call \(call)"
        switch ending {
        case .exited(0): return nil
        case .killed(signal: SIGKILL): break
        default: throw Violation(what: "\(place): ended with \(ending)")
        }
        if access(stage.path, F_OK) != 0 && stage.act == .creation { return 0 }
        return try PostCrashCheck.inspect(
            stage.path, acknowledged: numbers.last ?? stage.state, digests: digests, place
        ).state
    }
}
