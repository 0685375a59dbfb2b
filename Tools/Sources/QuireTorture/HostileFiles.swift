import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// Changes files, many of them with correct checksums afterwards. `verify` must survive each of them, and the
/// engine each that `verify` accepts. `Cache(verifying:)` must refuse the others. What the engine does with
/// them without `verify` is only counted: LMDB trusts what it maps, and opening does only the quick part of
/// `verify`.
struct HostileFiles: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "hostile", abstract: "Open caches that were damaged on purpose.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many files are tried.") var count = 1000
    @Option(help: "How many commits the cache has before it is damaged.") var commits = 60

    private static let pageSize = 4096
    /// The number of files that one child verifies.
    private static let atOnce = 100

    private enum Verdict: Int32 {
        case sound, refused, reported, other
    }

    /// The counts of verdicts.
    private struct Tally {
        var accepted = 0
        var refused = 0
        var reported = 0
        var unnoticed = 0
        var crashed = 0
    }

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let whole = try original(in: folder)
        let places = RecordPlaces(of: whole)
        var summary = Summary(name: "hostile files", unit: "files")
        var tally = Tally()
        while summary.count < count {
            let paths = (summary.count..<min(summary.count + Self.atOnce, count)).map {
                "\(folder)/hostile-\($0).quire"
            }
            for path in paths {
                let file = Self.damaged(whole, places, &random)
                try Data(file).write(to: URL(fileURLWithPath: path))
            }
            for (path, verdict) in zip(paths, try verdicts(of: paths)) {
                if verdict == .other { throw Violation(what: "\(path): not refused by `Cache(verifying:)`") }
                try use(path, verdict, &tally)
                unlink(path)
                unlink(path + "-lock")
            }
            summary.count += paths.count
        }
        summary.notes = """
            verify accepts \(tally.accepted), and `Cache(verifying:)` refuses the others; without it opening refuses \(tally.refused), the engine reports \
            \(tally.reported); of those verify rejects, \(tally.unnoticed) do not matter to the engine and \
            \(tally.crashed) end it
            """
        return summary
    }

    private func original(in folder: String) throws -> [UInt8] {
        let path = folder + "/original.quire"
        let written = Child(seconds: 600) { _ in
            guard let history = try? CommitHistory(at: path, durability: .relaxed) else { return 1 }
            for _ in 0..<commits where (try? history.next()) == nil { return 1 }
            return 0
        }
        if written.wait().ending != .exited(0) { throw Violation(what: "no cache to damage") }
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the verdicts of `verify`, run in a child: no file may make it crash.
    private func verdicts(of paths: [String]) throws -> [Verdict] {
        let (ending, numbers) = Child(seconds: 600) { tell in
            for path in paths { tell(UInt64(Self.verify(path).rawValue)) }
            return 0
        }.wait()
        if ending != .exited(0) {
            throw Violation(what: "\(paths[numbers.count]): verify ended with \(ending)")
        }
        return numbers.map { Verdict(rawValue: Int32($0))! }
    }

    private static func verify(_ path: String) -> Verdict {
        let isSound: Bool
        do throws(QuireError) {
            isSound = try Cache.verify(at: path, limit: 1).isEmpty
        } catch {
            isSound = false
        }
        if isSound { return .sound }
        // A program that opens untrusted files uses this and gets an error with the reason.
        do throws(QuireError) {
            _ = try Cache(verifying: path)
        } catch {
            return error.message.hasPrefix(path) ? .refused : .other
        }
        return .other
    }

    // MARK: Use

    private func use(_ path: String, _ verdict: Verdict, _ tally: inout Tally) throws {
        let isAccepted = verdict == .sound
        if isAccepted { tally.accepted += 1 }
        // On a file that verify rejects, LMDB may loop for ever.
        let used = Child(seconds: isAccepted ? 60 : 2) { _ in Self.use(path, isAccepted) }.wait().ending
        switch used {
        case .exited(Verdict.refused.rawValue): tally.refused += 1
        case .exited(Verdict.reported.rawValue): tally.reported += 1
        case .exited(Verdict.sound.rawValue): tally.unnoticed += isAccepted ? 0 : 1
        case .exited: if isAccepted { throw Violation(what: "\(path): accepted, but fails") }
        case .killed(let signal):
            if isAccepted { throw Violation(what: "\(path): accepted; signal \(signal)") }
            tally.crashed += 1
        }
    }

    /// Does everything that a program does with a cache. Of a file that `verify` accepts, only damage may be
    /// reported.
    private static func use(_ path: String, _ isAccepted: Bool) -> Int32 {
        var limit = rlimit(rlim_cur: 1 << 28, rlim_max: 1 << 28)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        let stderr = dup(STDERR_FILENO)
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)  // discards LMDB's messages
        var isOpen = false
        do {
            let history = try CommitHistory(at: path, durability: .relaxed)
            isOpen = true
            let findings = try history.cache.check()
            _ = try history.digest()
            try goOn(history)
            try tryEverything(history)
            return findings.isEmpty ? Verdict.sound.rawValue : Verdict.reported.rawValue
        } catch let error as QuireError where isOpen || error.code != .io {
            // other options of a feed are not damage
            if !isOpen || error.code == .optionsDiffer { return Verdict.refused.rawValue }
            if !isAccepted || error.code == .corrupt { return Verdict.reported.rawValue }
            dup2(stderr, STDERR_FILENO)
            complain("\(path): \(error.code): \(error)")
            return Verdict.other.rawValue
        } catch {
            return Verdict.other.rawValue
        }
    }

    /// Continues the history if possible: a forged record may give one with nothing left to do.
    private static func goOn(_ history: CommitHistory) throws {
        if try history.state() >= 1 << 32 { return }
        do {
            for _ in 0..<6 { _ = try history.next() }
        } catch is Unexpected {}
    }

    /// Tries what the history does not do.
    private static func tryEverything(_ history: CommitHistory) throws {
        let (cache, feed) = (history.cache, history.feed)
        let rows = try cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        var places: [Place] = [.tail, .openHead, .around(7)]
        for case .gap(let gap) in rows.prefix(400) { places += [.gap(gap.id), .aboveGap(gap.id)] }
        for (number, place) in places.enumerated() {
            guard let request = try feed.plan(place).request else { continue }
            var answer = Answer(next: number.isMultiple(of: 2) ? .end : .token("more"))
            for id in [9_000_000 - UInt64(number) * 2, 8_999_999 - UInt64(number) * 2] {
                answer.append(id: PostID(id), key: Int64(id), body: [1, 2, 3])
            }
            _ = try feed.ingest(answer, for: request.ticket)
        }
        for case .post(let post) in rows.prefix(5) {
            try feed.pin(post.id)
            _ = try cache.update(post.id, body: [4, 5])
            _ = try cache.update(post.id, fields: ["seen": [1]], version: 1)
        }
        for case .post(let post) in rows.suffix(5) { try feed.delete(post.id) }
        _ = try cache.reclaim()
        _ = try cache.withSnapshot { try $0.changes(since: 0) }
        try feed.reset()
    }

    // MARK: Damage

    private static func damaged(
        _ whole: [UInt8], _ places: RecordPlaces, _ random: inout SplitMix64
    ) -> [UInt8] {
        var file = whole
        if random.chance(0.5) {
            for _ in 0...random.below(3) { places.forge(&file, &random) }
            if random.chance(0.9) { return file }
        }
        let pages = file.count / pageSize
        for _ in 0...random.below(3) {
            switch random.below(12) {
            case 0: file = Array(file.prefix(random.number(in: 1...pages) * pageSize))
            case 1:  // a page from elsewhere, or an older version of one
                let (from, to) = (random.below(pages) * pageSize, random.below(pages) * pageSize)
                if max(from, to) + pageSize <= file.count {
                    file.replaceSubrange(to..<to + pageSize, with: whole[from..<from + pageSize])
                }
            default:
                let page = random.chance(0.2) ? random.below(2) : random.below(pages)
                let inside = page < 2 ? random.below(160) : random.below(random.chance(0.5) ? 64 : pageSize)
                change(&file, at: page * pageSize + inside, &random)
            }
        }
        return file
    }

    private static func change(_ file: inout [UInt8], at place: Int, _ random: inout SplitMix64) {
        guard place + 8 <= file.count else { return }
        switch random.below(4) {
        case 0: file[place] = UInt8(random.below(256))
        case 1: file[place] ^= 1 << UInt8(random.below(8))
        case 2:
            let number = random.chance(0.5) ? 0xFFFF : random.below(1 << 16)
            (file[place], file[place + 1]) = (UInt8(number & 0xFF), UInt8(number >> 8))
        default: for each in place..<place + 8 { file[each] = random.chance(0.5) ? 0xFF : 0 }
        }
    }
}
