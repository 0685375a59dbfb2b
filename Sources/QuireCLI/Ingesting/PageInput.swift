import Quire
import QuireDumps

/// A file that was named on the command line, or lies in a folder named there.
struct PageInput {
    let file: PageFile
    /// Why it is known already that there is nothing to read.
    let problem: DumpError?

    /// The number in its name, if it can be that of a page: one can count on from it.
    var number: Int? { file.number.flatMap { $0 <= Self.numberLimit ? $0 : nil } }

    static let numberLimit = 1 << 53

    /// The files at these paths in the order given, those in a folder in natural order. What cannot be
    /// found keeps its place: the pages after it are not contiguous with those before.
    static func list(_ paths: [String]) -> [PageInput] {
        paths.flatMap { path in
            do throws(DumpError) {
                return try PageFile.list([path]).map { PageInput(file: $0, problem: nil) }
            } catch {
                return [PageInput(file: PageFile(path: path), problem: error)]
            }
        }
    }

    /// The response in the file, with the headers beside it.
    func read(with parser: PageParser, keyIsVersion: Bool) throws(DumpError) -> Response {
        if let problem { throw problem }
        var response = try parser.read(
            file.read(limit: parser.limit), envelope: file.envelope(), name: file.path)
        response.answer.fetchedAt = millisecondsNow()
        if keyIsVersion {
            for index in response.answer.posts.indices {
                response.answer.posts[index].version = response.answer.posts[index].key
            }
        }
        return response
    }
}

/// How the pages of a run are numbered.
enum Numbering {
    /// By their names.
    case names
    /// One after the other from a number on.
    case consecutive(from: Int)
    /// One after the other; the first takes over the link of the place where the run starts.
    case following

    /// By their names if all of them have a number, else as given.
    init(_ inputs: [PageInput], otherwise: Numbering) {
        self = inputs.allSatisfy { $0.number != nil } ? .names : otherwise
    }

    /// The number of the page at this place of the run; nil for one that follows what was there.
    func number(of input: PageInput, at index: Int) -> Int? {
        switch self {
        case .names: input.number
        case .consecutive(let first): first + index
        case .following: index == 0 ? nil : index + 1
        }
    }
}
