import ArgumentParser
import CRecorder
import Foundation
import QuireSimulator

/// What a process writes to a cache is recorded, and files are built as a power cut may leave them: of what
/// was written since the last sync any part may have reached the disk, in any order.
///
///     synced so far | written since:  a b c       a file for each of:  - a b c ab ac bc abc (a sample)
struct PowerCut: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "power", abstract: "Cut the power while a cache is created and written.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many files are built.") var count = 1000
    @Option(help: "Commits in each recording.") var commits = 14

    /// What reaches the disk in one piece: a page, or a sector of one.
    private static let pieces = [4096, 512]

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let limit = commits + 40
        guard let digests = Story.digests(count: limit, in: folder) else {
            throw Violation(what: "the undisturbed run failed")
        }
        var summary = Summary(name: "power cut", unit: "files")
        var seen: Set<UInt64> = []
        var round = 0
        while summary.count < count {
            let start = round % 3 * 13
            let log = try record(folder, round, from: start)
            var disk = Disk(piece: Self.pieces[round % 2])
            for entry in log {
                disk.apply(entry)
                guard disk.hasName, entry.kind != .acknowledged else { continue }
                for _ in 0..<(entry.kind == .written ? 6 : 1) where summary.count < count {
                    let image = disk.image(&random)
                    var digest = Digest()
                    digest.add(image)
                    if !seen.insert(digest.value &+ disk.acknowledged).inserted { continue }
                    let path = folder + "/cut.quire"
                    try Data(image).write(to: URL(fileURLWithPath: path))
                    unlink(path + "-lock")
                    if case .failure(let violation) = Aftermath.inspect(
                        path, acknowledged: disk.acknowledged, digests: digests)
                    {
                        throw Violation(what: "file \(summary.count): \(violation.what)")
                    }
                    summary.count += 1
                }
            }
            round += 1
            if round > count { break }
        }
        summary.notes = "\(round) recordings, pages and sectors in turn, creation included"
        return summary
    }

    /// What a process does to a cache from state `start` on, 0: from its creation on.
    private func record(_ folder: String, _ round: Int, from start: Int) throws -> [Entry] {
        let path = "\(folder)/recorded-\(round).quire"
        let logPath = path + ".log"
        let commits = commits
        if start > 0 {
            let prepared = Child { _ in
                guard let story = try? Story(at: path, durability: .relaxed) else { return 1 }
                for _ in 0..<start where (try? story.next()) == nil { return 1 }
                return 0
            }
            if prepared.wait().ending != .exited(0) { throw Violation(what: "no cache to record") }
        }
        let before = start > 0 ? try Data(contentsOf: URL(fileURLWithPath: path)) : nil
        let child = Child { _ in
            let log = open(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            // matched by name from here on, for as long as the process lives
            recorder_start(strdup("recorded-\(round).quire"), log)
            do {
                let story = try Story(at: path)
                for _ in 0..<commits { recorder_acknowledge(try story.next()) }
                return 0
            } catch {
                complain("the recorded run failed: \(error)")
                return 1
            }
        }
        if child.wait().ending != .exited(0) { throw Violation(what: "the recorded run failed") }
        var log = Entry.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: logPath))))
        if let before {
            // What was there before is on the disk, and has its name.
            log.insert(Entry(kind: .written, isSynced: true, offset: 0, bytes: [UInt8](before)), at: 0)
            log.insert(Entry(kind: .acknowledged, isSynced: false, offset: UInt64(start), bytes: []), at: 1)
            log.insert(Entry(kind: .named, isSynced: false, offset: 0, bytes: []), at: 2)
        }
        for name in [path, path + "-lock", logPath] { unlink(name) }
        return log
    }
}

/// One call of the recorded process.
private struct Entry {
    enum Kind: UInt8 {
        case written = 0x57, synced = 0x53, cut = 0x54, named = 0x4C, acknowledged = 0x41
    }

    let kind: Kind
    let isSynced: Bool
    let offset: UInt64
    let bytes: [UInt8]

    static func read(_ log: [UInt8]) -> [Entry] {
        var (entries, at) = ([Entry](), 0)
        let head = MemoryLayout<recorder_entry>.size
        while at + head <= log.count {
            let entry = log.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: at, as: recorder_entry.self)
            }
            at += head
            let end = at + Int(entry.size)
            entries.append(
                Entry(
                    kind: Kind(rawValue: entry.kind)!, isSynced: entry.is_synced != 0,
                    offset: entry.offset, bytes: Array(log[at..<end])))
            at = end
        }
        return entries
    }
}

/// What is surely on the disk, and what may be.
private struct Disk {
    let piece: Int
    private var durable: [UInt8] = []
    private var pending: [(offset: Int, bytes: ArraySlice<UInt8>)] = []
    private(set) var acknowledged: UInt64 = 0
    private(set) var hasName = false

    init(piece: Int) { self.piece = piece }

    mutating func apply(_ entry: Entry) {
        switch entry.kind {
        case .written:
            let pieces = split(entry)
            if entry.isSynced {
                for piece in pieces { Self.put(piece, into: &durable) }
            } else {
                pending += pieces
            }
        case .synced:
            for piece in pending { Self.put(piece, into: &durable) }
            pending = []
        case .cut: durable = Array(durable.prefix(Int(entry.offset)))
        case .named: hasName = true
        case .acknowledged: acknowledged = entry.offset
        }
    }

    /// A file that may be found after a cut at this moment.
    func image(_ random: inout SplitMix64) -> [UInt8] {
        var image = durable
        let share = random.pick([0, 0.2, 0.5, 0.8, 1])
        for piece in pending where random.chance(share) { Self.put(piece, into: &image) }
        return image
    }

    private func split(_ entry: Entry) -> [(offset: Int, bytes: ArraySlice<UInt8>)] {
        var (pieces, at) = ([(offset: Int, bytes: ArraySlice<UInt8>)](), 0)
        while at < entry.bytes.count {
            let offset = Int(entry.offset) + at
            let size = min(piece - offset % piece, entry.bytes.count - at)
            pieces.append((offset, entry.bytes[at..<at + size]))
            at += size
        }
        return pieces
    }

    private static func put(_ piece: (offset: Int, bytes: ArraySlice<UInt8>), into file: inout [UInt8]) {
        let end = piece.offset + piece.bytes.count
        if file.count < end { file += [UInt8](repeating: 0, count: end - file.count) }
        file.replaceSubrange(piece.offset..<end, with: piece.bytes)
    }
}
