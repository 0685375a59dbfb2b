import ArgumentParser
import Foundation
import Quire
import QuireDumps

extension OrderClass: ExpressibleByArgument {}

/// What `ingest` and `fill` have in common.
struct IngestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The profile that says where things are in a response (default: what the feed was created "
                + "with, else stackexchange). quire profiles lists them.", valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp("A file with a profile of your own.", valueName: "file"),
        completion: .file())
    var profileFile: String?

    @Option(
        help: ArgumentHelp(
            "What the server promises about order (default: what the profile says). Fixed when the "
                + "feed is created.", valueName: "class"))
    var order: OrderClass?

    @Option(
        help: ArgumentHelp(
            "The field the server sorts by, larger nearer to the head. It is also taken for the version "
                + "of a post: a body is never replaced by one with a smaller key. Remembered with the "
                + "feed, as are --profile, --profile-file, --items and --id.", valueName: "field"))
    var key: String?

    @Option(help: ArgumentHelp("The field with the id of a post.", valueName: "field"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The field with the array of posts; \"\" if the response is the array.",
            valueName: "field"))
    var items: String?

    @OptionGroup var json: JSONOption

    func validate() throws {
        if profile != nil && profileFile != nil {
            throw ValidationError("--profile and --profile-file exclude each other.")
        }
    }
}
