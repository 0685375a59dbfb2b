/// By how much the numbers of rows and pages at a position have changed. Rows are the posts of a chunk and
/// the gap directly above it; a page is where its first chunk is.
struct RankChange: Equatable {
    var position: UInt64
    var rows = 0
    var pages = 0

    var isEmpty: Bool { rows == 0 && pages == 0 }

    /// Orders changes by position and adds up those at the same one. Leaves out what adds up to nothing.
    static func sum(_ changes: [RankChange]) -> [RankChange] {
        var changes = changes
        for i in 1..<max(1, changes.count) where changes[i].position < changes[i - 1].position {
            changes.sort { $0.position < $1.position }
            break
        }
        var count = 0
        for i in changes.indices {
            let change = changes[i]
            if count > 0, changes[count - 1].position == change.position {
                changes[count - 1].add(change)
            } else {
                if count > 0, changes[count - 1].isEmpty { count -= 1 }
                changes[count] = change
                count += 1
            }
        }
        if count > 0, changes[count - 1].isEmpty { count -= 1 }
        changes.removeLast(changes.count - count)
        return changes
    }

    /// Adds up ordered changes and those of a run.
    static func sum(_ changes: [RankChange], _ run: RankRun) -> [RankChange] {
        var sums: [RankChange] = []
        sums.reserveCapacity(changes.count + run.count)
        var (i, j) = (0, 0)
        var above = Ranks()
        while i < changes.count || j < run.count {
            var next = RankChange(position: .max)
            let isOfRun = j < run.count && (i == changes.count || run.position(j) <= changes[i].position)
            if isOfRun {
                let sum = run.sum(before: j + 1)
                next = RankChange(
                    position: run.position(j), rows: sum.rows &- above.rows,
                    pages: sum.pages &- above.pages)
                above = sum
                j += 1
            }
            if i < changes.count && (!isOfRun || changes[i].position == next.position) {
                next.position = changes[i].position
                next.add(changes[i])
                i += 1
            }
            if !next.isEmpty { sums.append(next) }
        }
        return sums
    }

    private mutating func add(_ other: RankChange) {
        rows &+= other.rows
        pages &+= other.pages
    }
}

/// The changes of one commit, or of several, with all of them above a position added up: the numbers there
/// are found by one bisection. A change alone may be negative; the runs of a feed together never are.
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

    /// Returns true if the bytes are as ``write(_:into:)`` writes them.
    var isAsWritten: Bool {
        for i in 0..<count {
            if change(i).isEmpty || (i > 0 && position(i - 1) >= position(i)) { return false }
        }
        return true
    }

    static func size(of changes: [RankChange]) -> Int { changes.count * stride + Checksum.size }

    /// Writes changes that ``RankChange/sum(_:)`` has returned into ``size(of:)`` bytes.
    static func write(_ changes: [RankChange], into target: UnsafeMutableRawBufferPointer) {
        var sum = Ranks()
        let start = target.baseAddress!
        for (i, change) in changes.enumerated() {
            sum.rows &+= change.rows
            sum.pages &+= change.pages
            let at = start + i &* stride
            at.storeBytes(of: change.position.littleEndian, as: UInt64.self)
            at.storeBytes(of: Int64(sum.rows).littleEndian, toByteOffset: 8, as: Int64.self)
            at.storeBytes(of: Int64(sum.pages).littleEndian, toByteOffset: 16, as: Int64.self)
        }
        Checksum.seal(target)
    }
}

/// Numbers of rows and pages.
struct Ranks: Hashable {
    var rows = 0
    var pages = 0
}
