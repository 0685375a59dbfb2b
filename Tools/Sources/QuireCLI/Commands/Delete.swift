import ArgumentParser
import Quire

struct Delete: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove posts from a feed because they are gone on the server.",
        discussion: """
            Their neighbours close up, and no gap opens. Other feeds of the collection keep the posts. Answers \
            to requests that were made before do not bring them back; a later answer that shows them does. All \
            of the posts are removed, or none if the feed lacks one of them. quire compact removes their bodies \
            from the file. To save space while the posts exist on the server, use quire prune.

            Example:
              quire delete so.quire so/active 42 40
            """)

    @OptionGroup var target: FeedArguments
    @OptionGroup var posts: PostArguments

    func run(_ output: Output) throws -> ExitStatus {
        try posts.change(target.open(), "deleted", output) { feed, id in try feed.delete(id) }
    }
}

struct Pin: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep posts of a feed, whatever is pruned or no longer shown.",
        discussion: """
            A pinned post is not evicted, and no answer removes it. quire show marks it with *.

            Example:
              quire pin so.quire so/active 42
            """)

    @OptionGroup var target: FeedArguments
    @OptionGroup var posts: PostArguments

    func run(_ output: Output) throws -> ExitStatus {
        try posts.change(target.open(), "pinned", output) { feed, id in try feed.pin(id) }
    }
}

struct Unpin: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "End what quire pin began.",
        discussion: """
            Example:
              quire unpin so.quire so/active 42
            """)

    @OptionGroup var target: FeedArguments
    @OptionGroup var posts: PostArguments

    func run(_ output: Output) throws -> ExitStatus {
        try posts.change(target.open(), "unpinned", output) { feed, id in try feed.unpin(id) }
    }
}

/// Posts of a feed that a command changes.
struct PostArguments: ParsableArguments {
    @Argument(help: "The ids of the posts.")
    var id: [String]

    /// Changes all of the posts in one commit, or none if the feed lacks one of them. Says what was done.
    func change(
        _ feed: Feed, _ done: String, _ output: Output, _ change: (Feed, PostID) throws -> Void
    ) throws -> ExitStatus {
        let ids = Set(id).sorted()
        try feed.cache.batch { batch in
            try feed.cache.withSnapshot { snapshot in
                for text in ids { _ = try snapshot.require(text, in: feed) }
            }
            for text in ids { try change(batch[feed], PostID(text)!) }
        }
        try output.line("\(shown(feed.name)): \(done) \(counted(ids.count, "post"))")
        return .ok
    }
}
