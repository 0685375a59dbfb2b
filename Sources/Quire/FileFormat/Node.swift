/// A node within a tree's page.
///
///     low u16 | high u16 | flags u16 | key size u16 | key | value, or the number of an overflow page
///
/// `low` and `high` are the size of the value or, in a branch and with `flags` above them, the child.
struct Node {
    private static let head = 8
    private static let big: UInt16 = 1

    let key: Range<Int>
    let value: Range<Int>
    let valueSize: Int
    let child: UInt64
    let isElsewhere: Bool

    /// Returns the first key of a page, even if its nodes are not ours.
    static func firstKey(of page: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let start = Int(page.loadUnaligned(fromByteOffset: PageHeader.size, as: UInt16.self))
        guard start + head <= page.count else { return nil }
        let end = start + head + Int(page.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self))
        return end <= page.count ? UnsafeRawBufferPointer(rebasing: page[(start + head)..<end]) : nil
    }

    fileprivate init?(_ page: UnsafeRawBufferPointer, at start: Int, isLeaf: Bool) {
        guard start % 2 == 0, start + Self.head <= page.count else { return nil }
        func word(_ place: Int) -> UInt16 {
            page.loadUnaligned(fromByteOffset: start + 2 * place, as: UInt16.self)
        }
        let low = UInt64(word(0)) | UInt64(word(1)) << 16
        let flags = word(2)
        let keyEnd = start + Self.head + Int(word(3))
        if isLeaf && flags & ~Self.big != 0 { return nil }
        isElsewhere = isLeaf && flags == Self.big
        valueSize = isLeaf ? Int(low) : 0
        child = low | UInt64(flags) << 32
        let stored = isElsewhere ? 8 : valueSize
        guard keyEnd + stored <= page.count else { return nil }
        key = start + Self.head..<keyEnd
        value = keyEnd..<keyEnd + stored
    }
}

/// The nodes of a tree's page, in the order of its offsets, read in place. They fill the page from `upper` to
/// its end without overlap, which LMDB relies on. No array holds them: the runtime would have to make its
/// type first, which took a fifth of the time of an open.
struct Nodes: RandomAccessCollection {
    private let page: UnsafeRawBufferPointer
    private let isLeaf: Bool
    let endIndex: Int

    var startIndex: Int { 0 }

    /// Returns nil unless the nodes fill the page. The bytes must stay as they are while it is used.
    init?(of page: UnsafeRawBufferPointer, _ header: PageHeader, isLeaf: Bool) {
        let (lower, upper) = (header.lower, header.upper)
        guard lower > PageHeader.size, lower % 2 == 0, lower <= upper, upper <= page.count else {
            return nil
        }
        (self.page, self.isLeaf, endIndex) = (page, isLeaf, (lower - PageHeader.size) / 2)
        if !fills(from: upper) { return nil }
    }

    subscript(place: Int) -> Node { Node(page, at: start(place), isLeaf: isLeaf)! }

    private func start(_ place: Int) -> Int {
        Int(page.loadUnaligned(fromByteOffset: PageHeader.size + 2 * place, as: UInt16.self))
    }

    /// Marks two bytes of the page with each bit. Nodes begin and end at even offsets.
    private func fills(from upper: Int) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: page.count / 128 + 1) { marks in
            marks.initialize(repeating: 0)
            var left = page.count - upper
            for place in indices {
                let start = start(place)
                guard start >= upper, let node = Node(page, at: start, isLeaf: isLeaf) else { return false }
                let end = (node.value.upperBound + 1) & ~1
                left -= end - start
                var at = start / 2
                while at < end / 2 {
                    let count = Swift.min(64 - at % 64, end / 2 - at)
                    let mask = (UInt64.max >> UInt64(64 - count)) << UInt64(at % 64)
                    if marks[at / 64] & mask != 0 { return false }
                    marks[at / 64] |= mask
                    at += count
                }
            }
            return left == 0
        }
    }
}
