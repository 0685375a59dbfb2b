import Quire
import QuireDumps

/// How the pages of a run are numbered.
struct Numbering: Codable, Equatable {
    /// Files are numbered by their names, as long as each of them is one page.
    private var hasNames: Bool
    /// The number of the next page; nil if it follows what was there.
    private var next: Int?
    private var count = 0

    /// By their names.
    static let names = Numbering(hasNames: true, next: nil)
    /// One after the other from a number on.
    static func consecutive(from first: Int) -> Numbering { Numbering(hasNames: false, next: first) }
    /// One after the other; the first takes over the link of the place where the run starts.
    static let following = Numbering(hasNames: false, next: nil)

    private init(hasNames: Bool, next: Int?) { (self.hasNames, self.next) = (hasNames, next) }

    /// By their names if all of them have a number, else as given.
    init(_ inputs: [Input], otherwise: Numbering) {
        self = inputs.allSatisfy { Self.isNumber($0.file.number) } ? .names : otherwise
    }

    private static func isNumber(_ number: Int?) -> Bool { number.map { $0 <= Crawl.numberLimit } ?? false }

    /// The number of the next page of the run, which may be the first of a file with a number; nil for
    /// one that follows what was there.
    mutating func number(of page: InputPage) -> Int? {
        if page.number == nil { hasNames = false }
        let number = hasNames ? page.number : next
        count += 1
        next = number.map { $0 + 1 } ?? (count + 1)
        return number
    }
}
