import Foundation
import Testing

/// Runs what README.md, Docs/*.md and the help tell people to type.
@Suite("Commands in documents and help", .timeLimit(.minutes(5)))
struct DocumentedCommandsTests {
    private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    /// Commands that need a server or a program of their own; their own tests run them.
    private static let notRun = ["quire pull", "quire node", "quire cluster"]

    /// A command of a document, and what the document says that it prints.
    private struct Command {
        let line: String
        var output: [String]?
    }

    /// Commands that stand together, and run one after the other.
    private struct Block {
        let place: String
        var commands: [Command] = []
    }

    /// The blocks of code of a document that have commands of the tool.
    private static func blocks(of path: String) throws -> [Block] {
        var blocks: [Block] = []
        var (isFenced, isCode) = (false, false)
        let text = try String(contentsOfFile: top.appendingPathComponent(path).path, encoding: .utf8)
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                isFenced.toggle()
                isCode = false
                continue
            }
            let code = isFenced ? line : line.hasPrefix("    ") ? line.dropFirst(4) : nil
            guard let code else {
                isCode = isCode && line.isEmpty
                continue
            }
            if !isCode { blocks.append(Block(place: "\(path):\(number + 1)")) }
            isCode = true
            let isShell = code.hasPrefix("$ ")
            let typed = isShell ? code.dropFirst(2) : code
            if typed.hasPrefix("quire ") || typed.contains("| quire ") {
                // what follows two spaces explains it
                let line = typed.firstRange(of: #/ {2,}/#).map { typed[..<$0.lowerBound] } ?? typed
                blocks[blocks.count - 1].commands.append(
                    Command(line: String(line), output: isShell ? [] : nil))
            } else if let last = blocks[blocks.count - 1].commands.indices.last {
                blocks[blocks.count - 1].commands[last].output?.append(String(code))
            }
        }
        return blocks.filter { !$0.commands.isEmpty }
    }

    /// Runs a block where all is that documents speak of.
    private static func run(_ block: Block, in world: World) throws {
        let folder = try world.copy()
        for command in block.commands where !command.line.contains("…") {
            if notRun.contains(where: command.line.contains) { continue }
            let run = try world.run(command.line, in: folder)
            let mayFind = command.line.contains("--exit-code")
            #expect(
                run.status == 0 || mayFind && run.status == 1,
                "\(block.place): \(command.line)\nended with \(run.status): \(run.err)")
            guard let output = command.output else { continue }
            #expect(
                matches(run.lines[...], output.filter { !$0.isEmpty }[...]),
                "\(block.place): \(command.line)\nprints\n\(run.out)\(run.err)")
        }
    }

    /// True if the lines are as expected, where … stands for any number of lines or the rest of a line.
    private static func matches(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first.trimmingCharacters(in: .whitespaces) == "…" {
            let isLast = matches(lines, expected.dropFirst())
            return isLast || !lines.isEmpty && matches(lines.dropFirst(), expected)
        }
        guard let line = lines.first else { return false }
        let isSame = first.hasSuffix("…") && line.hasPrefix(first.dropLast()) || line == first
        return isSame && matches(lines.dropFirst(), expected.dropFirst())
    }

    @Test("README.md and Docs/*.md")
    func documents() throws {
        let world = try World()
        let docs = try FileManager.default.contentsOfDirectory(
            atPath: Self.top.appendingPathComponent("Docs").path)
        let blocks = try (["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/" + $0 })
            .flatMap { try Self.blocks(of: $0) }
        let count = blocks.map(\.commands.count).reduce(0, +)
        #expect(count > 40 && blocks.contains { $0.commands.contains { $0.output != nil } })
        for block in blocks { try Self.run(block, in: world) }
    }

    @Test("The help: each command has an example, and it runs")
    func help() throws {
        let world = try World()
        let folder = try world.copy()
        let names = try world.run("quire help", in: folder).lines
            .compactMap { $0.firstMatch(of: #/^  ([a-z]+) /#).map { String($0.1) } }.filter { $0 != "help" }
        #expect(names.count > 20)
        for name in names {
            let text = try world.run("quire help \(name)", in: folder).out
            let examples = InstallTests.examples(in: text)
            #expect(!examples.isEmpty, "quire \(name)")
            #expect(examples.allSatisfy { $0.contains("quire \(name)") }, "quire \(name): \(examples)")
            let block = Block(place: "quire help \(name)", commands: examples.map { Command(line: $0) })
            try Self.run(block, in: world)
        }
    }

    @Test("Docs/tool.md has every command")
    func manual() throws {
        let text = try String(
            contentsOfFile: Self.top.appendingPathComponent("Docs/tool.md").path, encoding: .utf8)
        let box = try Sandbox()
        for line in try box.quire("help").lines {
            guard let name = line.firstMatch(of: #/^  ([a-z]+) /#)?.1, name != "help" else { continue }
            let isThere = text.contains("quire \(name)")
            #expect(isThere, "\(name)")
        }
    }
}

/// The files that documents speak of: caches, pages, a dump, and a server that only `curl` reaches.
private final class World {
    private let box: Sandbox
    private var copies = 0

    init() throws {
        box = try Sandbox()
        let manager = FileManager.default
        for folder in ["bin", "world/pages-so", "world/pages-github"] {
            try manager.createDirectory(atPath: box.path(folder), withIntermediateDirectories: true)
        }
        try manager.createSymbolicLink(atPath: box.path("bin/quire"), withDestinationPath: Tool.path)
        try box.write("bin/curl", "#!/bin/sh\ncat <<END\n\(Self.blog)\nEND\n")
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: box.path("bin/curl"))
        // 170 of 200 posts: pages 4, 9 and 17 are missing.
        for number in 1...20 {
            let name = number == 17 ? "world/page-17.json" : "world/pages-so/\(number).json"
            if number != 4 && number != 9 { try box.write(name, Self.page(number)) }
        }
        try box.write("world/pages-github/1.json", #"[{"id": 12, "number": 2}, {"id": 11, "number": 1}]"#)
        try box.write("world/beer.stackexchange.com.7z", Self.dump)
        try box.write("world/page.json", Self.statuses)
        try box.write("world/page.json.headers", Self.headers)
        let setUp = [
            "quire ingest so.quire so/active pages/ --order bump --key last_activity_date --collection so",
            "quire ingest so.quire so/old pages/1.json --collection so --order keyless",
            "quire ingest tags.quire swift pages/1.json --order bump --key last_activity_date",
            "quire ingest tags.quire lmdb pages/1.json pages/2.json --order bump --key last_activity_date",
            "quire ingest gh.quire issues pages/ --profile github", "quire copy so.quire stranger.quire",
        ]
        for line in setUp {
            let run = try run(line, in: "world")
            try #require(run.status == 0, "\(line): \(run.err)")
        }
    }

    /// A folder with all of it, for commands that change it.
    func copy() throws -> String {
        copies += 1
        try #require(box.shell("cp -a world copy-\(copies)").status == 0)
        return "copy-\(copies)"
    }

    /// Runs a line of shell in a folder. What would run until Ctrl-C gets it at once.
    func run(_ line: String, in folder: String) throws -> Run {
        let pages = line.contains("--profile github") ? "pages-github" : "pages-so"
        let isEndless =
            line.hasPrefix("quire serve") || line.hasPrefix("quire watch") && !line.contains(" -n ")
        let typed = line.replacingOccurrences(of: "'", with: #"'\''"#)
        let command =
            isEndless
            ? "env --block-signal=INT sh -c 'kill -INT $$; exec \(typed)'" : "sh -c '\(typed)'"
        return try box.shell(
            "export PATH=\"$PWD/bin:$PATH\"; cd \(folder) && ln -sfn \(pages) pages && \(command)")
    }

    // MARK: Files

    private static func page(_ number: Int) -> String {
        let first = 212 - (number - 1) * 10
        let items = (first - 9...first).reversed().map { id in
            let date = 1_700_000_000 + (id - 100) * 60
            return #"{"question_id": \#(id), "last_activity_date": \#(date), "title": "Question \#(id)"}"#
        }
        return #"{"items": [\#(items.joined(separator: ", "))], "has_more": true}"#
    }

    private static let blog = """
        <rss version="2.0"><channel><title>Blog</title><item><guid>2</guid><title>Two</title></item>
        <item><guid>1</guid><title>One</title></item></channel></rss>
        """

    private static let dump = """
        <?xml version="1.0" encoding="utf-8"?>
        <posts>
        <row Id="1" PostTypeId="1" CreationDate="2014-01-21T20:26:05.383" Title="Which beer?" Body="" />
        <row Id="2" PostTypeId="2" CreationDate="2014-01-21T20:27:05.383" Body="This one." />
        </posts>
        """

    private static let statuses: String = {
        let ids = [
            117_020_581_331_681_768, 117_020_581_323_843_173, 117_020_581_315_995_409,
            117_020_581_300_000_000,
            117_020_581_290_000_000, 117_020_581_280_000_000, 117_020_581_270_000_000,
            117_020_581_265_000_000,
            117_020_581_260_000_000, 117_020_581_259_486_622,
        ]
        let items = ids.map {
            #"{"id": "\#($0)", "created_at": "2026-01-01T00:00:00.000Z", "content": "", "account": {}}"#
        }
        return "[\(items.joined(separator: ",\n"))]"
    }()

    private static let headers = """
        GET https://example.social/api/v1/timelines/tag/quire?max_id=117020581339834938
        Content-Type: application/json
        Link: <https://example.social/api/v1/timelines/tag/quire?max_id=117020581259486622>; rel="next"

        """
}
