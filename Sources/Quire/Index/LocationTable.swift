/// Locations in memory, by the address of their post: those that a write session has not stored yet. Of the
/// locations of a post in a feed it has the one that was added last.
struct LocationTable: ~Copyable {
    /// Open addressing: a location is in the slot of its hash, or in the next free one. `feed` is 0 where
    /// there is none, and at least every second slot is free.
    private var slots = UnsafeMutableBufferPointer<Location>(start: nil, count: 0)
    private(set) var count = 0
    /// What was added last, and is not in the slots: most sessions add once, and look nothing up then.
    private var last: [Location] = []

    deinit { slots.deallocate() }

    private var mask: Int { slots.count &- 1 }

    /// Adds locations, in place of those of the same post in the same feed. No place occurs twice among them.
    mutating func add(_ locations: [Location]) {
        settle()
        last = locations
    }

    /// Puts what was added last into the slots. Only then look-ups find it.
    mutating func settle() {
        if last.isEmpty { return }
        reserve(count + last.count)
        for location in last { put(location) }
        last = []
    }

    private mutating func reserve(_ wanted: Int) {
        if wanted * 2 <= slots.count { return }
        let old = slots
        var capacity = max(64, old.count)
        while capacity < wanted * 2 { capacity *= 2 }
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: .none)
        count = 0
        for location in old where location.feed != 0 { put(location) }
        old.deallocate()
    }

    private mutating func put(_ location: Location) {
        var slot = Int(truncatingIfNeeded: location.hash) & mask
        while slots[slot].feed != 0 {
            if slots[slot].isSamePlace(as: location) {
                slots[slot] = location
                return
            }
            slot = (slot &+ 1) & mask
        }
        slots[slot] = location
        count += 1
    }

    /// Notes that what was added before at these positions is gone.
    mutating func remove(_ ranges: [GoneRange]) {
        settle()
        for slot in slots.indices where slots[slot].feed != 0 {
            let location = slots[slot]
            if ranges.contains(where: { $0.feed == location.feed && $0.contains(location.position) }) {
                slots[slot].position = Location.gone
            }
        }
    }

    /// Calls `body` with each location with this hash, of any post, until it returns true. Returns whether
    /// `body` did.
    @inline(__always) @discardableResult
    func search(hash: UInt64, _ body: (Location) -> Bool) -> Bool {
        if count == 0 { return false }
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot].feed != 0 {
            if slots[slot].hash == hash, body(slots[slot]) { return true }
            slot = (slot &+ 1) & mask
        }
        return false
    }

    /// Calls `body` with each location of this address, until it returns true. Returns whether `body` did.
    @inline(__always) @discardableResult
    func search(at address: PostAddress, _ body: (Location) -> Bool) -> Bool {
        search(hash: address.hash) { $0.check == address.check && body($0) }
    }

    /// Returns all locations, ordered as in a run.
    mutating func sorted() -> [Location] {
        if count == 0 { return last.isEmpty ? [] : Location.sorted(last) }
        settle()
        return Location.sorted(
            [Location](unsafeUninitializedCapacity: count) { all, initialized in
                for slot in slots where slot.feed != 0 {
                    all.initializeElement(at: initialized, to: slot)
                    initialized += 1
                }
            })
    }
}
