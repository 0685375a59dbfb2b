/// By how much the numbers of rows and pages at a position have changed. Rows are the posts of a chunk and the
/// gap directly above it; a page is where its first chunk is.
struct RankChange: Equatable {
    var position: UInt64
    var rows = 0
    var pages = 0

    var isEmpty: Bool { rows == 0 && pages == 0 }

    /// Orders changes by position and adds up those at the same one. Leaves out what adds up to nothing.
    static func sum(_ changes: [RankChange]) -> [RankChange] {
        var sums: [RankChange] = []
        sums.reserveCapacity(changes.count)
        for change in changes.sorted(by: { $0.position < $1.position }) {
            if let last = sums.last, last.position == change.position {
                sums[sums.count - 1].rows += change.rows
                sums[sums.count - 1].pages += change.pages
            } else {
                if sums.last?.isEmpty ?? false { sums.removeLast() }
                sums.append(change)
            }
        }
        if sums.last?.isEmpty ?? false { sums.removeLast() }
        return sums
    }
}

/// The changes of one commit, or of several, with all of them above a position added up: the numbers there are
/// found by one bisection. A change alone may be negative; the runs of a feed together never are.
///
///     count x (position u64le, rows i64le, pages i64le) | checksum u32le       rows and pages: up to here
struct RankRun {
    private static let stride = 24

    private let base: UnsafeRawPointer
    let count: Int

    /// Reads the run in these bytes, which must outlive it. Returns nil if they are not a run.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let size = bytes.count - Checksum.size
        guard size >= Self.stride, size % Self.stride == 0, let start = bytes.baseAddress else { return nil }
        (base, count) = (start, size / Self.stride)
    }

    @inline(__always)
    func position(_ i: Int) -> UInt64 {
        UInt64(littleEndian: base.loadUnaligned(fromByteOffset: i &* Self.stride, as: UInt64.self))
    }

    /// Returns the numbers of rows and pages of all changes before the one with this index.
    @inline(__always)
    func sum(before i: Int) -> Ranks {
        if i == 0 { return Ranks() }
        func number(_ offset: Int) -> Int {
            let at = (i &- 1) &* Self.stride &+ offset
            let word = Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self))
            return Int(truncatingIfNeeded: word)
        }
        return Ranks(rows: number(8), pages: number(16))
    }

    /// Returns how many changes in this range are before a position.
    func count(before position: UInt64, in range: Range<Int>) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if self.position(middle) < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func change(_ i: Int) -> RankChange {
        let (above, here) = (sum(before: i), sum(before: i + 1))
        return RankChange(
            position: position(i), rows: here.rows &- above.rows, pages: here.pages &- above.pages)
    }

    /// Returns true if the bytes are as ``encoded(_:)`` writes them.
    var isAsWritten: Bool {
        for i in 0..<count {
            if change(i).isEmpty || (i > 0 && position(i - 1) >= position(i)) { return false }
        }
        return true
    }

    /// Encodes changes that ``RankChange/sum(_:)`` has returned.
    static func encoded(_ changes: [RankChange]) -> [UInt8] {
        var writer = ByteWriter(capacity: changes.count * stride + Checksum.size)
        var sum = Ranks()
        for change in changes {
            sum.rows &+= change.rows
            sum.pages &+= change.pages
            writer.word(change.position)
            writer.word(Int64(sum.rows))
            writer.word(Int64(sum.pages))
        }
        return writer.sealed()
    }
}

/// Numbers of rows and pages.
struct Ranks: Hashable {
    var rows = 0
    var pages = 0
}
