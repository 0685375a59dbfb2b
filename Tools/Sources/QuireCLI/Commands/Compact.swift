import ArgumentParser
import Quire

struct Compact: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rewrite a cache without free space, in place.",
        discussion: """
            The file shrinks. Bodies that were deleted, replaced or pruned are no longer in it. The disk may still \
            have them in blocks that it has not used again, an SSD above all; so may backups. Ids of posts deleted lately stay in the cache's log. No process may have the cache open; it is \
            tested before, and the new file before it takes the old one's place. Ctrl-C stops it, with exit code \
            130, and nothing has changed.

            Example:
              quire compact so.quire
            """)

    @Argument(help: "The file of the cache.", completion: .file())
    var cache: String

    @OptionGroup var progress: ProgressOption

    func run(_ output: Output) throws -> ExitStatus {
        if !exists(cache) { throw Failure(.noInput, "\(cache): no such cache") }
        let freed = try LongWork(progress).run { try Cache.compact(at: cache, progress: $0) }
        try output.line(freed > 0 ? "\(sized(freed)) less" : "there was nothing to free")
        return .ok
    }
}
