import Foundation

/// Where a run took place, and with what.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var memory: String
    var kernel: String
    var system: String
    var fileSystem: String
    var swift: String

    /// This machine, and the file system of a folder.
    static func current(folder: String) -> Machine {
        Machine(
            processor: value("model name", in: "/proc/cpuinfo") ?? "?",
            cores: ProcessInfo.processInfo.activeProcessorCount,
            memory: "\((ProcessInfo.processInfo.physicalMemory + (1 << 29)) >> 30) GiB",
            kernel: text("/proc/sys/kernel/osrelease") ?? "?",
            system: (value("PRETTY_NAME", in: "/etc/os-release") ?? "?")
                .replacingOccurrences(of: "\"", with: ""),
            fileSystem: fileSystem(of: folder) ?? "?", swift: swiftVersion)
    }

    /// What `swift --version` says; the compiler's minor version if it is not there any more.
    private static var swiftVersion: String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "--version"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        if (try? process.run()) != nil {
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first
            if let words = line?.split(separator: " ("), let version = words.first {
                return String(version)
            }
        }
        return "Swift 6.3 or newer"
    }

    private static func text(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func value(_ label: String, in path: String) -> String? {
        for line in (text(path) ?? "").split(separator: "\n") where line.hasPrefix(label) {
            let parts = line.split(maxSplits: 1, whereSeparator: { $0 == ":" || $0 == "=" })
            return parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : nil
        }
        return nil
    }

    /// The type of the mount that holds the folder: the one with the longest path above it.
    private static func fileSystem(of folder: String) -> String? {
        let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        var best: (length: Int, type: String)?
        for line in (text("/proc/mounts") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let mount = String(fields[1])
            let holds = path == mount || path.hasPrefix(mount == "/" ? "/" : mount + "/")
            if holds, mount.utf8.count >= best?.length ?? 0 {
                best = (mount.utf8.count, String(fields[2]))
            }
        }
        return best?.type
    }
}
