import ArgumentParser
import Foundation

/// Writes the page of the manual from the same text as the help.
struct Manual: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write quire(1), the page of the manual, as troff.", shouldDisplay: false)

    func run(_ output: Output) throws -> ExitStatus {
        let dump = try JSONDecoder().decode(HelpDump.self, from: Data(QuireTool._dumpHelp().utf8))
        let page = ManualPage(dump.command, version: QuireTool.configuration.version)
        for line in page.lines { try output.line(line) }
        return .ok
    }
}

/// The help of the tool as ArgumentParser dumps it.
struct HelpDump: Decodable {
    let command: Command

    struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    struct Argument: Decodable {
        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }
}

/// A page of the manual in the macros of man(7).
struct ManualPage {
    private(set) var lines: [String] = []

    init(_ tool: HelpDump.Command, version: String) {
        lines.append(".TH QUIRE 1 \"\" \"Quire \(version)\" \"User Commands\"")
        lines += [".SH NAME", "quire \\- " + Self.escaped(Self.sentence(tool.abstract))]
        lines += [".SH SYNOPSIS", ".B quire", ".I command", "[\\fIargument\\fR ...]", ".br"]
        lines += [".B quire help", "[\\fIcommand\\fR]", ".br", ".B quire \\-\\-version"]
        lines.append(".SH DESCRIPTION")
        add(tool.discussion)
        lines.append(".SH COMMANDS")
        for command in tool.subcommands ?? [] where command.shouldDisplay { add(command) }
        lines += [".SH SEE ALSO", ".BR quire (3)"]
    }

    private mutating func add(_ command: HelpDump.Command) {
        if command.commandName == "help" { return }
        let arguments = (command.arguments ?? []).filter { $0.shouldDisplay && Self.isOwn($0) }
        lines.append(".SS \"quire \(command.commandName)\(Self.usage(arguments))\"")
        lines.append(Self.escaped(command.abstract ?? ""))
        lines.append(".PP")
        add(command.discussion)
        for argument in arguments { add(argument) }
    }

    private mutating func add(_ argument: HelpDump.Argument) {
        guard let abstract = argument.abstract else { return }
        lines.append(".TP")
        lines.append(Self.label(argument))
        var text = abstract
        if let values = argument.allValues, !values.isEmpty {
            text += " (values: \(values.joined(separator: ", ")))"
        }
        if let value = argument.defaultValue, !value.isEmpty { text += " (default: \(value))" }
        lines.append(Self.escaped(text))
    }

    private static func usage(_ arguments: [HelpDump.Argument]) -> String {
        let words = arguments.filter { $0.kind == "positional" }.map { argument in
            let word = "\(argument.valueName ?? "")\(argument.isRepeating ? "..." : "")"
            return argument.isOptional ? " [\(word)]" : " \(word)"
        }
        let hasOptions = arguments.contains { $0.kind != "positional" }
        return escaped(words.joined() + (hasOptions ? " [option...]" : ""))
    }

    /// False for what every command has.
    private static func isOwn(_ argument: HelpDump.Argument) -> Bool {
        !(argument.names ?? []).contains { ["help", "version"].contains($0.name) }
    }

    private static func label(_ argument: HelpDump.Argument) -> String {
        let value = argument.valueName ?? ""
        if argument.kind == "positional" { return ".I " + escaped(value) }
        let names = (argument.names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
        let text = "\\fB" + names.map(escaped).joined(separator: "\\fR, \\fB") + "\\fR"
        return argument.kind == "option" ? text + " \\fI" + escaped(value) + "\\fR" : text
    }

    /// Paragraphs; lines that are indented stay lines.
    private mutating func add(_ discussion: String?) {
        var isVerbatim = false
        for line in (discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("  ") != isVerbatim {
                isVerbatim.toggle()
                lines.append(isVerbatim ? ".nf" : ".fi")
            }
            lines.append(line.isEmpty ? ".PP" : Self.escaped(String(line)))
        }
        if isVerbatim { lines.append(".fi") }
        if discussion?.isEmpty == false { lines.append(".PP") }
    }

    /// Without the full stop, and with a small letter: as the line of a name is written.
    private static func sentence(_ text: String?) -> String {
        let text = text ?? ""
        return text.prefix(1).lowercased() + text.dropFirst().trimmingCharacters(in: ["."])
    }

    private static func escaped(_ text: String) -> String {
        let text = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
