import Foundation
import Testing

/// The installed completions in real shells, at a terminal, as a person types.
@Suite("Completions at a terminal", .timeLimit(.minutes(10)), .serialized)
struct ShellCompletionTests {
    /// True if the shell is installed, and what gives it a terminal of its own.
    private static func has(_ shell: String) -> Bool {
        [shell, "setsid"].allSatisfy { name in
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return path.split(separator: ":").contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
            }
        }
    }

    private let box: Sandbox

    init() throws {
        box = try Sandbox()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Packaging/install-tool").path
        let run = try box.shell("QUIRE_TOOL=\"$Q\" DESTDIR='\(box.folder)' PREFIX=/opt '\(script)'")
        try #require(run.status == 0, "\(run.err)")
        // A shell would run what stands in a name.
        for feed in ["so/active", "so/old", "$(touch caught)", "`touch caught`"] {
            _ = try box.quire("ingest", box.cache, feed, box.page("1.json", [1]))
        }
    }

    /// Starts a shell in the folder of the sandbox, which has the installed tool in its PATH.
    private func start(
        _ shell: String, _ arguments: [String], in terminal: PseudoTerminal
    ) throws -> ChildProcess {
        let path = box.path("opt/bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let process = try terminal.start(
            "/usr/bin/env", ["-C", box.folder, "setsid", "-c", "-w", shell] + arguments,
            ["PATH": path, "TERM": "dumb", "HOME": box.folder, "XDG_CONFIG_HOME": box.folder])
        return process
    }

    /// Types lines with tabs in them. What the commands print shows what the tabs became.
    private func complete(_ terminal: PseudoTerminal) throws {
        terminal.type("quire docto\t test.quire\n")
        try terminal.wait { terminal.text.contains("the quick test of the records: no findings") }
        terminal.type("quire show test.quire so/o\t --json -n 1\n")
        try terminal.wait { terminal.text.contains("\"type\":\"post\"") }
        terminal.type("quire show test.quire so/old --js\t -n 1 | tr a-z A-Z\n")
        try terminal.wait { terminal.text.contains("\"TYPE\":\"POST\"") }
    }

    @Test("zsh", .enabled(if: has("zsh")))
    func zsh() throws {
        let terminal = try PseudoTerminal(rows: 40, columns: 200)
        let process = try start("zsh", ["-f", "-i"], in: terminal)
        defer { process.send(SIGTERM) }  // the shell ends with its terminal
        let folder = box.path("opt/share/zsh/site-functions")
        terminal.type("fpath=('\(folder)' $fpath); autoload -U compinit; compinit -D -u; print rea''dy\n")
        try terminal.wait { terminal.text.contains("ready") }
        try complete(terminal)
        #expect(!FileManager.default.fileExists(atPath: box.path("caught")))
    }

    @Test("fish", .enabled(if: has("fish")))
    func fish() throws {
        let terminal = try PseudoTerminal(rows: 40, columns: 200)
        let process = try start("fish", ["-N", "-i"], in: terminal)
        defer { process.send(SIGTERM) }
        terminal.type(
            "source '\(box.path("opt/share/fish/vendor_completions.d/quire.fish"))'; echo rea''dy\n")
        try terminal.wait { terminal.text.contains("ready") }
        try complete(terminal)
        #expect(!FileManager.default.fileExists(atPath: box.path("caught")))
    }
}
