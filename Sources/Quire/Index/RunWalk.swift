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
