import Foundation
import Testing

/// What SECURITY.md says of the tool.
@Suite("What hostile input reaches", .timeLimit(.minutes(10)))
struct SecurityTests {
    /// True if programs may be traced here.
    /// Asked before the first test begins, so it must end.
    private static let canTrace: Bool = {
        let arguments = ["-s", "KILL", "30", "strace", "-o", "/dev/null", "/bin/true"]
        return (try? ChildProcess("/usr/bin/timeout", arguments))?.status == 0
    }()

    /// Names that would be paths, an entity that names a file, links that name a server.
    private func hostileFiles(_ box: Sandbox) throws -> [String] {
        try box.write("secret.txt", "not for other users\n")
        try box.write(
            "page.json",
            #"""
            {"items": [{"question_id": "/etc/passwd", "key": 2}, {"question_id": "../secret.txt", "key": 1}],
             "next": "http://127.0.0.1:9/next", "has_more": true}
            """#)
        try box.write(
            "Posts.xml",
            #"""
            <?xml version="1.0"?>
            <!DOCTYPE posts [<!ENTITY secret SYSTEM "\#(box.path("secret.txt"))">
            <!ENTITY % more SYSTEM "http://127.0.0.1:9/more.dtd"> %more;]>
            <posts><row Id="1" PostTypeId="1" CreationDate="2020-01-01T00:00:00.000" Body="&secret;"/></posts>
            """#)
        try box.write(
            "profile.json",
            #"{"name": "../secret.txt", "items": "$.items", "id": "$.question_id", "next": "$.next"}"#)
        return ["page.json", "Posts.xml"].map(box.path)
    }

    @Test(
        "Nothing is opened but what was named, and no socket at all",
        .enabled(if: canTrace, "programs cannot be traced here"))
    func opensNothingElse() throws {
        let box = try Sandbox()
        let files = try hostileFiles(box)
        let trace = box.path("trace")
        let traced = "open,openat,creat,socket,connect,execve"
        let strace = "timeout -s KILL 60 strace -f -qq -e trace=\(traced) -A -o '\(trace)' \"$Q\""
        for file in files {
            _ = try box.shell("\(strace) ingest \"$C\" '../../feed' '\(file)' --profile-file profile.json")
            _ = try box.shell("\(strace) ingest \"$C\" '../../feed' '\(file)'")
        }
        _ = try box.shell("\(strace) ingest \"$C\" '../../feed' \"\(try box.page("good.json", [3, 2, 1]))\"")
        for command in ["feeds \"$C\"", "show \"$C\" ../../feed", "gaps \"$C\" ../../feed", "check \"$C\""] {
            #expect(try box.shell("\(strace) \(command)").status == 0)
        }
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        #expect(calls.contains { $0.contains("\"\(box.cache)") }, "the trace sees what is opened")
        let system = ["/usr/", "/lib", "/etc/ld.so", "/etc/localtime", "/proc/", "/sys/", "/dev/"]
        let named = files + [box.cache, box.path("good.json"), box.path("profile.json"), "profile.json"]
        for call in calls {
            #expect(!call.contains("socket(") && !call.contains("connect("), "\(call)")
            guard call.contains("open") || call.contains("creat("),
                let path = call.split(separator: "\"").dropFirst().first.map(String.init)
            else { continue }
            let isOurs =
                path == Tool.path || path == box.folder
                || path.hasSuffix(".profraw")  // of a build that measures coverage
                || named.contains { path == $0 || path.hasPrefix($0 + "-") || path.hasPrefix($0 + ".") }
            // What the loader and the C library read before and beside any input.
            let isSystem =
                call.contains("O_RDONLY") && !path.hasPrefix(box.folder)
                && (path.contains(".so") || system.contains { path.hasPrefix($0) })
            #expect(isOurs || isSystem, "\(call)")
        }
    }

    @Test("Cache and lock file belong to their owner, whatever the umask, and no draft is left")
    func permissions() throws {
        let box = try Sandbox()
        let page = try box.page("1.json", [3, 2, 1])
        #expect(try box.shell("umask 0; \"$Q\" ingest \"$C\" a '\(page)'").status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: box.folder)
            .filter { $0.hasPrefix("test.quire") }
        #expect(files.count >= 2 && !files.contains { $0.contains(".new") }, "\(files)")
        for file in files {
            let mode = try FileManager.default.attributesOfItem(atPath: box.path(file))[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(file)")
        }
    }

    @Test("A deleted body is not shown, and stays in the file")
    func deletion() throws {
        let box = try Sandbox()
        let secret = "correct horse battery staple"
        for (number, title) in [(1, "nothing"), (2, secret)] {
            try box.write(
                "\(number).json",
                #"{"items": [{"question_id": \#(9 - number), "title": "\#(title)"}], "has_more": true}"#)
        }
        let pages = ["1.json", "2.json"].map(box.path)
        #expect(try box.quire(["ingest", box.cache, "a"] + pages).status == 0)
        #expect(try box.quire("prune", box.cache, "a", "--max-posts", "1").status == 0)
        #expect(try !box.quire("export", box.cache, "a").out.contains(secret))
        let file = try Data(contentsOf: URL(fileURLWithPath: box.cache))
        #expect(file.range(of: Data(secret.utf8)) != nil)
    }
}
