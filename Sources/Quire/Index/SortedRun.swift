import CLMDB

/// The address of a post in the id index. The hash of an integer id is the shuffled id, so two ids of a
/// collection never share one, and `check` is the collection: two integer ids never share an address. Other
/// ids have 96 bits of a hash whose seed is a secret of the cache.
struct PostAddress: Hashable {
    let hash: UInt64
    /// Twice the collection's number for integers; odd for other ids.
    let check: UInt32

    /// Shuffles ids differently in each collection, so that collections that all begin at 1 use different
    /// slots.
    init(_ id: PostID, in collection: UInt32, seed: UInt64) {
        let seed = seed ^ UInt64(collection) &* 0x9E37_79B9_7F4A_7C15
        switch id.storage {
        case .integer(let number):
            var word = number ^ seed
            word = (word ^ word >> 33) &* 0xFF51_AFD7_ED55_8CCD
            word = (word ^ word >> 33) &* 0xC4CE_B9FE_1A85_EC53
            (hash, check) = (word ^ word >> 33, collection << 1)
        case .bytes(let bytes):
            hash = bytes.withUnsafeBytes { IDHash.of($0, seed: seed) }
            let other = bytes.withUnsafeBytes { IDHash.of($0, seed: ~seed) }
            check = UInt32(truncatingIfNeeded: other) | 1
        }
    }

    init(hash: UInt64, check: UInt32) { (self.hash, self.check) = (hash, check) }

    /// The collection of an integer id. The address of another id does not contain it.
    var collection: UInt32? { check & 1 == 0 ? check >> 1 : nil }
}

/// A post in a feed: the chunk that holds it, or that it has left.
struct Location {
    /// The position that marks a post that left.
    static let gone: UInt64 = 0

    var hash: UInt64
    var position: UInt64
    /// Never 0, which marks an empty slot.
    var feed: UInt32
    var check: UInt32

    init(_ address: PostAddress, feed: UInt32, position: UInt64) {
        (hash, check) = (address.hash, address.check)
        (self.feed, self.position) = (feed, position)
    }

    var address: PostAddress { PostAddress(hash: hash, check: check) }

    func isSamePlace(as other: Location) -> Bool {
        hash == other.hash && feed == other.feed && check == other.check
    }

    func precedes(_ other: Location) -> Bool {
        if hash != other.hash { return hash < other.hash }
        if check != other.check { return check < other.check }
        return feed < other.feed
    }

    /// Returns the locations in this order. Hashes are evenly distributed, so each is put directly near its place:
    /// O(n), and O(n log n) for many locations with the same hash.
    static func sorted(_ locations: [Location]) -> [Location] {
        let count = locations.count
        if count < 8 { return locations.sorted { $0.precedes($1) } }
        func bucket(_ location: Location) -> Int {
            Int(truncatingIfNeeded: location.hash.multipliedFullWidth(by: UInt64(count)).high)
        }
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: count + 1) { ends in
            ends.initialize(repeating: 0)
            for location in locations { ends[bucket(location)] &+= 1 }
            var end: Int32 = 0
            for i in 0..<count {
                end &+= ends[i]
                ends[i] = end
            }
            return [Location](unsafeUninitializedCapacity: count) { sorted, initialized in
                for location in locations.reversed() {
                    let bucket = bucket(location)
                    ends[bucket] &-= 1
                    sorted.initializeElement(at: Int(ends[bucket]), to: location)
                }
                initialized = count
                ends[count] = end
                // what was the end of a bucket is its start now
                for i in 0..<count where ends[i + 1] - ends[i] > 1 {
                    sorted[Int(ends[i])..<Int(ends[i + 1])].sort { $0.precedes($1) }
                }
            }
        }
    }
}

/// Locations in the order of their hashes, each in the slot of its hash or the next free one, and a Bloom filter
/// behind them. Hashes are evenly distributed, so a look-up is one jump and a short scan; most look-ups of posts
/// that the run does not have end at one word of the filter. Several runs are merged in one pass.
///
///     count u64le | slots u64le | slots x (hash u64le, position u64le, feed u32le, check u32le)
///         | words x u64le | checksum u32le
struct SortedRun {
    private static let head = 16
    private static let stride = 24

    private let base: UnsafeRawPointer
    /// The number of its locations.
    let count: Int
    private let slots: Int
    private let scale: UInt64
    private let filter: UnsafeRawPointer
    private let words: UInt64

