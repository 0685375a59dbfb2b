/// The entries that a rule added, removed or changed, and what follows from them for the totals of the feed
/// and of its pages. An entry has the same number in both states; all entries of the old one were cached.
struct EntryChanges {
    /// Their numbers, in order.
    private(set) var entries: [Int] = []
    /// Those of the old state.
    private var known = EntrySet()
    /// By how much the totals of the feed change.
    private(set) var counts = FeedCounts()
    /// By how many entries the feed, and each page, grew.
    private(set) var added = 0
    private(set) var pages = NumberTable<Int>()

    init(from old: borrowing FeedState, to new: borrowing FeedState) {
        old.entries.withUnsafeBufferPointer { old in
            new.entries.withUnsafeBufferPointer { new in find(from: old, to: new) }
        }
    }

    private mutating func find(from old: UnsafeBufferPointer<Entry>, to new: UnsafeBufferPointer<Entry>) {
        var found: [Int] = []
        found.reserveCapacity(new.count)
        // adjacent entries that moved between the same pages are counted together
        var (from, to, moved): (UInt64, UInt64, Int) = (0, 0, 0)
        var (counts, added) = (FeedCounts(), 0)
        for entry in new.indices {
            let isKnown = entry < old.count
            let isCached = new[entry].isCached
            if isKnown ? new[entry].isSame(as: old[entry]) : !isCached { continue }
            found.append(entry)
            let nextFrom = isKnown ? old[entry].page : 0
            let nextTo = isCached ? new[entry].page : 0
            if nextFrom != from || nextTo != to {
                move(moved, from: from, to: to)
                (from, to, moved) = (nextFrom, nextTo, 0)
            }
            moved &+= 1
            if isKnown {
                known.insert(entry)
                counts.add(old[entry], -1)
                added &-= 1
            }
            if isCached {
                counts.add(new[entry], 1)
                added &+= 1
            }
        }
        move(moved, from: from, to: to)
        (self.counts, self.added, entries) = (counts, added, found)
    }

    /// Returns true if an entry of the old state was removed or changed.
    @inline(__always)
    func contains(_ entry: Int) -> Bool { known.contains(entry) }

    private mutating func move(_ count: Int, from: UInt64, to: UInt64) {
        if from == to { return }
        if from != 0 { pages.add(-count, to: from) }
        if to != 0 { pages.add(count, to: to) }
    }
}
