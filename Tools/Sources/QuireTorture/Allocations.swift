import ArgumentParser
import CRecorder
import Foundation
import Quire
import QuireSimulator

/// Lets memory run out during an operation. Swift then ends the process, LMDB returns an error. In both cases
/// committed data must be there, and the cache must remain usable.
struct Allocations: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Let memory run out.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var choice: Stage.Choice
    @Option(help: "How often memory runs out, for each kind of operation.") var count = 20

    private static let rounds = 3

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let states = (Self.rounds + 1) * Operation.allCases.count + 1
        let digests = try CommitHistory.digests(upTo: states, in: folder)
        var summary = Summary(name: "no memory", unit: "failures")
        var (ended, thrown, done) = (0, 0, 0)
        for act in choice.acts {
            let stage = try Stage(act, round: random.below(Self.rounds), in: folder)
            let all = try fail(stage, at: 0, digests).allocations
            if all == 0 { throw Skipped(why: "allocations cannot be counted here") }
            for _ in 0..<count {
                let outcome = try fail(stage, at: random.number(in: 1...all), digests)
                switch outcome.ending {
                case .killed: ended += 1
                case .exited(Self.threw): thrown += 1
                default: done += 1
                }
                summary.count += 1
            }
        }
        summary.notes =
            "\(choice.acts.count) kinds of operation; ended the process \(ended) times, "
            + "threw \(thrown) times, \(done) were done before they noticed"
        return summary
    }

    private static let threw: Int32 = 1

    /// Makes this allocation fail; 0 means none.
    private func fail(
        _ stage: Stage, at allocation: Int, _ digests: [UInt64]
    ) throws -> (ending: Child.Ending, allocations: Int) {
        try stage.reset()
        let child = Child { tell in
            if allocation > 0 { dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) }  // discard crash messages
            do {
                var history = try stage.open()
                _ = recorder_fail_allocation(allocation)
                defer { _ = recorder_fail_allocation(0) }
                let state = try stage.perform(on: &history)
                let all = recorder_fail_allocation(0)
                tell(state)
                tell(UInt64(all))
                return 0
            } catch {
                return Self.threw
            }
        }
        let (ending, numbers) = child.wait()
        let place = "\(stage.act) in state \(stage.state), no memory from allocation \(allocation) on"
        if ending == .killed(signal: SIGALRM) { throw Violation(what: "\(place): never ended") }
        if allocation == 0 && ending != .exited(0) { throw Violation(what: "\(place): \(ending)") }
        let all = numbers.count == 2 ? Int(numbers[1]) : 0
        if access(stage.path, F_OK) != 0 && stage.act == .creation { return (ending, all) }
        try PostCrashCheck.inspect(
            stage.path, acknowledged: numbers.first ?? stage.state, digests: digests, place)
        return (ending, all)
    }
}
