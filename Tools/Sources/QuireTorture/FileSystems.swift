import ArgumentParser
import CRecorder
import Foundation
import QuireSimulator

/// Shuts down real file systems under a writer, as if by a power cut, and mounts them again. Everything
/// acknowledged must be there. Each file system is in a file. If mounting is not permitted, this is skipped.
struct FileSystems: TortureCommand {
    static let configuration = CommandConfiguration(
        commandName: "shutdown", abstract: "Stop real file systems under a writer.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How often each file system is stopped.") var count = 10

    private static let kinds = ["ext4", "xfs"]

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        if disk_keep_mounts_private() != 0 { throw Skipped(why: "mounting is not permitted") }
        let digests = try CommitHistory.digests(upTo: Kill.chapter, in: folder)
        var summary = Summary(name: "file system shutdown", unit: "cycles")
        var notes: [String] = []
        for kind in Self.kinds {
            let image = "\(folder)/\(kind).image"
            guard let mount = try Mount(image, kind) else {
                notes.append("\(kind) skipped")
                continue
            }
            notes.append("\(kind): \(try torture(mount, kind, digests, &random))")
            summary.count += count
        }
        if summary.count == 0 { throw Skipped(why: notes.joined(separator: ", ")) }
        summary.notes = notes.joined(separator: "; ")
        return summary
    }

    private func torture(
        _ mount: Mount, _ kind: String, _ digests: [UInt64], _ random: inout SplitMix64
    ) throws -> String {
        var (acknowledged, file, midway, beyond) = (UInt64(0), 0, 0, 0)
        for cycle in 0..<count {
            try mount.attach()
            let writer = Kill.writer("\(mount.folder)/\(file).quire", diskMayFail: true)
            usleep(UInt32(random.below(60_000)))
            let status = disk_cut_power(mount.folder)
            if status != 0 { throw Skipped(why: "\(kind) cannot be stopped: error \(status)") }
            writer.end()
            let numbers = writer.wait().numbers
            if !numbers.isEmpty { midway += 1 }
            acknowledged = numbers.last ?? acknowledged
            try mount.detach()
            try mount.attach()
            let path = "\(mount.folder)/\(file).quire"
            if access(path, F_OK) == 0 || acknowledged > 0 {
                let reopened = try PostCrashCheck.inspect(
                    path, acknowledged: acknowledged, digests: digests, "\(kind), cycle \(cycle)")
                if reopened.state > acknowledged { beyond += 1 }
                acknowledged = reopened.state
            }
            try mount.detach()
            if acknowledged >= UInt64(Kill.chapter) { (acknowledged, file) = (0, file + 1) }
        }
        return "\(count), \(midway) after commits, \(beyond) beyond the last acknowledged"
    }
}

/// A file system in a file.
private struct Mount {
    let image: String
    let folder: String

    /// Returns nil if such a file system cannot be created or mounted here.
    init?(_ image: String, _ kind: String) throws {
        (self.image, folder) = (image, image + ".mounted")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = open(image, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        ftruncate(file, 320 << 20)
        close(file)
        let force = kind == "xfs" ? "-f" : "-F"
        if !isDone("mkfs.\(kind)", "-q", force, image) || !isDone("mount", "-o", "loop", image, folder) {
            return nil
        }
        try detach()
    }

    func attach() throws {
        if !isDone("mount", "-o", "loop", image, folder) { throw Violation(what: "cannot mount \(image)") }
    }

    func detach() throws {
        if !isDone("umount", folder) { throw Violation(what: "cannot unmount \(image)") }
    }

    /// Runs a program. Returns true if it succeeds.
    private func isDone(_ command: String...) -> Bool {
        let child = Child(seconds: 120) { _ in
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)
            setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1)
            var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
            arguments.append(nil)
            execvp(command[0], arguments)
            return 127
        }
        return child.wait().ending == .exited(0)
    }
}
