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

    /// The story starts anew after so many commits: what must be compared stays small.
    static let chapter = 5 * Operation.allCases.count

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let digests = try Story.digests(upTo: Self.chapter, in: folder)
        var summary = Summary(name: survivors ? "kill -9, with survivors" : "kill -9", unit: "cycles")
        var (acknowledged, file, unacknowledged, midway) = (UInt64(0), 0, 0, 0)
        var interrupted: Set<Operation> = []
        var (reopening, surviving) = (Times(), Times())
        var survivor: Assistant?
        for cycle in 0..<count {
            let path = "\(folder)/killed-\(file).quire"
            if survivors && survivor == nil { survivor = Self.survivor(path) }
            let writer = Self.writer(path)
            // From before it has opened the file to after dozens of commits.
            usleep(UInt32(random.below(random.chance(0.3) ? 3_000 : 30_000)))
            writer.end()
            let (ending, numbers) = writer.wait()
            if ending == .exited(1) { throw Violation(what: "cycle \(cycle): the writer failed") }
            if !numbers.isEmpty { midway += 1 }
            acknowledged = numbers.last ?? acknowledged
            if let survivor {
                let start = Aftermath.microseconds()
                if !survivor.works() { throw Violation(what: "cycle \(cycle): a survivor cannot write") }
                surviving.add(Aftermath.microseconds() - start)
            }
            summary.count += 1
            // Killed before there was a file: nothing can have been acknowledged.
            if access(path, F_OK) != 0 && acknowledged == 0 { continue }
            switch Aftermath.inspect(
                path, acknowledged: acknowledged, digests: digests, isAlone: survivor == nil)
            {
            case .success(let reopened):
                if ending != .exited(0) { interrupted.insert(Operation(leadingTo: acknowledged + 1)) }
                if reopened.state > acknowledged { unacknowledged += 1 }
                acknowledged = reopened.state
                reopening.add(reopened.microseconds)
            case .failure(let violation):
                throw Violation(what: "cycle \(cycle): \(violation.what)")
            }
            if acknowledged >= UInt64(Self.chapter) {
                (acknowledged, file) = (0, file + 1)
                survivor?.stop()
                survivor = nil
            }
        }
        survivor?.stop()
        summary.notes = """
            \(midway) after commits, \(unacknowledged) commits beyond the last acknowledged, \
            \(interrupted.count) of \(Operation.allCases.count) operations interrupted; opened again in \
            \(reopening)\(survivors ? "; a survivor committed in \(surviving)" : "")
            """
        return summary
    }

    /// Goes on with the story until somebody ends it, or its disk.
    static func writer(_ path: String, diskMayFail: Bool = false) -> Child {
        Child { tell in
            do {
                let story = try Story(at: path)
                while try story.state() < UInt64(Self.chapter) { tell(try story.next()) }
                return 0
            } catch {
                if !diskMayFail { complain("the writer failed: \(error)") }
                return 1
            }
        }
    }

    /// A process that keeps the cache open, and commits when it is asked to.
    private static func survivor(_ path: String) -> Assistant {
        Assistant { order in
            let other = try Story(at: path).cache.feed(named: "survivor")
            while order.wait() { try other.setAttribute("alive", to: [1]) }
        }
    }
}

/// How long something took, time after time.
struct Times: CustomStringConvertible {
    private var microseconds: [UInt64] = []

    mutating func add(_ time: UInt64) { microseconds.append(time) }

    /// The median, and the longest.
    var description: String {
        if microseconds.isEmpty { return "no time" }
        let sorted = microseconds.sorted()
        func milliseconds(_ time: UInt64) -> String { String(Double(time / 10) / 100) }
        return "\(milliseconds(sorted[sorted.count / 2])) ms, at most \(milliseconds(sorted.last!)) ms"
    }
}
