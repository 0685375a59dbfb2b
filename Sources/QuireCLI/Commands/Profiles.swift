import ArgumentParser
import Quire
import QuireDumps

struct Profiles: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the profiles that quire knows, or show one.",
        discussion: """
            A profile says where things are in the responses of one API. --profile NAME takes one of \
            these, --profile-file FILE one of your own; Docs/profiles.md describes the format.
            """)

    @Argument(help: "The name of a profile.")
    var name: String?

    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let firstPage: Int
        let hasKey: Bool
        let name: String
        let order: String
        let paging: String
        let title: String
    }

    func run(_ output: Output) throws -> ExitStatus {
        let profiles = try name.map { [try builtInProfile($0)] } ?? Profile.builtIn
        if json.isOn {
            let lines = JSONLines(output)
            for profile in profiles {
                try lines.print(
                    Line(
                        firstPage: profile.firstPage, hasKey: profile.hasKey, name: profile.name,
                        order: profile.order.rawValue, paging: profile.paging.rawValue,
                        title: profile.title))
            }
            return .ok
        }
        var table = Table("PROFILE", "ORDER", "PAGING", " FIRST PAGE", "SORT KEY", "TITLE")
        for profile in profiles {
            table.add(
                shown(profile.name), profile.order.rawValue, profile.paging.rawValue,
                String(profile.firstPage), profile.hasKey ? "yes" : "give --key", shown(profile.title))
        }
        try table.print(to: output)
        return .ok
    }
}
