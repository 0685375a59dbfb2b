import Foundation
import Testing

@Suite("Somebody else's cache", .timeLimit(.minutes(10)))
struct ReadOnlyTests {
    private static let stranger = "setpriv --reuid=65534 --regid=65534 --clear-groups"

    /// True if a test can become a user who may run the tool and no more.
    /// Asked before the first test begins, so it must end.
    private static let canBeAStranger: Bool = {
        let question = "timeout -s KILL 30 \(stranger) test -x '\(Tool.path)'"
        let process = try? ChildProcess("/bin/sh", ["-c", question])
        return process?.status == 0
    }()

    @Test(
        "Commands that read need no right to write, and leave nothing", .enabled(if: canBeAStranger),
        arguments: [true, false])
    func reads(_ hasCompanions: Bool) throws {
        let box = try Sandbox()
        let pages = try box.pages(1...6).filter { !$0.hasSuffix("/4.json") }
        _ = try box.quire(["ingest", box.cache, "a"] + pages)
        let commands = [
            "show $C a -n 5", "show $C a --json -n 50", "feeds $C", "gaps $C a", "stat $C", "check $C",
            "pages $C a",
        ]
        let own = try commands.map { try box.shell("$Q \($0)") }
        _ = try box.shell("chmod 755 . && chmod 644 $C" + (hasCompanions ? "" : " && rm $C-lock $C-open"))
        let files = try box.shell("ls").lines.filter { !$0.hasPrefix("run-") }
        for (command, expected) in zip(commands, own) {
            let run = try box.shell("\(Self.stranger) $Q \(command)")
            #expect(run.status == 0 && run.err == expected.err, "\(command): \(run.err)")
            if !command.hasPrefix("check") && !command.hasPrefix("stat") { #expect(run.out == expected.out) }
        }
        // A copy is printed as it is now, and no more can come.
        let log = try box.shell("\(Self.stranger) $Q watch $C a --since 0 -n 1")
        #expect(log.status == 0 && log.lines.count == 1 && log.err.isEmpty, "\(log.err)")
        let watch = try box.shell("\(Self.stranger) timeout 300 $Q watch $C a --since 0")
        #expect(watch.status == 66 && watch.out == log.out && watch.err.contains("cannot be followed"))
        for command in ["drop $C a", "prune $C a --max-posts 3", "ingest $C a \(pages[0])"] {
            let run = try box.shell("\(Self.stranger) $Q \(command)")
            #expect(run.status != 0 && run.err.contains("Permission denied"), "\(command): \(run.err)")
        }
        #expect(try box.shell("ls").lines.filter { !$0.hasPrefix("run-") } == files)
        #expect(try box.quire("check", box.cache).status == 0)
    }
}
