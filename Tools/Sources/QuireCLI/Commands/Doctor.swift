import ArgumentParser
import Foundation
import Quire

struct Doctor: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say in words how a cache is: space, programs that use it, what is missing, what helps.",
        discussion: """
            Dead bodies are those that were deleted or replaced and share a record with a body in use. Free \
            space is used by the next commits before the file grows; the file itself never shrinks by itself. \
            What quire compact would free is both together, and a little more or less.

            Which processes have the cache open is read from /proc: on Linux, and of other users only with \
            their rights. Exit code 1 if the quick test of the records has findings; quire check tests all of \
            them. Changes nothing.

            Example:
              quire doctor so.quire
            """)

    @OptionGroup var target: CacheArgument
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let bodyBytes: UInt64
        let compactFrees: UInt64
        let deadBodyBytes: UInt64
        let fileBytes: UInt64
        let findings: [String]
        let freeBytes: UInt64
        let gaps: Int
        let indexBytes: UInt64
        let interrupted: Int
        /// Null if that cannot be found out here.
        @OrNull var openIn: [OpenFile.Opener]?
        let openHeads: Int
        let oldestSnapshotAge: Int
        let oldestSnapshotProcess: Int32
        let pinnedBytes: UInt64
        let snapshots: Int
        let unverified: Int
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        let openers = OpenFile.openers(of: target.cache)
        let findings = try cache.check(.quick, limit: 10, progress: { _ in true }).findings.map(\.description)
        let feeds = try cache.feeds()
        var continuity = Continuity()
        let (states, totals) = try cache.withSnapshot { snapshot in
            for feed in feeds { try continuity.add(feed, snapshot) }
            return (
                try feeds.map { (try snapshot.info(of: $0), try Continuity(of: $0, snapshot)) },
                try snapshot.statistics()
            )
        }
        let fileBytes = OpenFile.size(of: target.cache)
        let bodies = totals.bodyBytes + totals.deadBodyBytes
        let inUse = max(totals.usedBytes, bodies)
        let line = Line(
            bodyBytes: totals.bodyBytes,
            compactFrees: fileBytes - min(fileBytes, inUse) + totals.deadBodyBytes,
            deadBodyBytes: totals.deadBodyBytes, fileBytes: fileBytes, findings: findings,
            freeBytes: fileBytes - min(fileBytes, inUse), gaps: continuity.gaps, indexBytes: inUse - bodies,
            interrupted: continuity.interrupted.count,
            openIn: openers?.processes, openHeads: continuity.openHeads,
            oldestSnapshotAge: totals.oldestSnapshotAge, oldestSnapshotProcess: totals.oldestSnapshotProcess,
            pinnedBytes: totals.pinnedBytes, snapshots: max(0, totals.snapshots - 1),
            unverified: continuity.unverified)
        if json.isOn {
            try JSONLines(output).print(line)
        } else {
            for text in space(line) + use(line, openers) + records(line) + completeness(states, continuity) {
                try output.line(text)
            }
        }
        return findings.isEmpty ? .ok : .findings
    }

    private func space(_ line: Line) -> [String] {
        let parts: [(UInt64, String)] = [
            (line.bodyBytes, "bodies of posts"),
            (line.deadBodyBytes, "dead bodies: deleted or replaced, in one record with a body in use"),
            (line.indexBytes, "index, feeds, pages and the log of the last commits"),
            (line.freeBytes, "free: the next commits use it before the file grows"),
        ]
        let sizes = parts.map { sized($0.0) }
        let width = sizes.map(\.count).max() ?? 0
        let rows = zip(parts, sizes).map { part, size in
            "  " + String(repeating: " ", count: width - size.count) + size + "  " + part.1
        }
        return ["\(shown(target.cache)) has \(sized(line.fileBytes))"] + rows
            + ["  quire compact would free about \(sized(line.compactFrees))"]
    }

    private func use(_ line: Line, _ openers: OpenFile.Openers?) -> [String] {
        var lines: [String] = []
        if let openers {
            let names = openers.processes.map { "process \($0.process) (\(shown($0.command, limit: 40)))" }
            let unseen = openers.isComplete ? "" : "; processes of other users are not seen"
            lines.append(
                (names.isEmpty ? "no other process has it open" : "open in " + names.joined(separator: ", "))
                    + unseen)
            if !names.isEmpty {
                lines.append("  quire compact and quire repair must wait until it is closed there")
            }
        }
        if line.snapshots == 0 { return lines + ["no other program holds a snapshot"] }
        return lines + [
            "\(counted(line.snapshots, "snapshot")) held by other programs; the oldest, of process "
                + "\(line.oldestSnapshotProcess), began \(counted(line.oldestSnapshotAge, "commit")) ago",
            "  \(sized(line.pinnedBytes)) cannot be used again until it ends",
        ]
    }

    private func records(_ line: Line) -> [String] {
        if line.findings.isEmpty { return ["the quick test of the records: no findings"] }
        return ["the quick test of the records: \(counted(line.findings.count, "finding"))"]
            + line.findings.map { "  " + shown($0) } + ["  quire check says more, quire repair mends it"]
    }

    private func completeness(_ feeds: [(FeedInfo, Continuity)], _ continuity: Continuity) -> [String] {
        var lines = ["\(counted(feeds.count, "feed")): \(continuity.sentence)"]
        for (info, own) in feeds {
            if !own.isWhole || own.unverified > 0 { lines.append("  \(shown(info.name)): \(own.sentence)") }
            if own.againstOrder > 0 {
                lines.append(
                    "  \(shown(info.name)): \(counted(own.againstOrder, "answer")) against its order "
                        + "(\(info.options.order.rawValue)): posts may be missing; quire ingest says which "
                        + "order fits")
            }
            if info.placeholders > 0 {
                lines.append(
                    "  \(shown(info.name)): \(counted(info.placeholders, "post")) without a body, to be "
                        + "asked for by id")
            }
        }
        lines += continuity.help(for: target.cache).map { "  " + $0 }
        if continuity.gaps + continuity.openHeads > 0 {
            lines.append("  quire gaps \(shown(target.cache)) lists what is missing, with the link to it")
        }
        return lines
    }
}

/// A file as the system knows it.
enum OpenFile {
    /// A process that has a file open.
    struct Opener: Encodable {
        let command: String
        let process: Int32
    }

    struct Openers {
        let processes: [Opener]
        /// False if there are processes that this user may not look into.
        let isComplete: Bool
    }

    static func size(of path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_size) : 0
    }

    /// The other processes that have the file at this path open; nil if the system does not tell.
    static func openers(of path: String) -> Openers? {
        var file = stat()
        guard stat(path, &file) == 0,
            let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc")
        else { return nil }
        let processes = entries.compactMap { Int32($0) }.filter { $0 != getpid() }.sorted()
        if processes.isEmpty { return nil }
        var (found, isComplete): ([Opener], Bool) = ([], true)
        for process in processes {
            let folder = "/proc/\(process)/fd"
            guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                // A process that has ended meanwhile has nothing open.
                isComplete = isComplete && !FileManager.default.fileExists(atPath: folder)
                continue
            }
            let hasFile = descriptors.contains { descriptor in
                var other = stat()
                return stat("\(folder)/\(descriptor)", &other) == 0 && other.st_ino == file.st_ino
                    && other.st_dev == file.st_dev
            }
            if hasFile { found.append(Opener(command: name(of: process), process: process)) }
        }
        return Openers(processes: found, isComplete: isComplete)
    }

    private static func name(of process: Int32) -> String {
        let name = FileManager.default.contents(atPath: "/proc/\(process)/comm") ?? Data()
        return String(decoding: name, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
