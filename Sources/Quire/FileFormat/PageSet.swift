/// A set of page numbers: a list of a few, or else a bit for each page of the file.
///
/// The look at each open finds few. A bit for each page would be memory that the system clears first, 32 kB for
/// a file of a gigabyte, which takes longer than the rest of the look.
struct PageSet {
    /// How long the list may become.
    private static let most = 128

    private var few: [UInt64] = []
    /// Empty as long as there are few.
    private var words: [UInt64] = []
    private let count: UInt64

    init(count: UInt64) { self.count = count }

    /// Adds a page. Returns false if it was already there or is out of range.
    mutating func insert(_ page: UInt64) -> Bool {
        if page >= count { return false }
        if words.isEmpty {
            if few.contains(page) { return false }
            few.append(page)
            if few.count > Self.most { spread() }
            return true
        }
        return set(page)
    }

    private mutating func spread() {
        words = Array(repeating: 0, count: Int(count / 64 + 1))
        for page in few { _ = set(page) }
        few = []
    }

    private mutating func set(_ page: UInt64) -> Bool {
        let bit = UInt64(1) << (page % 64)
        if words[Int(page / 64)] & bit != 0 { return false }
        words[Int(page / 64)] |= bit
        return true
    }

    func contains(_ page: UInt64) -> Bool {
        if words.isEmpty { return few.contains(page) }
        return page < count && words[Int(page / 64)] & UInt64(1) << (page % 64) != 0
    }

    func firstMissing(from start: UInt64) -> UInt64? {
        var page = start
        while page < count {
            if page % 64 == 0, !words.isEmpty, words[Int(page / 64)] == .max {
                page += 64
            } else if contains(page) {
                page += 1
            } else {
                return page
            }
        }
        return nil
    }
}
