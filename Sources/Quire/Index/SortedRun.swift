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
            hash = bytes.withUnsafeBytes { Checksum.of($0, seed: seed) }
            let other = bytes.withUnsafeBytes { Checksum.of($0, seed: ~seed) }
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
}

/// Locations in the order of their hashes, each in the slot of its hash or the next free one. Hashes are
/// evenly distributed, so a look-up is one jump and a short scan, with one cache miss, found or not, and
/// without a Bloom filter. Two runs are merged in one pass.
///
///     count u64le | slots u64le | slots x (hash u64le, position u64le, feed u32le, check u32le) | checksum u32le
struct SortedRun {
    private static let head = 16
    private static let stride = 24

    private let base: UnsafeRawPointer
    /// The number of its locations.
    let count: Int
    private let slots: Int
    private let scale: UInt64

    /// Reads the run in these bytes, which must outlive it. Returns nil if they are not a run.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.head + 4, let start = bytes.baseAddress else { return nil }
        let count = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self))
        let slots = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard count < slots, slots == UInt64((bytes.count - Self.head - 4) / Self.stride) else {
            return nil
        }
        base = start + Self.head
        (self.count, self.slots) = (Int(count), Int(slots))
        scale = Self.scale(self.count)
    }

    // MARK: Looking up

    @inline(__always)
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    /// Prefetches what a look-up reads first. Look-ups mostly wait for memory: a hundred prefetches together
    /// take as long as a few.
    func prefetch(_ address: PostAddress) {
        quire_prefetch(base + home(of: address.hash) &* Self.stride)
    }

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

    /// Returns the slot of the first location with this address; nil if there is none.
    func first(_ address: PostAddress) -> Int? {
        guard var slot = first(hash: address.hash) else { return nil }
        while check(slot) != address.check {
            slot += 1
            guard slot < slots, feed(slot) != 0, hash(slot) == address.hash else { return nil }
        }
        return slot
    }

    /// Returns the location in a slot; nil if the slot is empty or after the last.
    func location(_ slot: Int) -> Location? {
        guard slot < slots, feed(slot) != 0 else { return nil }
        let address = PostAddress(hash: hash(slot), check: check(slot))
        return Location(address, feed: feed(slot), position: position(slot))
    }

    /// Returns the position in this run of a post in a feed; nil if the run has none.
    func position(of place: Location) -> UInt64? {
        guard var slot = first(place.address) else { return nil }
        while let location = location(slot), location.address == place.address {
            if location.feed == place.feed { return location.position }
            slot += 1
        }
        return nil
    }

    /// Returns the first location in this slot or after it.
    func next(from slot: Int) -> (slot: Int, location: Location)? {
        var slot = slot
        while slot < slots {
            if let location = location(slot) { return (slot, location) }
            slot += 1
        }
        return nil
    }

    @inline(__always)
    private func hash(_ slot: Int) -> UInt64 {
        let at = base + (slot &* Self.stride &+ 0)
        return UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
    }
    @inline(__always)
    private func position(_ slot: Int) -> UInt64 {
        let at = base + (slot &* Self.stride &+ 8)
        return UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
    }
    @inline(__always)
    private func feed(_ slot: Int) -> UInt32 {
        let at = base + (slot &* Self.stride &+ 16)
        return UInt32(littleEndian: at.loadUnaligned(as: UInt32.self))
    }
    @inline(__always)
    private func check(_ slot: Int) -> UInt32 {
        let at = base + (slot &* Self.stride &+ 20)
        return UInt32(littleEndian: at.loadUnaligned(as: UInt32.self))
    }

    // MARK: Building

    /// Returns the slots for `count` locations. With four of five in use, a look-up visits three on average,
    /// and a location takes 30 bytes.
    private static func scale(_ count: Int) -> UInt64 { UInt64(count + count / 4) }

    private static func ideal(_ hash: UInt64, _ scale: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    /// Returns the size of a run of these locations in bytes.
    static func size(of sorted: [Location]) -> Int {
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted { next = max(next, ideal(location.hash, scale)) + 1 }
        return head + (next + 1) * stride + 4
    }

    /// Returns true if the bytes are as ``write(_:into:)`` writes them. Only then can every location be
    /// found.
    func isAsWritten(in bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.count != Self.head + slots * Self.stride + 4 { return false }
        var (next, found) = (0, 0)
        var last: Location?
        for slot in 0..<slots {
            guard let location = location(slot) else {
                if hash(slot) | position(slot) | UInt64(check(slot)) != 0 { return false }
                continue
            }
            if let last, !last.precedes(location) { return false }
            next = max(next, home(of: location.hash))
            if slot != next { return false }
            (last, next, found) = (location, next + 1, found + 1)
        }
        return found == count && slots == next + 1
    }

    /// Writes ordered locations without duplicates as a run into zeroed bytes, ``size(of:)`` of them.
    static func write(_ sorted: [Location], into target: UnsafeMutableRawBufferPointer) {
        let slots = UInt64((target.count - head - 4) / stride)
        target.storeBytes(of: UInt64(sorted.count).littleEndian, as: UInt64.self)
        target.storeBytes(of: slots.littleEndian, toByteOffset: 8, as: UInt64.self)
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted {
            next = max(next, ideal(location.hash, scale))
            let at = head + next * stride
            target.storeBytes(of: location.hash.littleEndian, toByteOffset: at, as: UInt64.self)
            target.storeBytes(of: location.position.littleEndian, toByteOffset: at + 8, as: UInt64.self)
            target.storeBytes(of: location.feed.littleEndian, toByteOffset: at + 16, as: UInt32.self)
            target.storeBytes(of: location.check.littleEndian, toByteOffset: at + 20, as: UInt32.self)
            next += 1
        }
        Checksum.seal(target)
    }

    // MARK: Merging

    /// Merges these ordered locations with older runs, newest run first, and keeps the newest location of
    /// each post in each feed. Locations of posts that left are dropped if there is no older run that they
    /// must override.
    static func merged(
        _ newest: [Location] = [], older newestFirst: [SortedRun], dropsGone: Bool
    ) -> [Location] {
        var result = newest
        for run in newestFirst { result = merge(result, run) }
        if dropsGone { result.removeAll { $0.position == Location.gone } }
        return result
    }

    private static func merge(_ newer: [Location], _ older: SortedRun) -> [Location] {
        let limit = newer.count + older.slots  // a damaged run may have more than its count
        return [Location](unsafeUninitializedCapacity: limit) { target, count in
            var at = 0
            for slot in 0..<older.slots where older.feed(slot) != 0 {
                let location = older.location(slot)!
                while at < newer.count, newer[at].precedes(location) {
                    target.initializeElement(at: count, to: newer[at])
                    (at, count) = (at + 1, count + 1)
                }
                if at < newer.count, newer[at].isSamePlace(as: location) { continue }
                target.initializeElement(at: count, to: location)
                count += 1
            }
            while at < newer.count {
                target.initializeElement(at: count, to: newer[at])
                (at, count) = (at + 1, count + 1)
            }
        }
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
