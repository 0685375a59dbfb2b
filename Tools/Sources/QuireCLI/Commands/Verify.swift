import ArgumentParser
import Quire

struct Verify: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test a file before it is opened, without trust in any byte of it.",
        discussion: """
            For files that you did not write, or after an accident. Reads the file without LMDB, which would \
            crash on a damaged one. If LMDB can read the file, also tests all that quire check tests. No process may be writing \
            to it. Exit code 1 when there are findings. Changes nothing. Ctrl-C stops it, with exit code 130, \
            after it has said what it found until then.

            Example:
              quire verify stranger.quire
            """)

    @Argument(help: "The file of the cache.", completion: .file())
    var cache: String

    @OptionGroup var search: SearchOptions

    func run(_ output: Output) throws -> ExitStatus {
        if !exists(cache) { throw Failure(.noInput, "\(cache): no such cache") }
        return try search.run(output) { limit, progress in
            try Cache.verify(at: cache, limit: limit, progress: progress)
        }
    }
}
