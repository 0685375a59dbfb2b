/// A set of page numbers: a small hash table of a few, or else a bit for each page of the file.
///
/// The look at each open mostly finds a few hundred. A bit for each page is memory that the system clears
/// first, 32 kB for a gigabyte, so that an open took longer the larger the file was.
struct PageSet {
    /// At least every second slot is free. The table does not grow: a file could choose pages whose slots are
    /// the same.
    private static let slots = 1 << 10

    /// The bits; or, as long as `few` is not nil, the slots: a page number plus one, 0 in a free slot.
    private var words: [UInt64]
    /// How many pages there are.
    private var few: Int?
    private let count: UInt64

    /// The number of words that have a bit for each page.
    private static func words(_ count: UInt64) -> Int { Int(count / 64 + 1) }

    /// An empty set of pages with numbers below `count`.
    init(count: UInt64) {
        self.count = count
        words = Array(repeating: 0, count: min(Self.words(count), Self.slots))
        few = words.count < Self.slots ? nil : 0
    }

    /// Adds a page. Returns false if it was already there or is out of range.
    mutating func insert(_ page: UInt64) -> Bool {
        if page >= count { return false }
        guard let few else { return insertBit(page) }
        let slot = slot(of: page)
        if words[slot] != 0 { return false }
        words[slot] = page + 1
        self.few = few + 1
        if 2 * (few + 1) > Self.slots { spread() }
        return true
    }

    private mutating func insertBit(_ page: UInt64) -> Bool {
        let bit = UInt64(1) << (page % 64)
        if words[Int(page / 64)] & bit != 0 { return false }
        words[Int(page / 64)] |= bit
        return true
    }

    private mutating func spread() {
        let slots = words
        (words, few) = (Array(repeating: 0, count: Self.words(count)), nil)
        for slot in slots where slot != 0 { _ = insertBit(slot - 1) }
    }

    /// Returns the slot of a page, or the free slot where it belongs.
    private func slot(of page: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: page &* 0x9E37_79B9_7F4A_7C15 >> 32) & (Self.slots - 1)
        while words[slot] != 0, words[slot] != page + 1 { slot = (slot + 1) & (Self.slots - 1) }
        return slot
    }

    func contains(_ page: UInt64) -> Bool {
        if page >= count { return false }
        if few != nil { return words[slot(of: page)] != 0 }
        return words[Int(page / 64)] & UInt64(1) << (page % 64) != 0
    }

    func firstMissing(from start: UInt64) -> UInt64? {
        var page = start
        while page < count {
            if few == nil, page % 64 == 0, words[Int(page / 64)] == .max {
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
