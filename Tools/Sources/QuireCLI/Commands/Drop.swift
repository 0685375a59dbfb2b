import ArgumentParser
import Quire

struct Drop: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove a feed from a cache.",
        discussion: """
            Its posts, pages, gaps and attributes are removed. Posts that other feeds of its collection hold \
            stay there. The file does not become smaller; quire compact does that.

            Example:
              quire drop so.quire so/old
            """)

    @OptionGroup var target: FeedArguments

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.open()
        let posts = try count(of: feed)
        try feed.drop()
        try output.line("\(shown(feed.name)): dropped, with \(counted(posts, "post"))")
        return .ok
    }
}

struct Reset: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget all posts of a feed.",
        discussion: """
            The feed stays, without posts. Its options and its profile stay too. The next quire ingest may change \
            its options with --order or --collection.

            Example:
              quire reset so.quire so/active
            """)

    @OptionGroup var target: FeedArguments

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.open()
        let posts = try count(of: feed)
        try feed.reset()
        try output.line("\(shown(feed.name)): reset, without \(counted(posts, "post"))")
        return .ok
    }
}

struct Rename: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give a feed another name.",
        discussion: """
            Its posts and its collection stay as they are.

            Example:
              quire rename so.quire so/active so/latest
            """)

    @OptionGroup var target: FeedArguments

    @Argument(help: "The new name. No feed may have it.")
    var name: String

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.open()
        if name.isEmpty || name.utf8.count > 255 {
            throw Failure(.usage, "the name of a feed has 1 to 255 bytes")
        }
        if name != feed.name, try feed.cache.existingFeed(named: name) != nil {
            throw Failure(.data, "\(target.cache): there is a feed \(shown(name)) already")
        }
        try feed.rename(to: name)
        try output.line("\(shown(feed.name)): is called \(shown(name)) now")
        return .ok
    }
}

private func count(of feed: Feed) throws -> Int {
    try feed.cache.withSnapshot {
        let info = try $0.info(of: feed)
        return info.posts + info.detached
    }
}
