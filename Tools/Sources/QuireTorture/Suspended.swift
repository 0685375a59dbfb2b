import ArgumentParser
import Foundation
import Quire
import QuireSimulator

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Stops writers, mostly during a commit. Others must wait up to their limit and name the stopped process.
/// When the writer continues, or is killed, they must continue too.
struct Suspended: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Stop writers with SIGSTOP.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many writers are stopped.") var count = 40

    /// The history starts again after this many commits.
    private static let chapter = 120

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let digests = try CommitHistory.digests(upTo: Self.chapter + 1, in: folder)
        var summary = Summary(name: "stopped writers", unit: "writers")
        var busy = 0
        for cycle in 0..<count {
            let path = "\(folder)/stopped-\(cycle).quire"
            let other = Self.other(path)
            let isMidway = random.chance(0.6)
            let writer = Self.writer(path, stopping: isMidway ? random.number(in: 1...20) : nil)
            var acknowledged: UInt64 = 0
            if isMidway {
                var status: Int32 = 0
                while waitpid(writer.process, &status, WUNTRACED) < 0 && errno == EINTR {}
            } else {
                while acknowledged == 0, let number = writer.heard() { acknowledged = number }
                usleep(UInt32(random.below(3_000)))
                kill(writer.process, SIGSTOP)
            }
            switch other.ask() {
            case 0 where !isMidway: break
            // Stopped between taking the lock and noting its name there.
            case .max where !isMidway: break
            case UInt64(writer.process): busy += 1
            case let answer:
                throw Violation(what: "cycle \(cycle): while the writer stood still: \(answer ?? 0)")
            }
            if random.chance(0.5) { kill(writer.process, SIGCONT) } else { writer.end() }
            // It gives up its turn now, sooner or later.
            var answer = other.ask()
            while let process = answer, process != 0 { answer = other.ask() }
            if answer == nil { throw Violation(what: "cycle \(cycle): the other process failed") }
            writer.end()
            let (_, numbers) = writer.wait()
            acknowledged = numbers.last ?? acknowledged
            other.stop()
            try PostCrashCheck.inspect(path, acknowledged: acknowledged, digests: digests, "cycle \(cycle)")
            summary.count += 1
        }
        summary.notes = "\(busy) times another was told for whom it waited"
        return summary
    }

    /// Runs through the history. In the commit with this number it stops itself.
    private static func writer(_ path: String, stopping: Int?) -> Child {
        Child { tell in
            do {
                let history = try CommitHistory(at: path)
                while try history.state() < UInt64(chapter) {
                    if try history.state() + 1 == UInt64(stopping ?? 0) {
                        try history.cache.batch { batch in
                            try batch[history.feed].setAttribute("half", to: [1])
                            kill(getpid(), SIGSTOP)
                        }
                    }
                    tell(try history.next())
                }
                return 0
            } catch {
                complain("the writer failed: \(error)")
                return 1
            }
        }
    }

    /// Reads and writes on command, with a short time limit. Answers 0, or the process for which it waited.
    private static func other(_ path: String) -> HelperProcess {
        HelperProcess { order in
            let history = try CommitHistory(at: path, writeTimeout: .milliseconds(100))
            let feed = try history.cache.feed(named: "other")
            var answer: UInt64 = 0
            while order.wait(answer) != nil {
                _ = try history.state()
                do {
                    try feed.setAttribute("alive", to: [1])
                    answer = 0
                } catch let error as QuireError where error.code == .busy {
                    let words = error.message.split(separator: " ")
                    let place = words.firstIndex(of: "process").map { $0 + 1 }
                    answer = place.flatMap { UInt64(words[$0]) } ?? .max
                }
            }
        }
    }
}
