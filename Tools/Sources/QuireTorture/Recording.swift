import CRecorder
import Foundation
import Quire

/// One system call of a recorded process.
struct Recorded {
    enum Kind: UInt8 {
        case written = 0x57
        case synced = 0x53
        case cut = 0x54
        case named = 0x4C
        case folderSynced = 0x44
        case acknowledged = 0x41
    }

    let kind: Kind
    let isSynced: Bool
    let offset: UInt64
    let bytes: [UInt8]
    /// The file's inode number.
    private let file: UInt64

    /// Records what a process does to a cache in a child: this act and the commits that follow.
    static func record(_ stage: Stage, commits: Int) throws -> [Recorded] {
        try stage.reset()
        let logPath = stage.path + ".log"
        let child = Child { _ in
            let log = open(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            recorder_start(strdup(stage.path), log)
            do {
                var history = try stage.open()
                recorder_acknowledge(try stage.perform(on: &history))
                for _ in 1..<commits { recorder_acknowledge(try history!.next()) }
                return 0
            } catch {
                complain("the crawl failed: \(error)")
                return 1
            }
        }
        if child.wait().ending != .exited(0) { throw Violation(what: "the crawl failed") }
        var status = stat()
        stat(stage.path, &status)
        // Leave out calls on other files, such as a copy.
        return read([UInt8](try Data(contentsOf: URL(fileURLWithPath: logPath))))
            .filter { $0.file == UInt64(status.st_ino) || [.folderSynced, .acknowledged].contains($0.kind) }
    }

    private static func read(_ log: [UInt8]) -> [Recorded] {
        var (entries, at) = ([Recorded](), 0)
        let head = MemoryLayout<recorder_entry>.size
        while at + head <= log.count {
            let entry = log.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: at, as: recorder_entry.self)
            }
            at += head
            let end = at + Int(entry.size)
            entries.append(
                Recorded(
                    kind: Kind(rawValue: entry.kind)!, isSynced: entry.is_synced != 0,
                    offset: entry.offset, bytes: Array(log[at..<end]), file: entry.file))
            at = end
        }
        return entries
    }
}

/// What is certainly on the disk, and what may be.
struct Disk {
    /// The size of an atomic write: a page, or a sector of one.
    let piece: Int
    private var durable: [UInt8]
    private var pending: [(offset: Int, bytes: ArraySlice<UInt8>)] = []
    private(set) var acknowledged: UInt64
    /// True if the file has its name, and if the name is durable.
    private(set) var (isNamed, isNameDurable): (Bool, Bool)

    /// Creates a disk that holds a cache in this state; nil: no cache.
    init(piece: Int, holding contents: [UInt8]?, state: UInt64) {
        (self.piece, durable, acknowledged) = (piece, contents ?? [], state)
        (isNamed, isNameDurable) = (contents != nil, contents != nil)
    }

    mutating func apply(_ entry: Recorded) {
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
        case .named: isNamed = true
        case .folderSynced: isNameDurable = isNamed
        case .acknowledged: acknowledged = entry.offset
        }
    }

    /// Returns a file that may be found after a cut at this moment. `chance` decides for each unsynced piece
    /// whether it is there.
    func image(_ chance: () -> Bool) -> [UInt8] {
        var image = durable
        for piece in pending where chance() { Self.put(piece, into: &image) }
        return image
    }

    private func split(_ entry: Recorded) -> [(offset: Int, bytes: ArraySlice<UInt8>)] {
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
        file.withUnsafeMutableBytes { file in
            piece.bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: file[piece.offset..<end]).copyMemory(from: bytes)
            }
        }
    }
}
