/// A map from entry numbers to values. Entries are numbered from 0, so an array replaces a dictionary. Rules
/// look up places so often that hashing took a fifth of an ingest.
struct EntryMap {
    private var values: [Int]

    private static let none = Int.min

    init(entries count: Int) {
        values = Array(filled: count, with: Self.none)
    }

    subscript(entry: Int) -> Int? {
        get {
            guard entry < values.count, values[entry] != Self.none else { return nil }
            return values[entry]
        }
        set {
            while values.count <= entry { values.append(Self.none) }
            values[entry] = newValue ?? Self.none
        }
    }
}

/// A set of entry numbers, with a bit for each.
struct EntrySet {
    /// The first 128, so that most sets need no array.
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var words: [UInt64] = []

    init() {}

    init(_ entries: some Sequence<Int>) {
        for entry in entries { insert(entry) }
    }

    /// The entries of these rows.
    init(of rows: [Row]) {
        for row in rows {
            if case .entry(let entry) = row { insert(entry) }
        }
    }

    /// Correct because entries are never removed from the set.
    var isEmpty: Bool { low | high == 0 && words.isEmpty }

    @inline(__always)
    func contains(_ entry: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(entry & 63)
        switch entry >> 6 {
        case 0: return low & bit != 0
        case 1: return high & bit != 0
        case let word: return word - 2 < words.count && words[word - 2] & bit != 0
        }
    }

    /// Adds an entry. Returns false if it was already there.
    @inline(__always)
    @discardableResult
    mutating func insert(_ entry: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(entry & 63)
        switch entry >> 6 {
        case 0:
            defer { low |= bit }
            return low & bit == 0
        case 1:
            defer { high |= bit }
            return high & bit == 0
        case let word: return insert(bit, word: word - 2)
        }
    }

    private mutating func insert(_ bit: UInt64, word: Int) -> Bool {
        while words.count <= word { words.append(0) }
        defer { words[word] |= bit }
        return words[word] & bit == 0
    }
}

/// A map from ids to entry numbers, which follow the order of insertion. It is filled again for each
/// operation, in a fifth of the time that a dictionary takes.
struct EntryIndex {
    private(set) var ids = PostIDs()
    /// Entry numbers in an open hash table; -1 marks a free slot. At least half of the slots are free.
    private var slots: [Int32] = []
    private let secret = PostID.secret

    subscript(id: PostID) -> Int? {
        if slots.isEmpty { return nil }
        let entry = slots[slot(of: id)]
        return entry < 0 ? nil : Int(entry)
    }

    /// Gives the next number to this id.
    @inline(__always)
    mutating func append(_ id: PostID) {
        if 2 &* (ids.count &+ 1) > slots.count { grow(to: 2 * (ids.count + 1)) }
        slots[slot(of: id)] = Int32(truncatingIfNeeded: ids.count)
        ids.append(id)
    }

    /// Returns the number of this id, which is the next one if it had none.
    @inline(__always)
    mutating func number(of id: PostID) -> Int {
        if 2 &* (ids.count &+ 1) > slots.count { grow(to: 2 * (ids.count + 1)) }
        let slot = slot(of: id)
        let known = Int(slots[slot])
        if known >= 0 { return known }
        let number = ids.count
        slots[slot] = Int32(truncatingIfNeeded: number)
        ids.append(id)
        return number
    }

    /// Returns the numbers of the posts' ids, as ``number(of:)`` does for each.
    mutating func numbers(of posts: [Post]) -> [Int] {
        reserveCapacity(ids.count + posts.count)
        var numbers: [Int] = []
        numbers.reserveCapacity(posts.count)
        for post in posts { numbers.append(number(of: post.id)) }
        return numbers
    }

    mutating func reserveCapacity(_ count: Int) {
        ids.reserveCapacity(count)
        if 2 * count > slots.count { grow(to: 2 * count) }
    }

    /// Forgets all ids, and keeps the memory for others.
    mutating func removeAll() {
        ids.removeAll()
        slots.withUnsafeMutableBufferPointer { $0.update(repeating: -1) }
    }

    private mutating func grow(to count: Int) {
        var size = 64
        while size < count { size *= 2 }
        slots = Array(filled: size, with: -1)
        for (entry, id) in ids.enumerated() { slots[slot(of: id)] = Int32(entry) }
    }

    /// Returns the slot of the id, or the free slot where it belongs.
    @inline(__always)
    private func slot(of id: PostID) -> Int {
        let mask = slots.count &- 1
        guard case .integer(let number) = id.storage else { return slot(ofText: id) }
        var slot = PostID.hash(number, secret) & mask
        slots.withUnsafeBufferPointer { slots in
            while slots[slot] >= 0, ids.number(at: Int(slots[slot])) != number { slot = (slot &+ 1) & mask }
        }
        return slot
    }

    @inline(never)
    private func slot(ofText id: PostID) -> Int {
        let mask = slots.count - 1
        var slot = id.hashValue & mask
        while slots[slot] >= 0, !ids.has(id, at: Int(slots[slot])) { slot = (slot + 1) & mask }
        return slot
    }
}
