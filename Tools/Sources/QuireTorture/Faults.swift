import ArgumentParser
import CRecorder
import Foundation
import Quire
import QuireSimulator

/// Each call to the system fails, one after the other, once and for good, in each way, in each kind of
/// operation. The operation throws or is whole; then the disk is well again, and the same process goes on,
/// with the same handle if it could open the cache.
struct Faults: TortureCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let each call to the system fail that an operation makes.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var choice: Stage.Choice
    @Option(help: "How many states of the history, for each kind of operation.") var count = 1

    private struct Fault: CustomStringConvertible {
        let error: Int32
        let isSticky: Bool

        /// A lasting EINTR would make the call wait for ever, so it is not among them.
        static let all = [
            (EIO, false), (EIO, true), (ENOSPC, false), (ENOSPC, true), (EINTR, false),
            (CInt(RECORDER_SHORT), false), (CInt(RECORDER_SHORT), true),
        ].map(Fault.init)

        private init(_ error: Int32, _ isSticky: Bool) { (self.error, self.isSticky) = (error, isSticky) }

        var description: String {
            let name = error < 0 ? "half of the bytes" : String(cString: strerror(error))
            return isSticky ? "\(name), from then on" : "\(name), once"
        }
    }

    /// How many commits follow when the disk is well again.
    private static let later = 3
    /// How often the history goes through all operations before.
    private static let rounds = 3

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let states = (Self.rounds + 1) * Operation.allCases.count + Self.later
        let digests = try CommitHistory.digests(upTo: states, in: folder)
        var summary = Summary(name: "failing calls", unit: "faults")
        var thrown = 0
        for _ in 0..<count {
            for act in choice.acts {
                let stage = try Stage(act, round: random.below(Self.rounds), in: folder)
                for fault in Fault.all {
                    var call = 1
                    while true {
                        let outcome = try fail(stage, call: call, fault, digests)
                        if outcome == .noSuchCall { break }
                        if outcome != .untouched { summary.count += 1 }
                        if outcome == .threw { thrown += 1 }
                        call += 1
                    }
                }
            }
        }
        summary.notes =
            "\(choice.acts.count) kinds of operation; \(thrown) threw, "
            + "all processes and caches went on"
        return summary
    }

    private enum Outcome: Int32 {
        /// Untouched: this call cannot fail in this way.
        case committed, threw, untouched, noSuchCall, wrong
    }

    private func fail(_ stage: Stage, call: Int, _ fault: Fault, _ digests: [UInt64]) throws -> Outcome {
        try stage.reset()
        let child = Child { tell in Self.go(stage, call: call, fault, tell).rawValue }
        let (ending, numbers) = child.wait()
        let place = "\(stage.act) in state \(stage.state), call \(call): \(fault)"
        guard case .exited(let status) = ending, let outcome = Outcome(rawValue: status),
            outcome != .wrong
        else { throw Violation(what: "\(place): \(ending)") }
        if outcome == .noSuchCall || outcome == .untouched { return outcome }
        if fault.error == EINTR && outcome == .threw, stage.act.isCommit {
            throw Violation(what: "\(place): a commit that was interrupted once was not tried again")
        }
        // An operation that threw may yet be there: its last write reached the disk, its sync did not.
        let last = numbers.last ?? 0
        var expected = stage.state + UInt64(Self.later)
        if case .operation = stage.act { expected += 1 }
        if last != expected && (outcome == .committed || last != expected - 1) {
            throw Violation(what: "\(place): state \(last) afterwards")
        }
        try PostCrashCheck.inspect(stage.path, acknowledged: last, digests: digests, place)
        return outcome
    }

    /// In the child.
    private static func go(_ stage: Stage, call: Int, _ fault: Fault, _ tell: (UInt64) -> Void) -> Outcome {
        recorder_start(strdup(stage.path), -1)
        var outcome = Outcome.committed
        do {
            var history: CommitHistory?
            do {
                history = try stage.open()
                _ = recorder_fail(call, fault.error, fault.isSticky ? 1 : 0)
                _ = try stage.perform(on: &history)
            } catch is Unexpected {
                return .wrong
            } catch {
                outcome = .threw
            }
            let count = recorder_fail(0, 0, 0)
            if count.calls < call { return .noSuchCall }
            if count.failures == 0 { return .untouched }
            // One that was interrupted is made again, with all that was written before it.
            if count.syncs > 0 && outcome == .committed && fault.error != EINTR {
                complain("a sync failed, and the caller was not told")
                return .wrong
            }
            let survivor = try history ?? CommitHistory(at: stage.path)
            // A write comes first: a read would have opened the cache again for it.
            try survivor.feed.setAttribute("afterwards", to: [1])
            for _ in 0..<later { tell(try survivor.next()) }
            return try survivor.cache.check().isEmpty ? outcome : .wrong
        } catch {
            complain("afterwards: \(error)")
            return .wrong
        }
    }
}
