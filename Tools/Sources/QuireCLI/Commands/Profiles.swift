import ArgumentParser
import Quire
import QuireDumps

struct Profiles: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the profiles, show one, or find those that fit a response.",
        discussion: """
            A profile says where the responses of one API have their fields. --profile NAME uses one of \
            these, --profile-file FILE one of your own; Docs/profiles.md describes the format, and \
            --source prints a profile to start from. RSS, Atom, RDF and tables of a data dump say themselves \
            where things are, and need none.

            --explain FILE reads a response with every profile (or only the one that is named) and says \
            which fit and why, the best first, what the best one finds, and what quire ingest would do \
            without --profile. It reads what quire ingest reads: a packed file, the first file of an archive or \
            folder, a list, or - for standard input, with headers from FILE.headers or from the response \
            itself. The exit code is 65 if none fits.

            Examples:
              quire profiles
              quire profiles mastodon --source
              quire profiles --explain page.json
            """)

    @Argument(help: "The name of a profile.")
    var name: String?

    @Option(
        help: ArgumentHelp("A file with your own profile.", valueName: "file"),
        completion: .file())
    var profileFile: String?

    @Option(
        help: ArgumentHelp(
            "A response, or -. Tells which profiles fit it, and why the others do not.", valueName: "file"),
        completion: .file())
    var explain: String?

    @Flag(help: "Print the profile as it is written.")
    var source = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if name != nil && profileFile != nil {
            throw ValidationError("A name and --profile-file exclude each other.")
        }
        if source && (name == nil && profileFile == nil || explain != nil || json.isOn) {
            throw ValidationError("--source prints one profile, and nothing else.")
        }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let one =
            try name.map(builtInProfile)
            ?? profileFile.map { path in
                try Profile(json: PageFile(path: path).read(), name: path)
            }
        if let explain {
            let explanation = try FitExplanation(of: explain, profiles: one.map { [$0] } ?? Profile.builtIn)
            try json.isOn ? explanation.printLines(to: output) : explanation.print(to: output)
            return explanation.fits ? .ok : .data
        }
        if json.isOn {
            let lines = JSONLines(output)
            for profile in one.map({ [$0] }) ?? Profile.builtIn { try lines.print(Line(profile)) }
        } else if let one {
            try source ? output.data(Array(one.source.utf8)) : show(one, output)
        } else {
            try list(output)
        }
        return .ok
    }

    private func list(_ output: Output) throws {
        var table = Table("PROFILE", "ORDER", "PAGING", "SORT KEY", "TITLE")
        for profile in Profile.builtIn {
            table.add(
                shown(profile.name), profile.order.rawValue, profile.paging.rawValue,
                profile.hasKey ? "yes" : "give --key", shown(profile.title))
        }
        try table.print(to: output)
    }

    private func show(_ profile: Profile, _ output: Output) throws {
        try output.line("\(shown(profile.name)): \(shown(profile.title))")
        for (field, text) in profile.explanation {
            try output.line("  " + padded(field) + shown(text))
        }
    }
}

/// The names of fields, one below the other.
func padded(_ field: String) -> String {
    field + String(repeating: " ", count: max(1, 11 - field.count))
}

private struct Line: Encodable {
    let firstPage: Int
    let hasKey: Bool
    let name: String
    let order: String
    let paging: String
    let title: String

    init(_ profile: Profile) {
        (firstPage, hasKey, name) = (profile.firstPage, profile.hasKey, profile.name)
        (order, paging, title) = (profile.order.rawValue, profile.paging.rawValue, profile.title)
    }
}
