/// The address of a post in the id index. The hash of an integer id is the shuffled id, so two ids of a
/// collection never share one, and `check` is the collection: two integer ids never share an address. Other
/// ids have 96 bits of a hash whose seed is a secret of the cache.
struct PostAddress: Hashable {
    let hash: UInt64
    /// Twice the collection's number for integers; odd for other ids.
    let check: UInt32

    @inline(__always)
    init(_ id: PostID, in collection: UInt32, seed: UInt64) {
        switch id.storage {
        case .integer(let number): self = Self.of(number, in: collection, seed: seed)
        case .bytes(let bytes): self.init(text: bytes, seed: Self.seed(seed, of: collection))
        }
    }

    @inline(never)
    private init(text: [UInt8], seed: UInt64) {
        let (hash, other) = text.withUnsafeBytes { IDHash.of($0, key: (seed, ~seed)) }
        self.init(hash: hash, check: UInt32(truncatingIfNeeded: other) | 1)
    }

    /// Returns the address of an integer id.
    @inline(__always)
    static func of(_ number: UInt64, in collection: UInt32, seed: UInt64) -> PostAddress {
        var word = number ^ Self.seed(seed, of: collection)
        word = (word ^ word >> 33) &* 0xFF51_AFD7_ED55_8CCD
        word = (word ^ word >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return PostAddress(hash: word ^ word >> 33, check: collection << 1)
    }

    /// Shuffles ids differently in each collection, so that collections that all begin at 1 use different
    /// slots.
    @inline(__always)
    private static func seed(_ seed: UInt64, of collection: UInt32) -> UInt64 {
        seed ^ UInt64(collection) &* 0x9E37_79B9_7F4A_7C15
    }

    init(hash: UInt64, check: UInt32) { (self.hash, self.check) = (hash, check) }

    /// The collection of an integer id. The address of another id does not contain it.
    var collection: UInt32? { check & 1 == 0 ? check >> 1 : nil }
}

/// A post in a feed: the chunk that holds it, or that it has left.
struct Location {
    /// The position that marks a post that left.
    static let gone: UInt64 = 0
    /// No location, as an empty slot has it.
    static let none = Location(PostAddress(hash: 0, check: 0), feed: 0, position: 0)

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

    /// Returns the locations in this order. Hashes are evenly distributed, so each is put directly near its
    /// place: O(n), and O(n log n) for many locations with the same hash.
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