    /// Reads the run in these bytes, which must outlive it. Returns nil if they are not a run.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.head + Checksum.size, let start = bytes.baseAddress else { return nil }
        let count = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self))
        let slots = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard count < slots, slots <= UInt64(bytes.count / Self.stride),
            bytes.count == Self.size(slots: Int(slots), count: Int(count))
        else { return nil }
        base = start + Self.head
        (self.count, self.slots) = (Int(count), Int(slots))
        scale = Self.scale(self.count)
        filter = base + self.slots * Self.stride
        words = UInt64(Self.words(self.count))
    }

    // MARK: Looking up

    @inline(__always)
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    @inline(__always)
    private func word(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: words).high) &* 8
    }

    /// True if the run is mostly in the processor's caches, so that prefetching is not worth its instructions.
    var isSmall: Bool { slots < 4096 }

    /// Prefetches what ``mayHave(_:_:)`` reads. Look-ups mostly wait for memory: a hundred prefetches together
    /// take as long as a few.
    @inline(__always)
    func prefetchFilter(_ hash: UInt64) { quire_prefetch(filter + word(of: hash)) }

    /// Returns false if the run has no location with this hash, whose bits these are. One of 200 times it returns
    /// true then, too.
    @inline(__always)
    func mayHave(_ hash: UInt64, _ bits: UInt64) -> Bool {
        UInt64(littleEndian: filter.loadUnaligned(fromByteOffset: word(of: hash), as: UInt64.self))
            & bits == bits
    }

    /// Prefetches what a look-up in the slots reads first.
    @inline(__always)
    func prefetch(_ hash: UInt64) { quire_prefetch(base + home(of: hash) &* Self.stride) }

    /// Returns the slot of the first location with this hash; nil if there is none.
    @inline(__always)
    func first(hash wanted: UInt64) -> Int? {
        var slot = home(of: wanted)
        while slot < slots {
            let hash = hash(slot)
            // an empty slot has the hash 0, which one location may have too
            if hash >= wanted { return hash == wanted && feed(slot) != 0 ? slot : nil }
            if hash == 0 && feed(slot) == 0 { return nil }
            slot &+= 1
        }
        return nil
    }

    /// Calls `body` with each location of this address, until it returns true. There is one for each feed. Returns
    /// whether `body` did.
    @inline(__always) @discardableResult
    func search(at address: PostAddress, _ body: (Location) -> Bool) -> Bool {
        let wanted = address.hash
        var at = base + home(of: wanted) &* Self.stride
        let end = base + slots &* Self.stride
        // An empty slot has the hash 0, which is above all others here; a location may have it too.
        while at < end {
            let hash = Self.word(at)
            guard hash &- 1 < wanted &- 1 || hash == 0 && wanted != 0 && Self.word32(at + 16) != 0 else {
                break
            }
            at += Self.stride
        }
        while at < end, Self.word(at) == wanted {
            let feed = Self.word32(at + 16)
            if feed == 0 { return false }
            if Self.word32(at + 20) == address.check,
                body(Location(address, feed: feed, position: Self.word(at + 8)))
            {
                return true
            }
            at += Self.stride
        }
        return false
    }

    /// Returns the location in a slot; nil if the slot is empty or after the last.
    @inline(__always)
    func location(_ slot: Int) -> Location? {
        guard slot < slots, feed(slot) != 0 else { return nil }
        return stored(slot)
    }

    @inline(__always)
    private func stored(_ slot: Int) -> Location {
        let address = PostAddress(hash: hash(slot), check: check(slot))
        return Location(address, feed: feed(slot), position: position(slot))
    }

    /// Returns the first location in this slot or after it.
    @inline(__always)
    func next(from slot: Int) -> (slot: Int, location: Location)? {
        var slot = slot
        while slot < slots {
            if feed(slot) != 0 { return (slot, stored(slot)) }
            slot &+= 1
        }
        return nil
    }

    @inline(__always)
    private static func word(_ at: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
    }
    @inline(__always)
    private static func word32(_ at: UnsafeRawPointer) -> UInt32 {
        UInt32(littleEndian: at.loadUnaligned(as: UInt32.self))
    }
    @inline(__always)
    private func hash(_ slot: Int) -> UInt64 { Self.word(base + slot &* Self.stride) }
    @inline(__always)
    private func position(_ slot: Int) -> UInt64 { Self.word(base + slot &* Self.stride + 8) }
    @inline(__always)
    private func feed(_ slot: Int) -> UInt32 { Self.word32(base + slot &* Self.stride + 16) }
    @inline(__always)
    private func check(_ slot: Int) -> UInt32 { Self.word32(base + slot &* Self.stride + 20) }

    // MARK: Building

    /// Returns the slots for `count` locations. With four of five in use, a look-up visits three on average,
    /// and a location takes 30 bytes.
    private static func scale(_ count: Int) -> UInt64 { UInt64(count + count / 4) }

    @inline(__always)
    private static func ideal(_ hash: UInt64, _ scale: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    /// Returns the words of the filter for `count` locations: 16 bits for each.
    private static func words(_ count: Int) -> Int { count / 4 + 1 }

    /// Returns the four bits of a hash in its word of the filter. The word follows from the highest bits of
    /// the hash, so these are taken from the others.
    @inline(__always)
    static func bits(_ hash: UInt64) -> UInt64 {
        let mixed = hash &* 0x9E37_79B9_7F4A_7C15
        return 1 &<< (mixed &>> 58) | 1 &<< (mixed &>> 52) | 1 &<< (mixed &>> 46) | 1 &<< (mixed &>> 40)
    }

    private static func size(slots: Int, count: Int) -> Int {
        head + slots * stride + words(count) * 8 + Checksum.size
    }

    /// Returns the size of a run of these locations in bytes.
    static func size(of sorted: [Location]) -> Int {
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted { next = max(next, ideal(location.hash, scale)) + 1 }
        return size(slots: next + 1, count: sorted.count)
    }

    /// Returns true if the bytes are as ``write(_:into:)`` writes them. Only then can every location be
    /// found.
    func isAsWritten(in bytes: UnsafeRawBufferPointer) -> Bool {
        var (next, found) = (0, 0)
        var last: Location?
        var expected = [UInt64](repeating: 0, count: Int(words))
        for slot in 0..<slots {
            guard let location = location(slot) else {
                if hash(slot) | position(slot) | UInt64(check(slot)) != 0 { return false }
                continue
            }
            if let last, !last.precedes(location) { return false }
            next = max(next, home(of: location.hash))
            if slot != next { return false }
            expected[word(of: location.hash) / 8] |= Self.bits(location.hash)
            (last, next, found) = (location, next + 1, found + 1)
        }
        let isFilter = expected.indices.allSatisfy {
            UInt64(littleEndian: filter.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
                == expected[$0]
        }
        return isFilter && found == count && slots == next + 1
    }

    /// Writes ordered locations without duplicates as a run into zeroed bytes, ``size(of:)`` of them.
    static func write(_ sorted: [Location], into target: UnsafeMutableRawBufferPointer) {
        let words = words(sorted.count)
        let slots = (target.count - head - words * 8 - Checksum.size) / stride
        let start = target.baseAddress!
        start.storeBytes(of: UInt64(sorted.count).littleEndian, as: UInt64.self)
        start.storeBytes(of: UInt64(slots).littleEndian, toByteOffset: 8, as: UInt64.self)
        let filter = start + head + slots * stride
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted {
            next = max(next, ideal(location.hash, scale))
            let at = start + (head &+ next &* stride)
            at.storeBytes(of: location.hash.littleEndian, as: UInt64.self)
            at.storeBytes(of: location.position.littleEndian, toByteOffset: 8, as: UInt64.self)
            at.storeBytes(of: location.feed.littleEndian, toByteOffset: 16, as: UInt32.self)
            at.storeBytes(of: location.check.littleEndian, toByteOffset: 20, as: UInt32.self)
            let word = filter + ideal(location.hash, UInt64(words)) &* 8
            let before = UInt64(littleEndian: word.loadUnaligned(as: UInt64.self))
            word.storeBytes(of: (before | bits(location.hash)).littleEndian, as: UInt64.self)
            next &+= 1
        }
        Checksum.seal(target)
    }

    // MARK: Merging

    /// Calls `body` with the locations of all these runs in order, and of each post in each feed with that of
    /// the newest run, until it returns false.
    @inline(__always)
    static func forEach(ofNewestFirst runs: [SortedRun], _ body: (Location) -> Bool) {
        withUnsafeTemporaryAllocation(of: Head.self, capacity: runs.count) { heads in
            var open = 0
            for run in runs {
                guard let first = run.next(from: 0) else { continue }
                heads.initializeElement(
                    at: open, to: Head(run: run, slot: first.slot, location: first.location))
                open += 1
            }
            while open > 0 {
                var least = 0
                var i = 1
                while i < open {
                    if heads[i].location.precedes(heads[least].location) { least = i }
                    i &+= 1
                }
                let location = heads[least].location  // the newest, as the first of equal ones
                if !body(location) { return }
                i = least
                while i < open {
                    if !heads[i].location.isSamePlace(as: location) {
                        i &+= 1
                    } else if let next = heads[i].run.next(from: heads[i].slot &+ 1) {
                        (heads[i].slot, heads[i].location) = next
                        i &+= 1
                    } else {
                        open -= 1
                        for later in i..<open { heads[later] = heads[later + 1] }
                    }
                }
            }
        }
    }

    /// The next location of a run that is being merged.
    private struct Head {
        let run: SortedRun
        var slot: Int
        var location: Location
    }

    /// Merges runs and keeps the newest location of each post in each feed. Locations of posts that left are
    /// dropped if there is no older run that they must override.
    static func merged(newestFirst runs: [SortedRun], dropsGone: Bool) -> [Location] {
        var result: [Location] = []
        result.reserveCapacity(min(runs.reduce(0) { $0 + $1.slots }, PostIndex.mergeLimit))
        forEach(ofNewestFirst: runs) {
            if !dropsGone || $0.position != Location.gone { result.append($0) }
            return true
        }
        return result
    }
}

/// A run in memory, with locations that a write session has not stored yet.
final class FreshRun {
    private let bytes: UnsafeMutableRawBufferPointer
    let run: SortedRun

    init(_ sorted: [Location]) {
        let size = SortedRun.size(of: sorted)
        bytes = .allocate(byteCount: size, alignment: 8)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        SortedRun.write(sorted, into: bytes)
        run = SortedRun(UnsafeRawBufferPointer(bytes))!
    }

    deinit { bytes.deallocate() }
}
