// Several sorted runs are read as one.

extension SortedRun {
    /// Calls `body` with the locations of all these runs in order, and of each post in each feed with that of
    /// the newest run, until it returns false. It is told which run that is.
    @inline(__always)
    static func forEach(ofNewestFirst runs: [SortedRun], _ body: (Location, Int) -> Bool) {
        withUnsafeTemporaryAllocation(of: Head.self, capacity: runs.count) { heads in
            var open = 0
            for (i, run) in runs.enumerated() {
                var head = Head(run, i)
                if head.skip() {
                    heads.initializeElement(at: open, to: head)
                    open &+= 1
                }
            }
            while open > 0 {
                var least = 0
                var i = 1
                while i < open {
                    if heads[i].precedes(heads[least]) { least = i }
                    i &+= 1
                }
                let location = heads[least].location  // the newest, as the first of equal ones
                if !body(location, heads[least].run) { return }
                i = least
                while i < open {
                    if heads[i].hash != location.hash || !heads[i].location.isSamePlace(as: location) {
                        i &+= 1
                    } else if heads[i].advance() {
                        i &+= 1
                    } else {
                        open &-= 1
                        for later in i..<open { heads[later] = heads[later &+ 1] }
                    }
                }
            }
        }
    }

    /// The next location of a run that is being merged.
    private struct Head {
        private var at: UnsafeRawPointer
        private let end: UnsafeRawPointer
        private(set) var hash: UInt64 = 0
        let run: Int

        init(_ run: SortedRun, _ number: Int) {
            (at, end) = (run.base, run.base + run.slots &* SortedRun.stride)
            self.run = number
        }

        @inline(__always)
        var location: Location {
            func word<T: FixedWidthInteger>(_ offset: Int) -> T {
                T(littleEndian: at.loadUnaligned(fromByteOffset: offset, as: T.self))
            }
            let address = PostAddress(hash: hash, check: word(20))
            return Location(address, feed: word(16), position: word(8))
        }

        @inline(__always)
        func precedes(_ other: Head) -> Bool {
            hash == other.hash ? location.precedes(other.location) : hash < other.hash
        }

        /// Moves to the next location. Returns false if there is none.
        @inline(__always)
        mutating func advance() -> Bool {
            at += SortedRun.stride
            return skip()
        }

        /// Skips empty slots. Returns false if there are no others.
        @inline(__always)
        mutating func skip() -> Bool {
            while at < end {
                if at.loadUnaligned(fromByteOffset: 16, as: UInt32.self) != 0 {
                    hash = UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
                    return true
                }
                at += SortedRun.stride
            }
            return false
        }
    }
}

/// The memory of the last merge. The system clears each page of memory that is allocated anew, which took a
/// fifth of a commit's time.
///
/// It belongs to the write transaction in progress, so accesses do not overlap, and are not checked.
final class MergeMemory {
    @exclusivity(unchecked) private var locations: [Location] = []
    /// The number of locations for which it is kept: 3 MB. Before a merge of more it is given back.
    private static let limit = 1 << 17

    /// The memory of an environment's writers.
    static func of(_ progress: WriteProgress) -> MergeMemory {
        // nothing else puts a memory there
        if let kept = progress.mergeMemory { return unsafeDowncast(kept, to: MergeMemory.self) }
        let memory = MergeMemory()
        progress.mergeMemory = memory
        return memory
    }

    /// Returns an empty array for a merge of `count` locations. It uses the memory of the last merge.
    func take(for count: Int) -> [Location] {
        defer { locations = [] }
        if count > Self.limit { return [] }
        locations.removeAll(keepingCapacity: true)
        return locations
    }

    /// Keeps the memory of these locations, which are no longer needed.
    func keep(_ merged: [Location]) {
        if merged.capacity <= Self.limit { locations = merged }
    }
}

/// Ordered locations, and room above them for those of older runs, which are merged in place, the newest run
/// first:
///
///     room room room room c e    newest    c e
///     room room a c d e          older     a d     from the room in front of what is there
///     a b c d e                  oldest    b c     its c gives way to the newer one
struct MergedLocations {
    private var all: [Location]
    private var merged: Range<Int>

    /// `room` is the number of the locations of all older runs.
    init(_ newest: [Location], room: Int, in memory: MergeMemory?) {
        all = memory?.take(for: room + newest.count) ?? []
        all.reserveCapacity(room + newest.count)
        all.append(contentsOf: repeatElement(Location.none, count: room))
        all.append(contentsOf: newest)
        merged = room..<all.count
    }

    /// Hands out the locations, after all runs were added. Nothing is left here: another owner of the array
    /// would make its next change a copy.
    mutating func take() -> [Location] {
        if merged.upperBound < all.count { all.removeLast(all.count - merged.upperBound) }
        if merged.lowerBound > 0 { all.removeFirst(merged.lowerBound) }
        defer { all = [] }
        return all
    }

    /// Merges with the locations of an older run. Of those of a post in a feed it keeps the newer one.
    /// `isGone` says which posts of the run have left.
    @inline(__always)
    mutating func add(older run: SortedRun, isGone: (Location) -> Bool) {
        if run.count == 0 { return }
        let start = merged.lowerBound - run.count
        let newer = merged
        let total = all.withUnsafeMutableBufferPointer { all in
            withUnsafeTemporaryAllocation(of: Location.self, capacity: min(Self.step, run.slots)) {
                Self.merge(
                    UnsafeBufferPointer(rebasing: all[newer]), run, $0.baseAddress!, isGone,
                    into: all.baseAddress! + start)
            }
        }
        merged = start..<start + total
    }

    /// How many slots a merge reads at a time: a step stays in the processor's fastest cache.
    private static let step = 512

    /// Merges into the memory directly before `newer` and over it. What is written never reaches what was not
    /// read: there is room for the whole run.
    @inline(__always)
    private static func merge(
        _ newer: UnsafeBufferPointer<Location>, _ run: SortedRun, _ older: UnsafeMutablePointer<Location>,
        _ isGone: (Location) -> Bool, into merged: UnsafeMutablePointer<Location>
    ) -> Int {
        var (slot, left) = (0, run.count)
        var (a, total) = (0, 0)
        while slot < run.slots && left > 0 {
            // Which slots are empty cannot be predicted: each is copied, and then perhaps written over.
            let end = min(slot + step, run.slots)
            var found = 0
            while slot < end {
                let location = run.stored(slot)
                (older + found).initialize(to: location)
                found &+= location.feed != 0 ? 1 : 0
                slot &+= 1
            }
            found = min(found, left)  // a damaged run may have more than it says
            left -= found
            for i in 0..<found where isGone(older[i]) { older[i].position = Location.gone }
            var b = 0
            while a < newer.count && b < found {
                // Nor can be predicted which one comes first; equal hashes are rare.
                var isOlder = older[b].hash < newer[a].hash
                if older[b].hash == newer[a].hash {
                    if newer[a].isSamePlace(as: older[b]) {
                        b &+= 1
                        continue
                    }
                    isOlder = older[b].precedes(newer[a])
                }
                let next = isOlder ? UnsafePointer(older + b) : newer.baseAddress! + a
                merged[total] = next.pointee
                b &+= isOlder ? 1 : 0
                a &+= isOlder ? 0 : 1
                total &+= 1
            }
            if b < found {
                (merged + total).update(from: older + b, count: found - b)
                total += found - b
            }
        }
        if a < newer.count {
            (merged + total).update(from: newer.baseAddress! + a, count: newer.count - a)
            total += newer.count - a
        }
        return total
    }
}
