/// The entries that a rule added, removed or changed, and what follows from them for the totals of the feed and of
/// its pages. An entry has the same number in both states; all entries of the old one were cached.
struct EntryChanges {
    /// Their numbers, in order.
    private(set) var entries: [Int] = []
    private var isChanged = EntrySet()
    /// By how much the totals of the feed change.
    private(set) var counts = FeedCounts()
    /// By how many entries the feed, and each page, grew.
    private(set) var added = 0
    private(set) var pages = NumberTable<Int>()

    init(from old: borrowing FeedState, to new: borrowing FeedState) {
        entries.reserveCapacity(new.entries.count)
        old.entries.withUnsafeBufferPointer { old in
            new.entries.withUnsafeBufferPointer { new in find(from: old, to: new) }
        }
    }

    private mutating func find(from old: UnsafeBufferPointer<Entry>, to new: UnsafeBufferPointer<Entry>) {
        // adjacent entries that moved between the same pages are counted together
        var (from, to, count): (UInt64, UInt64, Int) = (0, 0, 0)
        for entry in new.indices {
            let isKnown = entry < old.count
            let isCached = new[entry].isCached
            if isKnown ? new[entry].isSame(as: old[entry]) : !isCached { continue }
            entries.append(entry)
            isChanged.insert(entry)
            let nextFrom = isKnown ? old[entry].page : 0
            let nextTo = isCached ? new[entry].page : 0
            if nextFrom != from || nextTo != to {
                move(count, from: from, to: to)
                (from, to, count) = (nextFrom, nextTo, 0)
            }
            count += 1
            if isKnown {
                counts.add(old[entry], -1)
                added -= 1
            }
            if isCached {
                counts.add(new[entry], 1)
                added += 1
            }
        }
        move(count, from: from, to: to)
    }

    @inline(__always)
    func contains(_ entry: Int) -> Bool { isChanged.contains(entry) }

    private mutating func move(_ count: Int, from: UInt64, to: UInt64) {
        if from == to { return }
        pages[from] = (pages[from] ?? 0) - count
        pages[to] = (pages[to] ?? 0) + count
    }
}
