import CLMDB

/// Where in memory a page's first chunk and its bodies were found. True in every snapshot of the same commit,
/// as long as the map is where it was: records of a commit do not change or move. So a page that was listed
/// is read without looking for it, and the processor fetches all its parts at once, where a look-up waits for
/// one after the other.
struct PagePlace: @unchecked Sendable {
    // @unchecked: the addresses are used only by snapshots, in which what they lead to does not change.
    /// 0 if the page was not found for a snapshot.
    var map: UInt64 = 0
    var commit: UInt64 = 0
    var chunk = UnsafeRawBufferPointer(start: nil, count: 0)
    var recordNumber: UInt64 = 0
    var record = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The bodies of the page in their record.
    var bodies = 0..<0

    /// Has the processor fetch the chunk, and the beginnings of its bodies.
    func prefetch() {
        guard let first = chunk.baseAddress, let bytes = record.baseAddress else { return }
        for offset in stride(from: 0, to: chunk.count, by: 64) { quire_prefetch(first + offset) }
        Self.prefetch(bytes, bodies)
    }

    /// Has the processor fetch the beginning of this range, and of each page of memory in it. It foresees the
    /// rest once it has seen three lines of a page.
    static func prefetch(_ bytes: UnsafeRawPointer, _ range: Range<Int>) {
        var next = bytes + range.lowerBound
        let end = bytes + range.upperBound
        while next < end {
            for line in 0..<3 { quire_prefetch(next + 64 &* line) }
            next = UnsafeRawPointer(bitPattern: (UInt(bitPattern: next) | 4095) + 1)!
        }
    }
}

extension PagePlace: Hashable {
    /// It is no property of the page.
    static func == (a: PagePlace, b: PagePlace) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
