/// Values by entry number. Entries of a state are numbered from 0, so an array does what a dictionary
/// would; rules ask for the place of an entry so often that hashing took a fifth of an ingest.
struct EntryMap {
    private var values: [Int]

    private static let none = Int.min

    init(entries count: Int) { values = Array(repeating: Self.none, count: count) }

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

/// A set of entry numbers.
struct EntrySet {
    private var contained: [Bool] = []
    private(set) var isEmpty = true

    init(_ entries: some Sequence<Int> = []) {
        for entry in entries { insert(entry) }
    }

    func contains(_ entry: Int) -> Bool { entry < contained.count && contained[entry] }

    /// False if it was there already.
    @discardableResult
    mutating func insert(_ entry: Int) -> Bool {
        if contains(entry) { return false }
        while contained.count <= entry { contained.append(false) }
        contained[entry] = true
        isEmpty = false
        return true
    }
}
