import ArgumentParser
import Foundation
import Glibc
import Quire
import QuireSimulator

/// Records what a process writes to a cache, and builds files as a power cut may leave them: any part of what
/// was written since the last sync may have reached the disk, in any order.
///
///     synced so far | written since:  a b c       a file for each of:  - a b c ab ac bc abc (a sample)
struct PowerCut: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "power", abstract: "Cut the power while a cache is created and written.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many different files are built.") var count = 1000
    @Option(help: "Commits in each recording.") var commits = 4

    private static let pieces = [4096, 512]
    /// How often the history runs through all operations before a recording, so that free pages are reused.
    private static let rounds = 3

    /// A recording of a few commits. The first one is this act.
    private struct Workload {
        let act: Stage.Act
        let durability: CacheOptions.Durability
        let piece: Int

        /// All workloads.
        static let all = pieces.flatMap { piece in
            Stage.Act.all.filter { $0 != .opening }.flatMap { act in
                [CacheOptions.Durability.full, .relaxed, .deferred].map {
                    Workload(act: act, durability: $0, piece: piece)
                }
            }
        }
    }

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let states = (Self.rounds + 1) * Operation.allCases.count + commits
        let digests = try CommitHistory.digests(upTo: states, in: folder)
        var summary = Summary(name: "power cut", unit: "files")
        var seen: Set<UInt64> = []
        var (recordings, missing, beyond, relaxed, refused) = (0, 0, 0, 0, 0)
        var workloads = Workload.all
        random.shuffle(&workloads)
        while summary.count < count {
            let workload = workloads[recordings % workloads.count]
            // An even share of the files left to build.
            let left = max(1, workloads.count - recordings)
            let quota = min(count - summary.count, max(50, (count - summary.count) / left))
            var stage = try Stage(workload.act, round: random.below(Self.rounds), in: folder)
            stage.durability = workload.durability
            let log = try Recorded.record(stage, commits: commits)
            let outcome = try cut(stage, workload, log, quota, digests, folder, &seen, &random)
            summary.count += outcome.files
            missing += outcome.missing
            beyond += outcome.beyond
            refused += outcome.refused
            if workload.durability == .relaxed { relaxed += outcome.files }
            recordings += 1
            if recordings > 20 * workloads.count { break }  // nothing new is left
        }
        summary.notes = """
            \(recordings) recordings of \(Stage.Act.all.count - 1) operations, by pages and sectors; \
            \(relaxed) relaxed; \(refused) whose commits were not flushed, refused; \(beyond) with a commit that was not acknowledged, \
            \(missing) cuts before the file had its name for good
            """
        return summary
    }

    private func cut(
        _ stage: Stage, _ workload: Workload, _ log: [Recorded], _ quota: Int, _ digests: [UInt64],
        _ folder: String, _ seen: inout Set<UInt64>, _ random: inout SplitMix64
    ) throws -> (files: Int, missing: Int, beyond: Int, refused: Int) {
        var disk = Disk(
            piece: workload.piece, holding: stage.act == .creation ? nil : try stage.contents(),
            state: stage.state)
        var (files, missing, beyond, refused) = (0, 0, 0, 0)
        let each = quota / max(1, log.count { $0.kind == .written }) + 1
        for (number, entry) in log.enumerated() {
            disk.apply(entry)
            let place = "\(stage.act) in state \(stage.state), \(workload.durability), call \(number)"
            if !disk.isNameDurable {
                // The file may be missing.
                if disk.acknowledged > 0 { throw Violation(what: "\(place): acknowledged, but no file") }
                missing += 1
            }
            guard disk.isNamed else { continue }
            for _ in 0..<(entry.kind == .written ? each : 1) where files < quota {
                let share = random.pick([0, 0.2, 0.5, 0.8, 1])
                let image = disk.image { random.chance(share) }
                var digest = Digest()
                digest.add(image)
                digest.add(disk.acknowledged << 1 | (workload.durability == .relaxed ? 0 : 1))
                if !seen.insert(digest.value).inserted { continue }
                files += 1
                if let marked = UnflushedFile(image) {
                    try requireRefusal(of: marked, folder, place)
                    refused += 1
                } else if try inspect(image, disk.acknowledged, workload, digests, folder, place) {
                    beyond += 1
                }
            }
        }
        return (files, missing, beyond, refused)
    }

    private static func write(_ image: [UInt8], _ folder: String, _ place: String) throws -> String {
        let path = folder + "/cut.quire"
        unlink(path + "-lock")
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let written = image.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
        if written != image.count { throw Violation(what: "\(place): no room for a file") }
        return path
    }

    /// A file whose commits were not flushed must not be opened after the machine's next start.
    private func requireRefusal(of file: UnflushedFile, _ folder: String, _ place: String) throws {
        let path = try Self.write(file.afterRestart, folder, place)
        let child = Child { _ in
            do {
                _ = try Cache(at: path)
                return 1
            } catch let error as QuireError {
                return error.code == .unclean ? 0 : 2
            } catch { return 3 }
        }
        let ending = child.wait().ending
        if ending != .exited(0) {
            throw Violation(what: "\(place): opening what is unclean ended with \(ending)")
        }
    }

    /// Checks a file. Returns true if a commit is there that was not acknowledged.
    private func inspect(
        _ image: [UInt8], _ acknowledged: UInt64, _ workload: Workload, _ digests: [UInt64],
        _ folder: String, _ place: String
    ) throws -> Bool {
        let path = try Self.write(image, folder, place)
        let reopened = try PostCrashCheck.inspect(
            path, acknowledged: acknowledged, digests: digests,
            promise: workload.durability == .relaxed ? .someBeginning : .all,
            "\(place), pieces of \(workload.piece)")
        return reopened.state > acknowledged
    }
}

/// A file with the mark that its commits were not flushed (Docs/on-disk.md).
private struct UnflushedFile {
    private static let (place, magic) = (512, Array("quire-unflushed\0".utf8))
    /// The file as another boot of the machine finds it.
    let afterRestart: [UInt8]

    init?(_ image: [UInt8]) {
        let end = Self.place + Self.magic.count
        guard image.count > end, image[Self.place..<end].elementsEqual(Self.magic) else { return nil }
        var image = image
        image[end] ^= 1
        afterRestart = image
    }
}
