import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The memory in which runs are merged, kept for the next merge: the system clears each page of memory that
/// it lends anew, which took a fifth of a commit's time.
///
/// It comes from the system itself. What a large merge had would otherwise stay in the heap of its thread: of
/// what is freed, glibc keeps for each thread up to twice the largest piece that the process ever freed.
///
/// It belongs to the write transaction in progress, so accesses do not overlap, and are not checked.
final class MergeMemory {
    @exclusivity(unchecked) private var memory = UnsafeMutableBufferPointer<Location>(start: nil, count: 0)
    /// The number of locations for which it is kept: 3 MB. After a merge of more it is given back.
    private static let limit = 1 << 17
    /// A first merge takes this many: 200 kB. The system lends only what is used of it.
    private static let smallest = 1 << 13

    /// The memory of an environment's writers.
    static func of(_ progress: WriteProgress) -> MergeMemory {
        // nothing else puts a memory there
        if let kept = progress.mergeMemory { return unsafeDowncast(kept, to: MergeMemory.self) }
        let memory = MergeMemory()
        progress.mergeMemory = memory
        return memory
    }

    deinit { giveBack() }

    private func giveBack() {
        quire_unmap(memory.baseAddress, memory.count * MemoryLayout<Location>.stride)
        memory = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    /// Returns room for `count` locations, of any content.
    private func room(for count: Int) throws(QuireError) -> UnsafeMutableBufferPointer<Location> {
        if count > memory.count {
            var capacity = max(Self.smallest, 2 * memory.count)
            while capacity < count { capacity *= 2 }
            giveBack()
            let size = capacity * MemoryLayout<Location>.stride
            guard let start = quire_map(size) else {
                throw QuireError.system("mmap", "\(size) bytes to merge the id index", errno)
            }
            memory = UnsafeMutableBufferPointer(
                start: start.bindMemory(to: Location.self, capacity: capacity), count: capacity)
        }
        return memory
    }

    /// Merges changes with older runs, newest first, and calls `body` with the result, which is lent until it
    /// returns. `below` are the runs that are still older: what is gone remains only where they have it.
    func merge<Result>(
        _ new: RunContents, over runs: [IndexRun], below: [IndexRun], _ body: (RunParts) throws -> Result
    ) throws -> Result {
        let ofPosts = runs.reduce(new.posts.count) { $0 + $1.posts.count }
        let ofMarks = runs.reduce(new.marks.count) { $0 + ($1.marks?.count ?? 0) }
        let room = try room(for: ofPosts + ofMarks)
        defer { if memory.count > Self.limit { giveBack() } }
        var posts = MergedLocations(new.posts, in: UnsafeMutableBufferPointer(rebasing: room[..<ofPosts]))
        var marks = MergedLocations(
            new.marks, in: UnsafeMutableBufferPointer(rebasing: room[ofPosts..<ofPosts + ofMarks]))
        var gone = new.gone
        for (i, run) in runs.enumerated() {
            if gone.isEmpty {
                posts.add(older: run.posts)
            } else {
                gone = GoneRange.union(gone)
                posts.add(
                    older: run.posts, without: gone,
                    unlessIn: runs[(i + 1)...].map(\.posts) + below.map(\.posts))
            }
            if let more = run.marks { marks.add(older: more) }
            if let ranges = run.gone, ranges.count > 0 { gone += ranges }
        }
        posts.removeGone(unlessIn: below.map(\.posts))
        marks.removeGone(unlessIn: below.compactMap(\.marks))
        return try body(
            RunParts(
                posts: posts.merged, marks: marks.merged, gone: below.isEmpty ? [] : GoneRange.union(gone)))
    }
}
