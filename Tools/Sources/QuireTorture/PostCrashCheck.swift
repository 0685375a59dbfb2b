import Foundation
import Quire

/// Checks a cache after an accident.
enum PostCrashCheck {
    /// The states that are allowed.
    enum Promise {
        /// Everything acknowledged, and perhaps the commit that was under way.
        case all
        /// Any earlier state is also allowed (`durability: .relaxed`).
        case someBeginning
    }

    struct Reopened {
        let state: UInt64
        /// The time from opening the file to its first row.
        let microseconds: UInt64
    }

    /// Opens the cache in a child. `verify` and `check` must find nothing, and the cache must be in a state
    /// from `acknowledged` to one later, exactly as in the undisturbed run. So must its copy, if there is
    /// one. A violation names the place in the torture.
    @discardableResult
    static func inspect(
        _ path: String, acknowledged: UInt64, digests: [UInt64], promise: Promise = .all,
        isAlone: Bool = true, _ place: String
    ) throws(Violation) -> Reopened {
        let child = Child { tell in
            do {
                if isAlone, let finding = try Cache.verify(at: path).first {
                    complain("verify: \(finding)")
                    return 2
                }
                let start = microseconds()
                let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed))
                if let feed = try cache.existingFeed(named: "history") {
                    _ = try cache.withSnapshot { try $0.rows(of: feed, limit: 1) }
                }
                let end = microseconds()
                let history = try CommitHistory(at: path, durability: .relaxed)
                if let finding = try history.cache.check().first {
                    complain("check: \(finding)")
                    return 3
                }
                let state = try history.state()
                tell(state)
                tell(end - start)
                let isKnown = state < UInt64(digests.count)
                if try !isKnown || history.digest() != digests[Int(state)] { return 4 }
                return try inspectCopy(of: path, digests) ? 0 : 5
            } catch {
                complain("\(error)")
                return 6
            }
        }
        let (ending, numbers) = child.wait()
        guard ending == .exited(0), numbers.count == 2 else {
            throw Violation(what: "\(place): reopening ended with \(ending) in state \(numbers)")
        }
        let first = promise == .all ? acknowledged : 0
        guard first...acknowledged + 1 ~= numbers[0] else {
            throw Violation(what: "\(place): acknowledged \(acknowledged), found \(numbers[0])")
        }
        return Reopened(state: numbers[0], microseconds: numbers[1])
    }

    /// Checks a copy. If it has its name it must be whole: one of the earlier states.
    private static func inspectCopy(of path: String, _ digests: [UInt64]) throws -> Bool {
        let copy = CommitHistory.copyPath(of: path)
        if access(copy, F_OK) != 0 { return true }
        if let finding = try Cache.verify(at: copy).first {
            complain("verify of the copy: \(finding)")
            return false
        }
        let history = try CommitHistory(at: copy, durability: .relaxed)
        let state = Int(try history.state())
        return try state < digests.count && history.digest() == digests[state]
    }

    static func microseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}

struct Violation: Error {
    let what: String
}
