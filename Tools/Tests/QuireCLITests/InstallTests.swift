import Foundation
import Testing

/// What `Packaging/install-tool` puts where, and what it makes of the help.
@Suite("The installed tool, its manual and its completions", .timeLimit(.minutes(10)))
struct InstallTests {
    private let box: Sandbox
    private let commands: [String]

    init() throws {
        box = try Sandbox()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Packaging/install-tool").path
        let run = try box.shell("QUIRE_TOOL=\"$Q\" DESTDIR='\(box.folder)' PREFIX=/opt '\(script)'")
        try #require(run.status == 0 && run.out.isEmpty, "\(run.err)")
        let help = try box.quire("--help").lines
        let start = try #require(help.firstIndex(of: "SUBCOMMANDS:"))
        commands = help[(start + 1)...].compactMap {
            $0.firstMatch(of: #/^  ([a-z]+) /#).map { String($0.1) }
        }
        try #require(commands.count > 20 && commands.contains("show") && !commands.contains("manual"))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: box.path("opt/" + name), encoding: .utf8)
    }

    @Test("The tool runs where it was put")
    func tool() throws {
        #expect(try box.shell("opt/bin/quire --version").status == 0)
        for name in [
            "share/man/man1/quire.1", "share/bash-completion/completions/quire",
            "share/zsh/site-functions/_quire",
            "share/fish/vendor_completions.d/quire.fish",
        ] {
            let mode = try FileManager.default.attributesOfItem(atPath: box.path("opt/" + name))[
                .posixPermissions]
            #expect(mode as? Int == 0o644, "\(name)")
        }
    }

    @Test("The manual has each command with what its help says, and troff takes it without a warning")
    func manual() throws {
        let page = try text("share/man/man1/quire.1")
        let plain = page.replacing(#/\\e\n */#, with: "").replacing("\\-", with: "-")
        for command in commands where command != "help" {
            #expect(plain.contains(".SS \"quire \(command)"), "\(command)")
            for line in try box.quire("help", command).lines {
                guard let option = line.firstMatch(of: #/^  (?:-[a-z], )?(--?[a-z][a-z-]*)/#)?.1 else {
                    continue
                }
                if option == "--help" || option == "-h" || option == "--version" { continue }
                #expect(
                    plain.contains("\\fB\(option)\\fR") || plain.contains("\(option)\\fR"),
                    "\(command) \(option)")
            }
            for example in try Self.examples(in: box.quire("help", command).out) {
                #expect(plain.contains("  " + example), "\(command): \(example)")
            }
        }
        let troff = try box.shell(
            "command -v groff >/dev/null || exit 0; groff -man -Tutf8 -P-cbou -ww opt/share/man/man1/quire.1")
        #expect(troff.status == 0 && troff.err.isEmpty, "\(troff.err)")
        if !troff.out.isEmpty {
            #expect(troff.out.contains("\nSYNOPSIS\n"))
        }
    }

    /// The examples of a help text.
    static func examples(in help: String) -> [String] {
        var isOn = false
        let whole = help.replacing(#/\\\n */#, with: "")  // a line that goes on
        return whole.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
            if line == "Example:" || line == "Examples:" { isOn = true }
            if line.isEmpty { isOn = false }
            return isOn && line.hasPrefix("  ") ? line.trimmingCharacters(in: .whitespaces) : nil
        }
    }

    @Test("Shells complete the commands", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let names = [
            "bash": "bash-completion/completions/quire", "zsh": "zsh/site-functions/_quire",
            "fish": "fish/vendor_completions.d/quire.fish",
        ]
        let name = try #require(names[shell])
        let script = try text("share/" + name)
        for command in commands { #expect(script.contains(command), "\(command)") }
        let path = box.path("opt/share/" + name)
        #expect(try box.shell("command -v \(shell) >/dev/null || exit 0; \(shell) -n '\(path)'").status == 0)
        guard shell == "bash" else { return }
        // A shell would run what stands in a name.
        for feed in ["so/active", "so/old", "$(touch caught)", "`touch caught`", "two words"] {
            _ = try box.quire("ingest", box.cache, feed, box.page("1.json", [1]))
        }
        for (line, expected) in [("quire sho", "show"), ("quire show test.quire so", "so/active so/old")] {
            let words = line.split(separator: " ").map(String.init)
            try box.write(
                "complete.sh",
                """
                source '\(path)'
                COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE='\(line)' COMP_POINT=\(line.count)
                $(complete -p quire | sed 's/.*-F \\([^ ]*\\).*/\\1/') quire \(words.last!) \(words[words.count - 2])
                echo "${COMPREPLY[*]}"
                """)
            let run = try box.shell("PATH=\"$PWD/opt/bin:$PATH\" bash complete.sh")
            #expect(run.out == expected + "\n", "\(line): \(run.out)\(run.err)")
        }
        #expect(!FileManager.default.fileExists(atPath: box.path("caught")))
    }
}
