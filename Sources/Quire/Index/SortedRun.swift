import CLMDB

/// Locations in the order of their hashes, each in the slot of its hash or the next free one, and a Bloom
/// filter behind them. Hashes are evenly distributed, so a look-up is one jump and a short scan; most
/// look-ups of posts that the run does not have end at one word of the filter. Several runs are merged in one
/// pass.
///
///     count u64le | slots u64le | slots x (hash u64le, position u64le, feed u32le, check u32le)
///         | words x u64le
struct SortedRun {
    private static let head = 16
    static let stride = 24

    let base: UnsafeRawPointer
    /// The number of its locations.
    let count: Int
    let slots: Int
    private let scale: UInt64
    private let filter: UnsafeRawPointer
    private let words: UInt64

    /// Reads the run at the start of these bytes, which must outlive it. Returns nil if there is none.
    init?(startOf bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.head, let start = bytes.baseAddress else { return nil }
        let count = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self))
        let slots = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard count < slots, slots <= UInt64(bytes.count / Self.stride),
            Self.size(slots: Int(slots), count: Int(count)) <= bytes.count
        else { return nil }
        base = start + Self.head
        (self.count, self.slots) = (Int(count), Int(slots))
        scale = Self.scale(self.count)
        filter = base + self.slots * Self.stride
        words = UInt64(Self.words(self.count))
    }

    /// The number of its bytes.
    var size: Int { Self.size(slots: slots, count: count) }

    // MARK: Looking up

    @inline(__always)
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    @inline(__always)
    private func word(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: words).high) &* 8
    }

    /// True if the run is mostly in the processor's caches, so that prefetching is not worth its
    /// instructions.
    var isSmall: Bool { slots < 4096 }

    /// Prefetches what ``mayHave(_:_:)`` reads. Look-ups mostly wait for memory: a hundred prefetches
    /// together take as long as a few.
    @inline(__always)
    func prefetchFilter(_ hash: UInt64) { quire_prefetch(filter + word(of: hash)) }

    /// Returns false if the run has no location with this hash, whose bits these are. One of 200 times it
    /// returns true then, too.
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

    /// Calls `body` with each location of this address, until it returns true. There is one for each feed.
    /// Returns whether `body` did.
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
    func stored(_ slot: Int) -> Location {
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

    private static func size(slots: Int, count: Int) -> Int { head + slots * stride + words(count) * 8 }

    /// Returns the size of a run of these locations in bytes.
    static func size(of sorted: UnsafeBufferPointer<Location>) -> Int {
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted { next = max(next, ideal(location.hash, scale)) &+ 1 }
        return size(slots: next + 1, count: sorted.count)
    }

    /// Returns true if the bytes are as ``write(_:into:)`` writes them. Only then can every location be
    /// found.
    var isAsWritten: Bool {
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

    /// Writes ordered locations without duplicates as a run, ``size(of:)`` bytes of any content before.
    static func write(_ sorted: UnsafeBufferPointer<Location>, into target: UnsafeMutableRawBufferPointer) {
        let words = words(sorted.count)
        let slots = (target.count - head - words * 8) / stride
        let start = target.baseAddress!
        start.storeBytes(of: UInt64(sorted.count).littleEndian, as: UInt64.self)
        start.storeBytes(of: UInt64(slots).littleEndian, toByteOffset: 8, as: UInt64.self)
        let filter = start + head + slots * stride
        for i in 0..<words { filter.storeBytes(of: 0, toByteOffset: i &* 8, as: UInt64.self) }
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted {
            let ideal = ideal(location.hash, scale)
            while next < ideal {
                clear(start + (head &+ next &* stride))
                next &+= 1
            }
            let at = start + (head &+ next &* stride)
            at.storeBytes(of: location.hash.littleEndian, as: UInt64.self)
            at.storeBytes(of: location.position.littleEndian, toByteOffset: 8, as: UInt64.self)
            at.storeBytes(of: location.feed.littleEndian, toByteOffset: 16, as: UInt32.self)
            at.storeBytes(of: location.check.littleEndian, toByteOffset: 20, as: UInt32.self)
            let word = filter + Self.ideal(location.hash, UInt64(words)) &* 8
            let before = UInt64(littleEndian: word.loadUnaligned(as: UInt64.self))
            word.storeBytes(of: (before | bits(location.hash)).littleEndian, as: UInt64.self)
            next &+= 1
        }
        while next < slots {
            clear(start + (head &+ next &* stride))
            next &+= 1
        }
    }

    /// Writes an empty slot.
    @inline(__always)
    private static func clear(_ slot: UnsafeMutableRawPointer) {
        for offset in 0..<3 { slot.storeBytes(of: 0, toByteOffset: offset &* 8, as: UInt64.self) }
    }
}
