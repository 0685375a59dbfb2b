import ArgumentParser
import Quire

struct Copy: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a compact copy of a cache.",
        discussion: """
            The copy shows the cache as of one moment, while others go on reading and writing. Nothing \
            may be at the place of the copy.
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "Where to write the copy.", completion: .file())
    var to: String

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.open()
        if exists(to) { throw Failure(.cannotCreate, "\(to): exists already") }
        do {
            try cache.copy(to: to)
        } catch let error as QuireError where [.badArgument, .noPermission].contains(error.code) {
            throw Failure(.cannotCreate, error.message)
        } catch let error as QuireError where error.osError == 2 {
            throw Failure(.cannotCreate, error.message)  // ENOENT: no such folder
        }
        return .ok
    }
}
