import ArgumentParser
import Quire
import QuireSimulator

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A writer is killed at random moments. Nothing acknowledged may be missing, nothing may be half there.
struct Kill: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Kill writers with SIGKILL.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many writers are killed.") var count = 200
    @Flag(help: "Another process keeps the cache open and writes, too.") var survivors = false

    /// The history starts anew after this many commits: what must be compared stays small.
    static let chapter = 5 * Operation.allCases.count

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let digests = try CommitHistory.digests(upTo: Self.chapter, in: folder)
        var (state, file, tally) = (UInt64(0), 0, Tally())
        var survivor: HelperProcess?
        for cycle in 0..<count {
            // Every fourth writer is killed while it creates a cache.
            let isCreated = !survivors && cycle % 4 == 3
            let path = isCreated ? "\(folder)/created-\(cycle).quire" : "\(folder)/killed-\(file).quire"
            if survivors && survivor == nil { survivor = Self.survivor(path) }
            // From before it has opened the file to after dozens of commits.
            let time = random.below(isCreated || random.chance(0.3) ? 4_000 : 30_000)
            let found: UInt64
            do throws(Violation) {
                found = try kill(
                    path, in: isCreated ? 0 : state, after: UInt32(time), survivor, digests, &tally)
            } catch {
                throw Violation(what: "cycle \(cycle): \(error.what)")
            }
            if isCreated {
                for name in [path, path + "-lock", CommitHistory.copyPath(of: path)] { unlink(name) }
                continue
            }
            state = found
            if state >= UInt64(Self.chapter) {
                (state, file) = (0, file + 1)
                survivor?.stop()
                survivor = nil
            }
        }
        survivor?.stop()
        var summary = Summary(name: survivors ? "kill -9, with survivors" : "kill -9", unit: "cycles")
        (summary.count, summary.notes) = (count, tally.description)
        return summary
    }

    private struct Tally: CustomStringConvertible {
        var (midway, unacknowledged) = (0, 0)
        var interrupted: Set<Operation> = []
        var (reopening, surviving) = (Times(), Times())

        var description: String {
            let notes = """
                \(midway) after commits, \(unacknowledged) commits beyond the last acknowledged, \
                \(interrupted.count) of \(Operation.allCases.count) operations interrupted; opened again in \
                \(reopening)
                """
            return surviving.isEmpty ? notes : "\(notes); a survivor committed in \(surviving)"
        }
    }

    /// Kills a writer after a number of microseconds. Returns the state the cache is in then.
    private func kill(
        _ path: String, in state: UInt64, after time: UInt32, _ survivor: HelperProcess?, _ digests: [UInt64],
        _ tally: inout Tally
    ) throws(Violation) -> UInt64 {
        let writer = Self.writer(path)
        usleep(time)
        writer.end()
        let (ending, numbers) = writer.wait()
        if ending == .exited(1) { throw Violation(what: "the writer failed") }
        if !numbers.isEmpty { tally.midway += 1 }
        let acknowledged = numbers.last ?? state
        if let survivor {
            let start = PostCrashCheck.microseconds()
            if !survivor.works() { throw Violation(what: "a survivor cannot write") }
            tally.surviving.add(PostCrashCheck.microseconds() - start)
        }
        // Killed before there was a file: nothing can have been acknowledged.
        if access(path, F_OK) != 0 && acknowledged == 0 { return 0 }
        let reopened = try PostCrashCheck.inspect(
            path, acknowledged: acknowledged, digests: digests, isAlone: survivor == nil,
            "killed in state \(state) after \(time) microseconds")
        if ending != .exited(0) { tally.interrupted.insert(Operation(leadingTo: acknowledged + 1)) }
        if reopened.state > acknowledged { tally.unacknowledged += 1 }
        tally.reopening.add(reopened.microseconds)
        return reopened.state
    }

    /// Goes on with the history until it is killed, or its disk fails.
    static func writer(_ path: String, diskMayFail: Bool = false) -> Child {
        Child { tell in
            do {
                let history = try CommitHistory(at: path)
                while try history.state() < UInt64(Self.chapter) { tell(try history.next()) }
                return 0
            } catch {
                if !diskMayFail { complain("the writer failed: \(error)") }
                return 1
            }
        }
    }

    /// A process that keeps the cache open, and commits when it is asked to.
    private static func survivor(_ path: String) -> HelperProcess {
        HelperProcess { order in
            let other = try CommitHistory(at: path).cache.feed(named: "survivor")
            while order.wait() != nil { try other.setAttribute("alive", to: [1]) }
        }
    }
}

/// How long an operation took, each time.
struct Times: CustomStringConvertible {
    private var microseconds: [UInt64] = []

    var isEmpty: Bool { microseconds.isEmpty }

    mutating func add(_ time: UInt64) { microseconds.append(time) }

    /// The median, what 99 of 100 took at most, and the longest.
    var description: String {
        if isEmpty { return "no time" }
        let sorted = microseconds.sorted()
        func milliseconds(_ time: UInt64) -> String { String(Double(time / 10) / 100) }
        let most = sorted[sorted.count * 99 / 100]
        return "\(milliseconds(sorted[sorted.count / 2])) ms, 99 of 100 within \(milliseconds(most)) ms, "
            + "at most \(milliseconds(sorted.last!)) ms"
    }
}
