import CLMDB

/// Where the id index files a post of a collection. Of an integer id the hash is the id itself, shuffled, so
/// two of a collection never share one, and the check is the collection: two integer ids never share an
/// address. Other ids have 96 bits of a hash whose seed is the cache's secret.
struct PostAddress: Hashable {
    let hash: UInt64
    /// Twice the collection's number for integers, odd for other ids.
    let check: UInt32

    /// Each collection shuffles anew: those that all begin at 1 do not crowd the same slots.
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

    /// The collection, if the id is an integer: of another id its address does not tell.
    var collection: UInt32? { check & 1 == 0 ? check >> 1 : nil }
}

/// One post in one feed: the chunk that holds it, or that it is there no longer.
struct Location {
    /// The position of a post that left.
    static let gone: UInt64 = 0

    var hash: UInt64
    var position: UInt64
    /// Never 0: that is an empty slot.
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

/// Locations in the order of their hashes, each in the slot its hash points to or, if that is taken,
/// in the next free one. Hashes are evenly spread, so a look-up is one jump and a short scan: one cache
/// miss, known or not, without a Bloom filter; and two runs merge in one pass.
///
///     count u64le | slots u64le | slots x (hash u64le, position u64le, feed u32le, check u32le) | checksum u32le
struct SortedRun {
    private static let head = 16
    private static let stride = 24

    private let base: UnsafeRawPointer
    /// Locations in it.
    let count: Int
    private let slots: Int
    private let scale: UInt64

    /// The run in these bytes, which must outlive it; nil if they are not one.
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

    /// Fetches what a look-up will read first. Look-ups wait for memory and little else: asked for together,
    /// a hundred arrive in the time of a few.
    func prefetch(_ address: PostAddress) {
        quire_prefetch(base + home(of: address.hash) &* Self.stride)
    }

    /// The slot of the first location with this hash, nil if there is none.
    @inline(__always)
    func first(hash wanted: UInt64) -> Int? {
        var slot = home(of: wanted)
        while slot < slots {
            let hash = hash(slot)
            // an empty slot has the hash 0, and so may one location
            if hash >= wanted { return hash == wanted && feed(slot) != 0 ? slot : nil }
            if hash == 0 && feed(slot) == 0 { return nil }
            slot &+= 1
        }
        return nil
    }

    /// The slot of the first location with this address, nil if there is none.
    func first(_ address: PostAddress) -> Int? {
        guard var slot = first(hash: address.hash) else { return nil }
        while check(slot) != address.check {
            slot += 1
            guard slot < slots, feed(slot) != 0, hash(slot) == address.hash else { return nil }
        }
        return slot
    }

    /// The location in a slot, nil if it is empty or behind the last.
    func location(_ slot: Int) -> Location? {
        guard slot < slots, feed(slot) != 0 else { return nil }
        let address = PostAddress(hash: hash(slot), check: check(slot))
        return Location(address, feed: feed(slot), position: position(slot))
    }

    /// What this run says about a place: nil if nothing.
    func position(of place: Location) -> UInt64? {
        guard var slot = first(place.address) else { return nil }
        while let location = location(slot), location.address == place.address {
            if location.feed == place.feed { return location.position }
            slot += 1
        }
        return nil
    }

    /// The first location in this slot or behind it.
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

    /// Four of five slots are used: looking up visits three on average, and 30 bytes hold a location.
    private static func scale(_ count: Int) -> UInt64 { UInt64(count + count / 4) }

    private static func ideal(_ hash: UInt64, _ scale: UInt64) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: scale).high)
    }

    /// How many bytes these locations need as a run.
    static func size(of sorted: [Location]) -> Int {
        let scale = scale(sorted.count)
        var next = 0
        for location in sorted { next = max(next, ideal(location.hash, scale)) + 1 }
        return head + (next + 1) * stride + 4
    }

    /// True if these, its own bytes, are what ``write(_:into:)`` makes of its locations: only then every one
    /// of them is found.
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

    /// Writes locations, in order and each place once, as a run into as many zeroed bytes as
    /// ``size(of:)`` says.
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

    /// What these locations, in order, and runs older than them say together, the newest run first: of each
    /// place the newest location. Those of posts that left are dropped if no older run is left that they
    /// could contradict.
    static func merged(
        _ newest: [Location] = [], older newestFirst: [SortedRun], dropsGone: Bool
    ) -> [Location] {
        var result = newest
        for run in newestFirst { result = merge(result, run) }
        if dropsGone { result.removeAll { $0.position == Location.gone } }
        return result
    }

    private static func merge(_ newer: [Location], _ older: SortedRun) -> [Location] {
        let limit = newer.count + older.slots  // a damaged run may hold more than its count says
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

/// A run in memory: locations that a write session has not stored yet.
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
