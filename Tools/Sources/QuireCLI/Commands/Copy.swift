import ArgumentParser
import Quire

struct Copy: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a compact copy of a cache.",
        discussion: """
            The copy shows the cache at one moment. Others may read and write meanwhile. No file may exist at \
            the path of the copy.

            Example:
              quire copy so.quire backup.quire
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The path of the copy.", completion: .file())
    var to: String

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
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
