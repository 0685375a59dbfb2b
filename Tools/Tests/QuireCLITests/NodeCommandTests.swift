import Foundation
import Testing

/// `quire node` and `quire cluster` become the program quire-node.
@Suite("Commands of a cluster", .timeLimit(.minutes(10)))
struct NodeCommandTests {
    private let box: Sandbox

    init() throws { box = try Sandbox() }

    private func plant(_ folder: String, _ word: String) throws {
        let path = box.path(folder)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let script = "#!/bin/sh\necho \(word) \"$@\"\nexit 3\n"
        try script.write(toFile: path + "/quire-node", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/quire-node")
    }

    @Test("The program on PATH gets the arguments, and its exit code counts")
    func onPath() throws {
        try plant("bin", "found")
        try #require(box.shell("mkdir own && cp \"$Q\" own/").status == 0)
        for (typed, arguments) in [
            ("node --nats a -x 'b c'", "--nats a -x b c"), ("node run --help", "run --help"),
            ("cluster status --help", "status --help"), ("cluster status --nats a", "status --nats a"),
        ] {
            let run = try box.shell("PATH='\(box.path("bin"))':/usr/bin:/bin; own/quire \(typed)")
            #expect(run.status == 3 && run.out == "found \(arguments)\n", "\(typed): \(run.out)\(run.err)")
        }
    }

    @Test("The program beside the tool comes first")
    func beside() throws {
        try plant("bin", "far")
        try plant("own", "near")
        let run = try box.shell(
            "cp \"$Q\" own/quire; ln -s own/quire link; PATH='\(box.path("bin"))':/usr/bin:/bin; ./link node 1"
        )
        #expect(run.status == 3 && run.out == "near 1\n", "\(run.out)\(run.err)")
    }

    @Test("Without the program, and with another word, the tool says what to do")
    func missing() throws {
        let alone = try box.shell("mkdir alone && cp \"$Q\" alone/; PATH=/usr/bin:/bin; alone/quire node run")
        #expect(alone.status == 66 && alone.err.contains("make install-node"), "\(alone.err)")
        let other = try box.quire("cluster", "start")
        #expect(other.status == 64 && other.err.contains("quire cluster status"), "\(other.err)")
        #expect(try box.quire("cluster").status == 64)
    }
}
