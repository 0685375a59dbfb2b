/// The posts that many feeds hold, while the feeds are checked one after another: what the feeds before
/// have shown of each. So a feed need not look up all places of its posts, which would take the square of
/// the feeds.
///
/// It has room for a fixed number of posts. One that comes when it is full is never in it; all its places are
/// looked up in each of its feeds.
final class WidespreadPosts {
    /// A post in more feeds than this is one of many feeds.
    static let few = 4

    /// Open addressing, as in ``LocationTable``. `feed` is 0 in a free slot, and the highest number as long
    /// as no feed has shown a body; then it is the first that did. The position is that of its chunk, or one
    /// of the two below.
    private var slots: [Location] = []
    private var count = 0
    private let capacity: Int
    private static let unseen: UInt64 = .max
    private static let unshown = Location.gone

    /// Has at most `capacity` slots of 24 bytes, once there is such a post. A quarter stays free.
    init(capacity: Int) {
        self.capacity = capacity < 4 ? 0 : 1 << (Int.bitWidth - 1 - capacity.leadingZeroBitCount)
    }

    var isEmpty: Bool { count == 0 }

    func contains(_ address: PostAddress) -> Bool {
        count > 0 && slots[slot(of: address)].feed != 0
    }

    /// Returns the slot of a post that was found in so many places; nil if it is in few, or there is no room.
    func slot(of address: PostAddress, _ places: Int) -> Int? {
        if slots.isEmpty {
            if places <= Self.few || capacity == 0 { return nil }
            slots = Array(repeating: .none, count: capacity)
        }
        let slot = slot(of: address)
        if slots[slot].feed != 0 { return slot }
        if places <= Self.few || count >= capacity / 4 * 3 { return nil }
        slots[slot] = Location(address, feed: .max, position: Self.unseen)
        count += 1
        return slot
    }

    private func slot(of address: PostAddress) -> Int {
        var slot = Int(truncatingIfNeeded: address.hash) & (capacity - 1)
        while slots[slot].feed != 0, slots[slot].address != address { slot = (slot + 1) & (capacity - 1) }
        return slot
    }

    /// Notes that a feed holds the post. Returns true if it is the first one.
    func see(_ slot: Int) -> Bool {
        if slots[slot].feed != .max || slots[slot].position != Self.unseen { return false }
        slots[slot].position = Self.unshown
        return true
    }

    /// Returns the first entry that showed a body; nil if there was none.
    func shown(_ slot: Int) -> (feed: UInt32, position: UInt64)? {
        let location = slots[slot]
        return location.feed == .max ? nil : (location.feed, location.position)
    }

    func show(_ slot: Int, in feed: UInt32, at position: UInt64) {
        (slots[slot].feed, slots[slot].position) = (feed, position)
    }
}
