import Foundation
import Testing

/// What takes long on a large cache draws how far it is, stops at Ctrl-C, and says when it has not seen all.
@Suite("check, verify, repair and compact: progress, Ctrl-C, limits", .timeLimit(.minutes(10)))
struct LongWorkTests {
    private static let commands = ["check", "check --quick", "verify", "repair", "compact"]
    private let box: Sandbox

    init() throws {
        box = try Sandbox()
        _ = try box.quire(["ingest", box.cache, "a"] + box.pages(1...30))
    }

    private var bytes: Data { FileManager.default.contents(atPath: box.cache) ?? Data() }
    private var files: Set<String> {
        get throws {
            try Set(FileManager.default.contentsOfDirectory(atPath: box.folder)).filter {
                $0.hasPrefix("test")
            }
        }
    }

    @Test("progress is drawn only where it is wanted, and changes nothing else", arguments: commands)
    func progress(command: String) throws {
        if command == "compact" { _ = try box.quire("compact", box.cache) }  // the next one frees nothing
        let plain = try box.shell("$Q \(command) $C")
        #expect(plain.status == 0 && plain.err.isEmpty && !plain.out.isEmpty)
        for option in ["auto", "never"] {
            let run = try box.shell("$Q \(command) $C --progress \(option)")
            #expect(run.err.isEmpty && run.out == plain.out)
        }
        let shown = try box.shell("$Q \(command) $C --progress always")
        #expect(shown.status == 0 && shown.out == plain.out)
        #expect(shown.err.hasPrefix("\r[") && shown.err.contains(" %"), "\(shown.err)")
        #expect(shown.err.unicodeScalars.allSatisfy { $0 == "\r" || (0x20..<0x7F).contains($0.value) })
        #expect(shown.err.hasSuffix(" \r"), "the line is taken away")
        #expect(try box.shell("$Q \(command) $C --progress sometimes").status == 64)
    }

    /// Ctrl-C came before the tool could look for it, so it meets the first moment in which the tool can
    /// stop.
    private func interrupted(_ command: String) throws -> Run {
        try box.shell("env --block-signal=INT sh -c 'kill -INT $$; exec \"$0\" \"$@\"' $Q \(command)")
    }

    @Test("Ctrl-C stops it, with exit code 130, and leaves the cache as it was", arguments: commands)
    func stopped(command: String) throws {
        let before = try (bytes, files)
        for option in ["", " --progress always"] {
            let run = try interrupted("\(command) \(box.cache)\(option)")
            #expect(run.status == 130, "\(run.err)")
            let isSearch = !["repair", "compact"].contains(command)
            #expect(run.out == (isSearch ? "no findings so far\n" : ""))
            let message = isSearch ? "there may be more to find" : "nothing was changed"
            #expect(run.err.hasSuffix("quire: stopped; \(message)\n"))
        }
        #expect(try before == (bytes, files))
        #expect(try box.shell("$Q \(command) $C").status == 0)
    }

    @Test("who stops at the limit says that there may be more", arguments: ["check", "verify"])
    func limit(command: String) throws {
        for page in try box.pages(31...34) {  // a commit each, and a record of bodies
            _ = try box.quire("ingest", box.cache, "a", page, "--place", "tail")
        }
        var damaged = bytes
        var place = damaged.startIndex
        while let found = damaged.range(of: Data("\"title\"".utf8), in: place..<damaged.endIndex) {
            damaged[found.lowerBound] ^= 1
            place = found.upperBound
        }
        try damaged.write(to: URL(fileURLWithPath: box.cache))
        let all = try box.quire(command, box.cache)
        let count = all.lines.count - 1
        #expect(all.status == 1 && all.err.isEmpty && count > 2 && all.lines.last == "\(count) findings")
        let some = try box.quire(command, box.cache, "--limit", "2")
        #expect(some.status == 1 && some.lines == Array(all.lines.prefix(2)) + ["2 findings so far"])
        let message = "quire: stopped after 2 findings; there may be more, see --limit"
        #expect(some.errLines == [message])
        let objects = try box.quire(command, box.cache, "--limit", "2", "--json")
        let note = #"{"message":"\#(message.dropFirst(7))","type":"note"}"#
        #expect(try objects.objects().count == 2 && objects.errLines.first == note && objects.status == 1)
        #expect(objects.errLines.count == 2 && objects.errLines.last?.contains(#""exit_code":1"#) == true)
        #expect(try box.quire(command, box.cache, "--limit", "\(count + 1)").out == all.out)
        #expect(try box.quire(command, box.cache, "--limit", "0").status == 64)
    }
}
