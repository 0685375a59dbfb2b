import ArgumentParser
import Foundation
import Quire
import QuireDumps

extension OrderClass: @retroactive ExpressibleByArgument {}

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

    @Option(
        help: ArgumentHelp(
            "The collection that the feed's posts belong to: feeds of one share posts and bodies, by id. "
                + "Name one for feeds whose ids come from one server, like two tags of one site (default: "
                + "one of the feed's own). Fixed when the feed is created.", valueName: "name"))
    var collection: String?

    @Option(help: ArgumentHelp("The field with the id of a post.", valueName: "field"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The field with the array of posts; \"\" if the response is the array.",
            valueName: "field"))
    var items: String?

    func validate() throws {
        if profile != nil && profileFile != nil {
            throw ValidationError("--profile and --profile-file exclude each other.")
        }
        if let collection, collection.utf8.count > 255 {
            throw ValidationError("The name of a collection has up to 255 bytes.")
        }
    }
}

/// How the files are read.
struct InputArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the files hold: auto, response (one a file), responses or items (one a line, or in a "
                + "JSON array), rows (a table of the Stack Exchange data dump), syndication (RSS, Atom, "
                + "JSON Feed).", valueName: "format"))
    var format = InputOptions.Format.auto

    @Option(
        help: ArgumentHelp(
            "How the files are packed: auto, none, gzip, zstd, bzip2, xz, tar (packed or not), 7z.",
            valueName: "packing"))
    var packing = InputOptions.Packing.auto

    @Option(
        help: ArgumentHelp(
            "Which files of an archive are read (default: those that a folder would give, and of the "
                + "tables of Stack Exchange only Posts.xml).", valueName: "pattern"))
    var entries: String?

    @Option(
        help: ArgumentHelp(
            "About how much memory the pages may take that wait or are being committed; the largest "
                + "one comes on top.", valueName: "MiB"))
    var memory = 64

    @Option(
        help: ArgumentHelp(
            "The most that a response, an item or a row may have.", valueName: "MiB"))
    var recordLimit = 16

    @Option(
        help: ArgumentHelp(
            "How many times its size a packed file may unpack to.", valueName: "number"))
    var ratioLimit = 250

    func validate() throws {
        if !(1...1 << 20).contains(memory) || !(1...1_024).contains(recordLimit) || ratioLimit < 1 {
            throw ValidationError(
                "--memory is from 1 MiB on, --record-limit from 1 to 1024 MiB, --ratio-limit from 1 on.")
        }
    }
}

extension InputOptions.Format: @retroactive ExpressibleByArgument {}
extension InputOptions.Packing: @retroactive ExpressibleByArgument {}

/// How a run of ingest goes: what it says meanwhile, when it stops, where it starts.
struct RunOptions: ParsableArguments {
    @OptionGroup var progress: ProgressOption

    @Flag(help: "Say what would happen, on a copy of the cache that is thrown away.")
    var dryRun = false

    @Flag(help: "Stop at the first error. What lies before it stays in.")
    var strict = false

    @Option(help: ArgumentHelp("Stop when there are more errors.", valueName: "number"))
    var maxErrors: Int?

    @Option(
        help: ArgumentHelp(
            "Write the errors to this file, a JSON object per line, instead of stderr.",
            valueName: "file"), completion: .file())
    var errorsTo: String?

    @Flag(
        help: ArgumentHelp(
            "Exit with 1 when posts may be missing: after gaps, an open head, answers against the order of "
                + "the feed, or posts that found no place."))
    var exitCode = false

    @Flag(help: "Go on where the last run of the same files stopped or was killed.")
    var resume = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if strict && maxErrors != nil {
            throw ValidationError("--strict and --max-errors exclude each other.")
        }
        if maxErrors ?? 0 < 0 { throw ValidationError("--max-errors must not be negative.") }
    }
}
