/// Positions of a feed whose chunks left as a whole: what older runs have there is gone. It says what each
/// post of a pruned page would have to say otherwise.
///
///     run 3   newest     feed 1: 5...9 left
///     run 2              7→12
///     run 1   oldest     7→5   8→6   9→4       8 is gone; 7 is in chunk 12, and 9 in chunk 4
struct GoneRange: Hashable {
    var feed: UInt32
    /// The first and the last position; never 0.
    var first: UInt64
    var last: UInt64

    init(feed: UInt32, _ positions: ClosedRange<UInt64>) {
        (self.feed, first, last) = (feed, positions.lowerBound, positions.upperBound)
    }

    func contains(_ position: UInt64) -> Bool { first <= position && position <= last }

    private func precedes(_ other: GoneRange) -> Bool {
        feed == other.feed ? first < other.first : feed < other.feed
    }

    /// True if there is a position after this range and before the other one, which does not precede it.
    fileprivate func isApart(from other: GoneRange) -> Bool {
        feed != other.feed || last < .max && last + 1 < other.first
    }

    /// Returns the same positions in as few ranges as possible, in order.
    static func union(_ ranges: [GoneRange]) -> [GoneRange] {
        if ranges.count < 2 { return ranges }
        var united: [GoneRange] = []
        united.reserveCapacity(ranges.count)
        for range in ranges.sorted(by: { $0.precedes($1) }) {
            if let last = united.last, !last.isApart(from: range) {
                united[united.count - 1].last = max(last.last, range.last)
            } else {
                united.append(range)
            }
        }
        return united
    }
}

/// Encoded ranges, in order and apart from each other.
///
///     count x (first u64le, last u64le, feed u64le)
struct GoneRanges: RandomAccessCollection {
    private static let stride = 24

    private let base: UnsafeRawPointer
    let count: Int
    var startIndex: Int { 0 }
    var endIndex: Int { count }

    /// Reads ranges, which fill these bytes. Returns nil if there is a part of one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count.isMultiple(of: Self.stride), let start = bytes.baseAddress else { return nil }
        (base, count) = (start, bytes.count / Self.stride)
    }

    private func word(_ i: Int, _ offset: Int) -> UInt64 {
        let at = i &* Self.stride &+ offset
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }

    subscript(i: Int) -> GoneRange {
        var range = GoneRange(feed: UInt32(truncatingIfNeeded: word(i, 16)), 0...0)
        (range.first, range.last) = (word(i, 0), word(i, 8))
        return range
    }

    /// Returns true if the bytes are as ``write(_:into:)`` writes them.
    var isAsWritten: Bool {
        for i in 0..<count {
            let range = self[i]
            if range.first == 0 || range.last < range.first || range.feed == 0 || word(i, 16) >> 32 != 0 {
                return false
            }
            if i == 0 { continue }
            let above = self[i - 1]
            if above.feed > range.feed || above.feed == range.feed && above.first >= range.first {
                return false
            }
            if !above.isApart(from: range) { return false }
        }
        return true
    }

    static func size(of ranges: [GoneRange]) -> Int { ranges.count * stride }

    /// Writes what ``GoneRange/union(_:)`` returned into ``size(of:)`` bytes.
    static func write(_ ranges: [GoneRange], into target: UnsafeMutableRawBufferPointer) {
        for (i, range) in ranges.enumerated() {
            target.storeBytes(of: range.first.littleEndian, toByteOffset: i * stride, as: UInt64.self)
            target.storeBytes(of: range.last.littleEndian, toByteOffset: i * stride + 8, as: UInt64.self)
            target.storeBytes(
                of: UInt64(range.feed).littleEndian, toByteOffset: i * stride + 16, as: UInt64.self)
        }
    }
}

extension RandomAccessCollection<GoneRange> where Index == Int {
    /// Returns true if one of these ranges, which are ordered and apart from each other, has a position of a
    /// feed.
    func contains(_ position: UInt64, of feed: UInt32) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let range = self[middle]
            if range.feed < feed || range.feed == feed && range.first <= position {
                low = middle + 1
            } else {
                high = middle
            }
        }
        if low == 0 { return false }
        let range = self[low - 1]
        return range.feed == feed && range.contains(position)
    }
}
