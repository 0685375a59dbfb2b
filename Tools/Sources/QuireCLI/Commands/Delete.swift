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
        let feed = try target.open()
        try posts.change(feed) { batch, id in try batch.delete(id) }
        try output.line("\(shown(feed.name)): deleted \(counted(posts.count, "post"))")
        return .ok
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
        let feed = try target.open()
        try posts.change(feed) { batch, id in try batch.pin(id) }
        try output.line("\(shown(feed.name)): pinned \(counted(posts.count, "post"))")
        return .ok
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
        let feed = try target.open()
        try posts.change(feed) { batch, id in try batch.unpin(id) }
        try output.line("\(shown(feed.name)): unpinned \(counted(posts.count, "post"))")
        return .ok
    }
}

/// Posts of a feed that a command changes.
struct PostArguments: ParsableArguments {
    @Argument(help: "The ids of the posts.")
    var id: [String]

    private var ids: Set<String> { Set(id) }
    var count: Int { ids.count }

    /// Changes all of the posts in one commit, or none if the feed lacks one of them.
    func change(_ feed: Feed, _ change: (Feed, PostID) throws -> Void) throws {
        try feed.cache.batch { batch in
            try feed.cache.withSnapshot { snapshot in
                for text in ids.sorted() { _ = try snapshot.require(text, in: feed) }
            }
            for text in ids.sorted() { try change(batch[feed], PostID(text)!) }
        }
    }
}
