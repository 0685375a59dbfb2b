import Quire
import QuireDumps

/// The page numbers of a run.
struct Numbering: Codable, Equatable {
    /// True if files are numbered by their names, while each of them is one page.
    private(set) var hasNames: Bool
    /// The number of the next page; nil if it follows the cached ones.
    private var next: Int?
    private var count = 0
    /// What stands before the numbers in the names, once there was one.
    private var series: String?

    /// Numbers from the file names.
    static let names = Numbering(hasNames: true, next: nil)
    /// Consecutive numbers from this one on.
    static func consecutive(from first: Int) -> Numbering { Numbering(hasNames: false, next: first) }
    /// Consecutive numbers. The first page takes over the link of the place where the run starts.
    static let following = Numbering(hasNames: false, next: nil)

    private init(hasNames: Bool, next: Int?) { (self.hasNames, self.next) = (hasNames, next) }

    /// Uses the file names if all of them have a number in one series, else the given numbering. Files that
    /// are not known before they are read are numbered by their names as long as that is so.
    init(_ files: [PageFile]?, otherwise: Numbering) {
        guard let files else {
            self = otherwise
            hasNames = true
            return
        }
        self = Self.isSeries(files) ? .names : otherwise
    }

    /// True if all files have a number in one series.
    static func isSeries(_ files: [PageFile]?) -> Bool {
        guard let files, let first = files.first else { return false }
        return files.allSatisfy { isNumber($0.number) && $0.series == first.series }
    }

    /// The numbers between those of the files for which there is no file; at most 256.
    static func missing(in files: [PageFile]) -> [Int] {
        let numbers = Set(files.compactMap(\.number)).sorted()
        var missing: [Int] = []
        for (number, next) in zip(numbers, numbers.dropFirst()) where missing.count < missingLimit {
            missing += (number + 1..<next).prefix(missingLimit - missing.count)
        }
        return missing
    }

    private static let missingLimit = 256

    private static func isNumber(_ number: Int?) -> Bool { number.map { $0 <= Crawl.numberLimit } ?? false }

    /// A file of RSS, Atom or JSON Feed is often named by the date of its poll: `20240501.xml`.
    private static func isDate(of page: InputPage) -> Bool {
        page.kind == .syndication && page.number ?? 0 > 99_999
    }

    /// Returns the number of the next page, which may be the first of a file with a number. Nil for a page
    /// that follows the cached ones.
    mutating func number(of page: InputPage) -> Int? {
        if Self.isNumber(page.number) && !Self.isDate(of: page) {
            if series ?? page.series != page.series { hasNames = false }
            series = page.series
        } else if page.response != nil {
            hasNames = false
        }
        let number = (hasNames ? page.number : nil) ?? next
        count += 1
        next = number.map { $0 + 1 } ?? (count + 1)
        return number
    }
}
