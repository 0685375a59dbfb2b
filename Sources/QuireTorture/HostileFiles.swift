import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// Files that somebody changed. `verify` survives each of them, and the engine each that `verify` accepts.
/// What the engine does with others is counted: LMDB trusts what it maps, and opening does only the cheap
/// part of `verify`.
struct HostileFiles: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "hostile", abstract: "Open caches that were damaged on purpose.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many files are tried.") var count = 1000

    private static let pageSize = 4096

    private enum Verdict: Int32 {
        case sound, refused, reported, other
    }

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let original = folder + "/original.quire"
        let written = Child { _ in
            guard let story = try? Story(at: original, durability: .relaxed) else { return 1 }
            for _ in 0..<60 where (try? story.next()) == nil { return 1 }
            return 0
        }
        if written.wait().ending != .exited(0) { throw Violation(what: "no cache to damage") }
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: original)))
        var summary = Summary(name: "hostile files", unit: "files")
        var (accepted, refused, reported, unnoticed, crashed) = (0, 0, 0, 0, 0)
        for number in 0..<count {
            let path = folder + "/hostile.quire"
            try Data(Self.damaged(whole, &random)).write(to: URL(fileURLWithPath: path))
            let verified = Child { _ in Self.verify(path).rawValue }.wait().ending
            guard case .exited(let verdict) = verified else {
                throw Violation(what: "file \(number): verify ended with \(verified)")
            }
            let isAccepted = verdict == Verdict.sound.rawValue
            if isAccepted { accepted += 1 }
            // On a file that verify rejects LMDB may as well go in circles.
            let used = Child(seconds: isAccepted ? 20 : 2) { _ in Self.use(path) }.wait().ending
            switch used {
            case .exited(Verdict.refused.rawValue): refused += 1
            case .exited(Verdict.reported.rawValue): reported += 1
            case .exited(Verdict.sound.rawValue): unnoticed += isAccepted ? 0 : 1
            case .exited: if isAccepted { throw Violation(what: "file \(number): accepted, but fails") }
            case .killed(let signal):
                if isAccepted { throw Violation(what: "file \(number): accepted; signal \(signal)") }
                crashed += 1
            }
            unlink(path + "-lock")
            summary.count += 1
        }
        summary.notes = """
            verify accepts \(accepted); opening refuses \(refused), the engine reports \(reported); of those \
            verify rejects, \(unnoticed) do not matter to the engine and \(crashed) end it
            """
        return summary
    }

    private static func verify(_ path: String) -> Verdict {
        do throws(QuireError) {
            return try Cache.verify(at: path).isEmpty ? .sound : .reported
        } catch {
            return .refused
        }
    }

    /// Everything a program does with a cache.
    private static func use(_ path: String) -> Int32 {
        var limit = rlimit(rlim_cur: 1 << 28, rlim_max: 1 << 28)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)  // LMDB's last words
        var isOpen = false
        do {
            let story = try Story(at: path, durability: .relaxed)
            isOpen = true
            let findings = try story.cache.check()
            _ = try story.digest()
            for _ in 0..<6 { _ = try story.next() }
            return findings.isEmpty ? Verdict.sound.rawValue : Verdict.reported.rawValue
        } catch let error as QuireError where isOpen || error.code != .io {
            if !isOpen { return Verdict.refused.rawValue }
            return error.code == .corrupt ? Verdict.reported.rawValue : Verdict.other.rawValue
        } catch {
            return Verdict.other.rawValue
        }
    }

    // MARK: Damage

    private static func damaged(_ whole: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var file = whole
        let pages = file.count / pageSize
        for _ in 0...random.below(3) {
            switch random.below(12) {
            case 0: file = Array(file.prefix(random.number(in: 1...pages) * pageSize))
            case 1:  // a page from elsewhere, or an older state of one
                let (from, to) = (random.below(pages) * pageSize, random.below(pages) * pageSize)
                if max(from, to) + pageSize <= file.count {
                    file.replaceSubrange(to..<to + pageSize, with: whole[from..<from + pageSize])
                }
            default:
                let page = random.chance(0.2) ? random.below(2) : random.below(pages)
                let inside =
                    page < 2 ? random.below(160) : random.below(random.chance(0.5) ? 64 : pageSize)
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
