/// Where pages were found that are read by their numbers. A program that shows pages comes to the same ones
/// again and again, and their records and chunks lie far apart in memory. The table grows with the pages that
/// are read; one that is new displaces an older one in its slot.
struct FoundPages {
    struct Page {
        var start: UInt64 = 0
        var count = 0
        /// The commit in which the page was found, and the map: the rest is true only there.
        var place = PagePlace()
    }

    private struct Slot {
        var feed: UInt32 = 0
        var number: UInt64 = 0
        var page = Page()
    }

    private var slots: UnsafeMutablePointer<Slot>?
    /// The number of slots, a power of two.
    private var count = 0
    /// How many of them have a page.
    private var used = 0

    private static let least = 32
    /// 3.5 MB, in a process that has read as many pages.
    private static let most = 1 << 15

    /// Returns what was noted of a page last, in any commit.
    subscript(number: UInt64, feed: UInt32) -> Page? {
        guard let slots else { return nil }
        let slot = slots + index(number, feed)
        return slot.pointee.number == number && slot.pointee.feed == feed ? slot.pointee.page : nil
    }

    mutating func note(_ page: Page, _ number: UInt64, _ feed: UInt32) {
        if used * 2 >= count && count < Self.most { grow(to: max(Self.least, 2 * count)) }
        let slot = slots! + index(number, feed)
        if slot.pointee.feed == 0 { used += 1 }  // no feed has the number 0
        slot.pointee = Slot(feed: feed, number: number, page: page)
    }

    /// Pages next to each other have slots next to each other.
    private func index(_ number: UInt64, _ feed: UInt32) -> Int {
        Int(truncatingIfNeeded: number &+ UInt64(feed) &* 0x9E37_79B9_7F4A_7C15) & (count - 1)
    }

    private mutating func grow(to count: Int) {
        let old = UnsafeMutableBufferPointer(start: slots, count: self.count)
        slots = .allocate(capacity: count)
        slots!.initialize(repeating: Slot(), count: count)
        (self.count, used) = (count, 0)
        for slot in old where slot.feed != 0 { note(slot.page, slot.number, slot.feed) }
        old.deallocate()
    }

    mutating func free() {
        slots?.deallocate()
        slots = nil
    }
}
