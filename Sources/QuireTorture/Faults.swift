import ArgumentParser
import CRecorder
import Foundation
import Quire
import QuireSimulator

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Each write and each sync of a commit fails, one after the other, once and for good, with each error. The
/// commit throws or is whole; then the disk is well again, and the same cache goes on, without a restart.
struct Faults: TortureCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let each write and sync of a commit fail.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many states of the story the faults meet.") var count = 6

    private static let errors = [EIO, ENOSPC, EINTR]
    /// So many commits follow when the disk is well again.
    private static let later = 3

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        guard let digests = Story.digests(count: 60 + Self.later, in: folder) else {
            throw Violation(what: "the undisturbed run failed")
        }
        var summary = Summary(name: "failing calls", unit: "faults")
        var thrown = 0
        for _ in 0..<count {
            let start = random.number(in: 1...40)
            try prepare(folder, start)
            for error in Self.errors {
                // Whoever is interrupted for ever waits for ever.
                for isSticky in error == EINTR ? [false] : [false, true] {
                    var call = 1
                    while let isThrown = try fail(
                        folder, start, call: call, error, isSticky, digests)
                    {
                        summary.count += 1
                        thrown += isThrown ? 1 : 0
                        call += 1
                    }
                }
            }
        }
        summary.notes = "\(thrown) commits threw, all caches went on"
        return summary
    }

    /// A cache in this state, of which each fault meets a copy.
    private func prepare(_ folder: String, _ start: Int) throws {
        let path = folder + "/prepared.quire"
        unlink(path)
        let child = Child { _ in
            guard let story = try? Story(at: path, durability: .relaxed) else { return 1 }
            for _ in 0..<start where (try? story.next()) == nil { return 1 }
            return 0
        }
        if child.wait().ending != .exited(0) { throw Violation(what: "no cache to let fail") }
    }

    private enum Outcome: Int32 {
        case committed, threw, noSuchCall, wrong
    }

    /// Nil when a commit has fewer calls than that.
    private func fail(
        _ folder: String, _ start: Int, call: Int, _ error: Int32, _ isSticky: Bool, _ digests: [UInt64]
    ) throws -> Bool? {
        let path = folder + "/faulty.quire"
        for name in [path, path + "-lock", path + "-gate"] { unlink(name) }
        try FileManager.default.copyItem(atPath: folder + "/prepared.quire", toPath: path)
        let child = Child { tell in
            recorder_start("faulty.quire", -1)
            do {
                let story = try Story(at: path)
                _ = recorder_fail(call, error, isSticky ? 1 : 0)
                var outcome = Outcome.committed
                do { _ = try story.next() } catch { outcome = .threw }
                let calls = recorder_fail(0, 0, 0)
                if calls < call { return Outcome.noSuchCall.rawValue }
                // A write comes first: a read would have opened the cache again for it.
                try story.feed.setAttribute("afterwards", to: [1])
                for _ in 0..<Self.later { tell(try story.next()) }
                return try story.cache.check().isEmpty ? outcome.rawValue : Outcome.wrong.rawValue
            } catch {
                complain("afterwards: \(error)")
                return Outcome.wrong.rawValue
            }
        }
        let (ending, numbers) = child.wait()
        let place = "call \(call) of commit \(start + 1) fails with \(error), sticky: \(isSticky)"
        guard case .exited(let status) = ending, let outcome = Outcome(rawValue: status),
            outcome != .wrong
        else { throw Violation(what: "\(place): \(ending)") }
        if outcome == .noSuchCall { return nil }
        if error == EINTR && outcome == .threw {
            throw Violation(what: "\(place): a commit that was interrupted once was not tried again")
        }
        // A commit that threw may yet be there: its last write reached the disk, its sync did not.
        let last = numbers.last ?? 0
        let expected = UInt64(start + Self.later)
        if last != expected + 1 && (outcome == .committed || last != expected) {
            throw Violation(what: "\(place): state \(last) afterwards")
        }
        if case .failure(let violation) = Aftermath.inspect(
            path, acknowledged: last, digests: digests)
        {
            throw Violation(what: "\(place): \(violation.what)")
        }
        return outcome == .threw
    }
}
