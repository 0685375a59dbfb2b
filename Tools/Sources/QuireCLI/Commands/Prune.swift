import ArgumentParser
import Quire

struct Prune: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget pages of a feed to save space.",
        discussion: """
            Whole pages leave. A gap opens in their place, with the link that fetches them again. Pages with a \
            pinned post stay. Pages out of sequence leave first, then those that are too old, then pages from the \
            tail up until the limits are met.

            A duration is a number and a unit: 90s, 15m, 12h, 30d, 2w. \(ByteSize.help)

            Examples:
              quire prune so.quire so/active --max-posts 5000
              quire prune so.quire so/active --max-bytes 1.5MB --dry-run
              quire prune so.quire so/active --max-age 90d --out-of-sequence
            """)

    @OptionGroup var target: FeedArguments

    @Flag(help: "Forget everything below the topmost gap.")
    var outOfSequence = false

    @Option(help: ArgumentHelp("Maximum posts to keep.", valueName: "number"))
    var maxPosts: Int?

    @Option(help: ArgumentHelp("Maximum pages to keep.", valueName: "number"))
    var maxPages: Int?

    @Option(help: ArgumentHelp("Maximum size of the bodies to keep, as 1.5MB.", valueName: "size"))
    var maxBytes: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Forget pages that were received longer ago than this, as 90d.",
            valueName: "duration"))
    var maxAge: Age?

    @Option(
        help: ArgumentHelp(
            "Stop after this many posts (default: no limit).", valueName: "number"))
    var budget: Int?

    @Flag(help: "Report what would be forgotten, and change nothing.")
    var dryRun = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        let limits = [maxPosts, maxPages, budget].compactMap(\.self)
        if limits.contains(where: { $0 < 0 }) { throw ValidationError("A limit must not be negative.") }
    }

    /// Not before all options are read: one that is mistyped is named then.
    private func requireLimit() throws {
        if !outOfSequence && maxAge == nil && maxPosts == nil && maxPages == nil && maxBytes == nil {
            throw ValidationError(
                "Say what to forget: --out-of-sequence, --max-posts, --max-pages, --max-bytes or "
                    + "--max-age.")
        }
    }

    private struct Line: Encodable {
        let done: Bool
        let dryRun: Bool
        let pages: Int
        let posts: Int
    }

    func run(_ output: Output) throws -> ExitStatus {
        try requireLimit()
        let feed = try target.open()
        var policy = PrunePolicy()
        policy.dropsOutOfSequence = outOfSequence
        (policy.maximumPosts, policy.maximumPages) = (maxPosts, maxPages)
        (policy.maximumBytes, policy.maximumAge) = (maxBytes?.bytes, maxAge?.milliseconds)
        policy.now = millisecondsNow()
        let result = dryRun ? try whatWouldLeave(feed, policy) : try prune(feed, policy)
        if json.isOn {
            try JSONLines(output).print(
                Line(done: result.isDone, dryRun: dryRun, pages: result.pages, posts: result.posts))
        } else {
            let verb = dryRun ? "would forget" : "forgot"
            let rest = result.isDone ? "" : "; there is more to forget"
            try output.line(
                "\(shown(feed.name)): \(verb) \(counted(result.posts, "post")) of "
                    + "\(counted(result.pages, "page"))\(rest)")
        }
        return .ok
    }

    private func whatWouldLeave(_ feed: Feed, _ policy: PrunePolicy) throws -> PruneResult {
        var policy = policy
        policy.budget = budget ?? .max
        return try feed.cache.dryRun { try $0[feed].prune(policy) }
    }

    /// In commits of the policy's own budget, so that other writers get their turn.
    private func prune(_ feed: Feed, _ policy: PrunePolicy) throws -> PruneResult {
        var policy = policy
        if let budget {
            policy.budget = budget
            return try feed.prune(policy)
        }
        var total = try feed.prune(policy)
        while !total.isDone {
            let result = try feed.prune(policy)
            total.pages += result.pages
            total.posts += result.posts
            total.isDone = result.isDone || result.posts == 0
        }
        return total
    }
}
