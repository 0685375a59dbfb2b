/// What a commit changed in the id index, or several commits together: one record.
///
///     posts: SortedRun | [marks: SortedRun | ranges x GoneRange] | checksum u32le
///
/// - Locations of posts.
/// - Marks, at the addresses of posts that a second feed came to hold; position 0 when the last one has lost
///   it. A prune asks only these whether its posts may stay elsewhere, and most have no mark. That a post is
///   in one feed again ends no mark: a prune of a long feed would write one for each post that others hold.
/// - Ranges of positions that were pruned. They concern the locations of older records only.
struct IndexRun {
    let posts: SortedRun
    let marks: SortedRun?
    let gone: GoneRanges?

    /// Reads the record in these bytes, which must outlive it. Returns nil if they are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Checksum.size else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - Checksum.size)])
        guard let posts = SortedRun(startOf: bytes) else { return nil }
        self.posts = posts
        if bytes.count == posts.size {
            (marks, gone) = (nil, nil)
            return
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[posts.size...])
        guard let marks = SortedRun(startOf: rest),
            let gone = GoneRanges(UnsafeRawBufferPointer(rebasing: rest[marks.size...]))
        else { return nil }
        (self.marks, self.gone) = (marks, gone)
    }

    /// The number of locations, marks and ranges.
    var count: Int { posts.count + (marks?.count ?? 0) + (gone?.count ?? 0) }

    /// Returns true if the bytes are as ``RunParts/write(into:)`` writes them.
    var isAsWritten: Bool {
        guard let marks, let gone else { return posts.isAsWritten && posts.count > 0 }
        return posts.isAsWritten && marks.isAsWritten && gone.isAsWritten && marks.count + gone.count > 0
    }
}

/// What a run is to hold.
struct RunContents {
    /// Locations and marks, ordered and without duplicates.
    var posts: [Location] = []
    var marks: [Location] = []
    /// Ordered and apart from each other. They do not concern the locations of this run.
    var gone: [GoneRange] = []

    var count: Int { posts.count + marks.count + gone.count }
    var isEmpty: Bool { count == 0 }

    func withParts<Result>(_ body: (RunParts) throws -> Result) rethrows -> Result {
        try posts.withUnsafeBufferPointer { posts in
            try marks.withUnsafeBufferPointer { marks in
                try body(RunParts(posts: posts, marks: marks, gone: gone))
            }
        }
    }
}

/// The same, with locations and marks that are lent.
struct RunParts {
    let posts: UnsafeBufferPointer<Location>
    let marks: UnsafeBufferPointer<Location>
    let gone: [GoneRange]

    var isEmpty: Bool { posts.isEmpty && marks.isEmpty && gone.isEmpty }

    /// The number of bytes of the record.
    var size: Int {
        let size = SortedRun.size(of: posts) + Checksum.size
        if marks.isEmpty && gone.isEmpty { return size }
        return size + SortedRun.size(of: marks) + GoneRanges.size(of: gone)
    }

    /// Writes the record into ``size`` bytes.
    func write(into target: UnsafeMutableRawBufferPointer) {
        func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: target[range])
        }
        let end = target.count - Checksum.size
        if marks.isEmpty && gone.isEmpty {
            SortedRun.write(posts, into: part(0..<end))
        } else {
            let ranges = end - GoneRanges.size(of: gone)
            let start = ranges - SortedRun.size(of: marks)
            SortedRun.write(posts, into: part(0..<start))
            SortedRun.write(marks, into: part(start..<ranges))
            GoneRanges.write(gone, into: part(ranges..<end))
        }
        Checksum.seal(target)
    }
}

/// A run that is not stored.
final class MemoryRun {
    private let bytes: UnsafeMutableRawBufferPointer
    let run: IndexRun

    init(_ contents: RunContents) {
        bytes = contents.withParts { parts in
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: parts.size, alignment: 8)
            parts.write(into: bytes)
            return bytes
        }
        run = IndexRun(UnsafeRawBufferPointer(bytes))!
    }

    deinit { bytes.deallocate() }
}
