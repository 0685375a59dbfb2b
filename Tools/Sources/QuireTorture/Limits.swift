import ArgumentParser
import Foundation
import Quire
import QuireSimulator

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Lets a process reach its file size limit anywhere in a commit, or while it opens a cache. That must cause
/// an error that says so, and no signal may end the process. Without the limit, the same cache must work
/// again.
struct Limits: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Limit the size of files.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many processes have a limit.") var count = 60

    /// The maximum number of commits to reach the limit.
    private static let chapter = 60
    /// How many commits follow when there is room again.
    private static let later = 3

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let digests = try CommitHistory.digests(upTo: 2 * Self.chapter + Self.later, in: folder)
        var summary = Summary(name: "file size limits", unit: "processes")
        var met = 0
        for number in 0..<count {
            let start = random.number(in: 0...Self.chapter)
            let path = folder + "/limit-\(number).quire"
            let limit = random.below(random.chance(0.2) ? 20_000 : 500_000)
            let (ending, numbers) = Child { Self.child(path, start, UInt(limit), $0) }.wait()
            let place = "process \(number), \(limit) bytes from state \(start) on"
            guard case .exited(let status) = ending, status <= 1 else {
                throw Violation(what: "\(place): \(ending)")
            }
            met += Int(status)
            try PostCrashCheck.inspect(path, acknowledged: numbers.last ?? 0, digests: digests, place)
            summary.count += 1
        }
        summary.notes = "\(met) met their limit; all caches went on"
        return summary
    }

    /// Limits the size of files that this process writes.
    private static func limitFiles(to size: UInt) {
        let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        getrlimit(kind, &limit)
        limit.rlim_cur = min(size, limit.rlim_max)
        setrlimit(kind, &limit)
    }

    /// Returns 1 if it reached the limit, 0 if the history continued without; anything else is wrong.
    private static func child(
        _ path: String, _ start: Int, _ limit: UInt, _ tell: (UInt64) -> Void
    ) -> Int32 {
        do {
            var history: CommitHistory?
            var isMet = false
            if start > 0 { history = try CommitHistory(at: path) }
            for _ in 0..<start { tell(try history!.next()) }
            limitFiles(to: limit)
            for _ in 0..<chapter where !isMet {
                do {
                    if history == nil { history = try CommitHistory(at: path) }
                    tell(try history!.next())
                } catch let error as QuireError where error.code == .diskFull {
                    isMet = true
                }
            }
            limitFiles(to: .max)
            if history == nil { history = try CommitHistory(at: path) }
            for _ in 0..<later { tell(try history!.next()) }
            return try history!.cache.check().isEmpty ? (isMet ? 1 : 0) : 3
        } catch {
            complain("\(path): \(error)")
            return 2
        }
    }
}
