import ArgumentParser
import Foundation
import Quire
import QuireSimulator

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A disk becomes full, or the process reaches its limit of file sizes, anywhere in a commit or while a cache is
/// being opened. That is an error which says so; when there is room, the same cache goes on.
struct FullDisk: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "full", abstract: "Fill the disk, and limit the size of files.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How often there is no room.") var count = 60

    /// Longest that is tried to run into the limit.
    private static let chapter = 60
    /// So many commits follow when there is room again.
    private static let later = 3

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        guard let digests = Story.digests(count: 2 * Self.chapter + Self.later, in: folder) else {
            throw Violation(what: "the undisturbed run failed")
        }
        var summary = Summary(name: "no room", unit: "caches")
        var (full, disks) = (0, 0)
        let disk = folder + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        for number in 0..<count {
            let size = random.number(in: 500...1_500) << 10
            let start = random.number(in: 0...Self.chapter)
            let isDisk = number.isMultiple(of: 2) && mount("tmpfs", disk, "tmpfs", 0, "size=\(size)") == 0
            defer { if isDisk { umount2(disk, Int32(MNT_DETACH)) } }
            let path = (isDisk ? disk : folder) + "/full-\(number).quire"
            let room = isDisk
                ? Room.disk(ballast: disk + "/ballast", free: random.number(in: 0...80) << 10)
                : .limit(random.below(random.chance(0.2) ? 20_000 : 500_000))
            let child = Child(seconds: 60) { tell in Self.child(path, start, room, tell) }
            let (ending, numbers) = child.wait()
            let place = "cache \(number), \(room) from state \(start) on"
            guard case .exited(let status) = ending, status <= 1 else {
                throw Violation(what: "\(place): \(ending)")
            }
            full += Int(status)
            disks += isDisk ? 1 : 0
            if case .failure(let violation) = Aftermath.inspect(
                path, acknowledged: numbers.last ?? 0, digests: digests)
            {
                throw Violation(what: "\(place): \(violation.what)")
            }
            summary.count += 1
        }
        summary.notes = "\(full) were full, \(disks) of all on a small disk"
            + (disks == 0 ? " (this process may not mount one)" : "")
        return summary
    }

    private enum Room {
        case disk(ballast: String, free: Int)
        case limit(Int)

        /// Takes the room away.
        func take() throws {
            switch self {
            case .limit(let size): Self.set(UInt(size))
            case .disk(let ballast, let free):
                let file = open(ballast, O_WRONLY | O_CREAT, 0o600)
                defer { close(file) }
                let block = [UInt8](repeating: 1, count: 4096)
                var size: off_t = 0
                while write(file, block, block.count) == block.count { size += off_t(block.count) }
                ftruncate(file, max(0, size - off_t(free)))
            }
        }

        func giveBack() {
            switch self {
            case .limit: Self.set(UInt.max)
            case .disk(let ballast, _): unlink(ballast)
            }
        }

        private static func set(_ size: UInt) {
            let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(kind, &limit)
            limit.rlim_cur = min(size, limit.rlim_max)
            setrlimit(kind, &limit)
        }
    }

    /// 1 if there was no room, 0 if the story went on without; anything else is wrong.
    private static func child(
        _ path: String, _ start: Int, _ room: Room, _ tell: (UInt64) -> Void
    ) -> Int32 {
        do {
            var story: Story?
            var isFull = false
            if start > 0 { story = try Story(at: path) }
            for _ in 0..<start { tell(try story!.next()) }
            try room.take()
            for _ in 0..<chapter where !isFull {
                do {
                    if story == nil { story = try Story(at: path) }
                    tell(try story!.next())
                } catch let error as QuireError where error.code == .diskFull {
                    isFull = true
                }
            }
            room.giveBack()
            if story == nil { story = try Story(at: path) }
            for _ in 0..<later { tell(try story!.next()) }
            return try story!.cache.check().isEmpty ? (isFull ? 1 : 0) : 3
        } catch {
            complain("\(path): \(error)")
            return 2
        }
    }
}
