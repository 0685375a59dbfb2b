import ArgumentParser
import CRecorder
import Foundation
import Quire
import QuireSimulator

/// Fills a disk under a writer, at the creation of the cache or later. The error must say so, the cache must
/// be readable meanwhile, and the same handle must work again when there is room.
struct FullDisk: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "full", abstract: "Fill a disk of 1 to 4 MiB under a writer.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many disks are filled.") var count = 20

    private static let limit = 3 * Operation.allCases.count

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        if disk_keep_mounts_private() != 0 { throw Skipped(why: "mounting is not permitted") }
        let digests = try CommitHistory.digests(upTo: Self.limit + 3, in: folder)
        var summary = Summary(name: "full disk", unit: "disks")
        let disk = folder + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        var creations = 0
        for cycle in 0..<count {
            let size = random.number(in: 1024...4096)
            if disk_mount_memory(disk, CInt(size)) != 0 { throw Skipped(why: "no file system in memory") }
            defer { umount2(disk, 0) }
            let path = disk + "/history.quire"
            let start = random.chance(0.3) ? nil : random.below(Self.limit - 20)
            let room = random.below(start == nil ? 24 : 64) * 4096
            if start == nil { creations += 1 }
            let child = Child { tell in
                do {
                    tell(try Self.fill(path, from: start, leaving: room, digests))
                    return 0
                } catch {
                    complain("\(error)")
                    return 1
                }
            }
            let (ending, numbers) = child.wait()
            let place =
                "disk \(cycle) of \(size) KiB, with \(room) bytes left"
                + " in state \(start.map(String.init) ?? "none")"
            guard ending == .exited(0), let state = numbers.last else {
                throw Violation(what: "\(place): \(ending)")
            }
            try PostCrashCheck.inspect(path, acknowledged: state, digests: digests, place)
            summary.count += 1
        }
        summary.notes = "\(creations) at the creation of a cache; all handles went on"
        return summary
    }

    /// Continues from this state (nil: from nothing) until the disk is full, and then once more with room.
    private static func fill(
        _ path: String, from start: Int?, leaving room: Int, _ digests: [UInt64]
    ) throws -> UInt64 {
        var history: CommitHistory?
        if let start {
            history = try CommitHistory(at: path)
            for _ in 0..<start { _ = try history!.next() }
        }
        let ballast = path + ".ballast"
        try fillDisk(with: ballast, leaving: room)
        var last = UInt64(start ?? 0)
        do {
            if history == nil { history = try CommitHistory(at: path) }
            while last < limit { last = try history!.next() }
        } catch let error as QuireError {
            if error.code != .diskFull { throw Violation(what: "on a full disk: \(error)") }
        }
        if let history, try history.digest() != digests[Int(last)] {
            throw Violation(what: "read with a full disk: another state than \(last)")
        }
        unlink(ballast)
        let again = try history ?? CommitHistory(at: path)
        for _ in 0..<3 { last = try again.next() }
        return last
    }

    private static func fillDisk(with ballast: String, leaving room: Int) throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4096)
        while write(file, page, page.count) > 0 {}
        var status = stat()
        fstat(file, &status)
        if ftruncate(file, max(0, off_t(status.st_size) - off_t(room))) != 0 {
            throw Violation(what: "no ballast")
        }
    }
}
