import ArgumentParser
import Foundation
import Quire
import QuireDumps

extension OrderClass: @retroactive ExpressibleByArgument {}

/// What `ingest` and `fill` have in common.
struct IngestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The profile of the API: where a response has its fields (default: the profile with which the "
                + "feed was created, else the one that the first response fits). quire profiles lists them.",
            valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp("A file with your own profile.", valueName: "file"),
        completion: .file())
    var profileFile: String?

    @Option(
        help: ArgumentHelp(
            "What the server promises about order (default: that of the profile, or what the first response "
                + "shows if the profile is not named). Fixed when the feed is created.", valueName: "class"))
    var order: OrderClass?

    @Option(
        help: ArgumentHelp(
            "The field by which the server sorts; larger is nearer to the head. It is also the version "
                + "of a post: a body with a smaller key does not replace one with a larger key. Remembered with the "
                + "feed, as are --profile, --profile-file, --items and --id.", valueName: "field"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The collection of the feed. Feeds of one collection share posts and bodies, by id. Name one "
                + "for feeds whose ids come from one server, such as two tags of one site (default: a "
                + "collection for this feed alone). Fixed when the feed is created.", valueName: "name"))
    var collection: String?

    @Option(help: ArgumentHelp("The field with the id of a post.", valueName: "field"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The field with the array of posts; \"\" if the response is the array.",
            valueName: "field"))
    var items: String?

    @Option(
        help: ArgumentHelp(
            "The largest size of the cache, without the free space in its file: what is over it leaves, from the "
                + "feeds that were not used for longest, and becomes a gap. For this run; quire stat says what left.",
            valueName: "size"))
    var budget: ByteSize?

    var cacheBudget: CacheBudget? {
        budget.map { size in
            var budget = CacheBudget()
            budget.fileBytes = size.bytes
            return budget
        }
    }

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
            "The packing of the files: auto, none, gzip, zstd, bzip2, xz, tar (packed or not), 7z.",
            valueName: "packing"))
    var packing = InputOptions.Packing.auto

    @Option(
        help: ArgumentHelp(
            "The files to read from an archive (default: those that would be read from a folder; of a "
                + "Stack Exchange data dump only Posts.xml).", valueName: "pattern"))
    var entries: String?

    @Option(
        help: ArgumentHelp(
            "Approximate memory for pages that wait or are being committed, in addition to the largest "
                + "page. A number without a unit is one of MiB.", valueName: "size"),
        transform: ByteSize.mebibytes)
    var memory = ByteSize(bytes: 64 << 20)

    @Option(
        help: ArgumentHelp(
            "The maximum size of a response, an item or a row. A number without a unit is one of MiB.",
            valueName: "size"), transform: ByteSize.mebibytes)
    var recordLimit = ByteSize(bytes: 16 << 20)

    @Option(
        help: ArgumentHelp(
            "The maximum ratio of unpacked to packed size.", valueName: "number"))
    var ratioLimit = 250

    func validate() throws {
        if !(1 << 20...1 << 40).contains(memory.bytes) {
            throw ValidationError("--memory is from 1 MiB to 1 TiB, not \(memory.words).")
        }
        if !(1 << 20...1 << 30).contains(recordLimit.bytes) {
            throw ValidationError("--record-limit is from 1 to 1024 MiB, not \(recordLimit.words).")
        }
        if ratioLimit < 1 { throw ValidationError("--ratio-limit is from 1 on, not \(ratioLimit).") }
    }
}

extension InputArguments {
    /// The options by which the same files give other pages, as far as they are not the default.
    var words: [String] {
        var words: [String] = []
        if format != .auto { words.append("--format \(format.rawValue)") }
        if packing != .auto { words.append("--packing \(packing.rawValue)") }
        if let entries { words.append("--entries \(entries)") }
        if recordLimit.bytes != 16 << 20 { words.append("--record-limit \(recordLimit)") }
        return words
    }
}

extension InputOptions.Format: @retroactive ExpressibleByArgument {}
extension InputOptions.Packing: @retroactive ExpressibleByArgument {}

/// How a run of ingest goes: what it says meanwhile, when it stops, where it starts.
struct RunOptions: ParsableArguments {
    @OptionGroup var progress: ProgressOption

    @Flag(help: "Report what would happen, and change nothing.")
    var dryRun = false

    @Flag(help: "Stop at the first error. The pages before it stay in the cache.")
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
            "Exit with 1 if posts may be missing: after gaps, an open head, answers that contradict the "
                + "order of the feed, posts that could not be placed, or posts that share an id."))
    var exitCode = false

    @Flag(help: "Continue where the last run with the same files stopped or was killed.")
    var resume = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if strict && maxErrors != nil {
            throw ValidationError("--strict and --max-errors exclude each other.")
        }
        if maxErrors ?? 0 < 0 { throw ValidationError("--max-errors must not be negative.") }
    }
}
