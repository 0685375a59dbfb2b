import Foundation
import Testing

/// Runs what README.md, Docs/*.md and the help tell people to type.
@Suite("Commands in documents and help", .timeLimit(.minutes(10)))
struct DocumentedCommandsTests {
    static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    /// Commands that need servers of NATS; the tests of the package Cluster run them.
    private static let notRun = ["quire node", "quire cluster"]

    /// A command of a document, and what the document says that it prints.
    private struct Command {
        var line: String
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
            if let last = blocks[blocks.count - 1].commands.indices.last,
                blocks[blocks.count - 1].commands[last].line.hasSuffix("\\")
            {
                blocks[blocks.count - 1].commands[last].line.removeLast()
                blocks[blocks.count - 1].commands[last].line += typed.drop { $0 == " " }
            } else if typed.firstMatch(of: #/(?:^|[|;&] )quire [a-z]/#) != nil {
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
    private static func run(_ block: Block, in world: DocumentedWorld) async throws {
        let folder = try world.copy()
        for command in block.commands where !notRun.contains(where: command.line.hasPrefix) {
            let run = try await world.run(command.line, in: folder)
            let mayFind = command.line.contains("--exit-code")
            #expect(
                run.status == 0 || mayFind && run.status == 1,
                "\(block.place): \(command.line)\nended with \(run.status): \(run.err)")
            guard let output = command.output?.filter({ !$0.isEmpty }) else { continue }
            // What is said on stderr begins with the name of the tool.
            let said = output.filter { $0.hasPrefix("quire: ") }
            #expect(
                matches(run.lines[...], output.filter { !said.contains($0) }[...])
                    && said.allSatisfy(run.errLines.contains),
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
    func documents() async throws {
        let world = try await DocumentedWorld()
        let docs = try FileManager.default.contentsOfDirectory(
            atPath: Self.top.appendingPathComponent("Docs").path)
        let blocks = try (["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/" + $0 })
            .flatMap { try Self.blocks(of: $0) }
        let count = blocks.map(\.commands.count).reduce(0, +)
        #expect(count > 40 && blocks.contains { $0.commands.contains { $0.output != nil } })
        for block in blocks { try await Self.run(block, in: world) }
    }

    @Test("The help: each command has an example, and it runs")
    func help() async throws {
        let world = try await DocumentedWorld()
        let folder = try world.copy()
        let names = try await world.run("quire help", in: folder).lines
            .compactMap { $0.firstMatch(of: #/^  ([a-z]+) /#).map { String($0.1) } }.filter { $0 != "help" }
        #expect(names.count > 20)
        for name in names {
            let text = try await world.run("quire help \(name)", in: folder).out
            let examples = InstallTests.examples(in: text)
            #expect(!examples.isEmpty, "quire \(name)")
            #expect(examples.allSatisfy { $0.contains("quire \(name)") }, "quire \(name): \(examples)")
            let block = Block(place: "quire help \(name)", commands: examples.map { Command(line: $0) })
            try await Self.run(block, in: world)
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
