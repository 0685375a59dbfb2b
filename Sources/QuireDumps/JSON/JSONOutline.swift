#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a JSON document consists of: its objects, the first elements of its arrays, and where they are.
///
/// Made in one pass that looks at each byte once and copies none. It checks only what it needs to find its
/// way; ``PageParser`` checks the rest.
struct JSONOutline {
    enum Kind: UInt8 { case null, flag, integer, fraction, string, array, object }

    /// A value. The members of an object and the elements of an array are a chain of nodes. All numbers have
    /// 32 bits, because there are many nodes.
    struct Node {
        let kind: Kind
        private let keyStart: UInt32
        private let keyEnd: UInt32
        private let start: UInt32
        private var end: UInt32
        fileprivate var members: UInt32 = 0
        fileprivate var first: Int32 = -1
        fileprivate var next: Int32 = -1

        fileprivate init(_ kind: Kind, key: Range<Int>, range: Range<Int>) {
            self.kind = kind
            keyStart = UInt32(truncatingIfNeeded: key.lowerBound)
            keyEnd = UInt32(truncatingIfNeeded: key.upperBound)
            start = UInt32(truncatingIfNeeded: range.lowerBound)
            end = UInt32(truncatingIfNeeded: range.upperBound)
        }

        /// The bytes between the quotes of its key, if it is in an object.
        var key: Range<Int> { Int(keyStart)..<Int(keyEnd) }

        /// The bytes of the value; of a string, those between the quotes.
        var range: Range<Int> { Int(start)..<Int(end) }

        /// The number of its members or elements, of which not all need to have nodes.
        var count: Int { Int(members) }

        var holdsValues: Bool { kind == .object || kind == .array }

        fileprivate mutating func close(at place: Int) { end = UInt32(truncatingIfNeeded: place) }
    }

    /// The nodes of the members or elements of a value.
    struct Children: Sequence, IteratorProtocol {
        fileprivate let nodes: [Node]
        fileprivate var at: Int32

        mutating func next() -> Int? {
            if at < 0 { return nil }
            defer { at = nodes[Int(at)].next }
            return Int(at)
        }
    }

    private(set) var nodes: [Node] = []
    let bytes: ArraySlice<UInt8>

    /// How many elements of an array have nodes, by the number of arrays around it.
    private static func samples(_ arrays: Int) -> Int { arrays == 0 ? 120 : arrays == 1 ? 8 : 1 }
    private static let memberLimit = 128
    private static let depthLimit = 12

    /// Creates the outline of the value at the start of these bytes. Returns nil if it is not closed, or has
    /// 2 GiB or more.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= Int32.max else { return nil }
        self.bytes = bytes
        nodes.reserveCapacity(256)
        let isWhole = bytes.withUnsafeBufferPointer { buffer in
            var walk = JSONWalk(buffer)
            walk.skipSpace()
            return add(&walk, key: 0..<0, depth: 0, arrays: 0) != nil
        }
        if !isWhole { return nil }
    }

    var root: Node { nodes[0] }

    /// True if an array in it has no elements.
    var hasEmptyList: Bool { nodes.contains { $0.kind == .array && $0.count == 0 } }

    // MARK: Reading

    /// The numbers of the nodes of the members or elements.
    func children(of node: Int) -> Children { Children(nodes: nodes, at: nodes[node].first) }

    /// Follows a path; nil if it leads nowhere that has a node.
    func find(_ keys: some Sequence<String>, from start: Int = 0) -> Int? {
        var at = start
        for key in keys {
            guard let next = child(of: at, key) else { return nil }
            at = next
        }
        return at
    }

    /// Returns the nodes of the members with these keys, in the order of the keys.
    func members(of node: Int, _ keys: [String]) -> [Int] {
        let bits = keyBits(of: node)
        return keys.compactMap { bits & Self.bit(of: $0) != 0 ? child(of: node, $0) : nil }
    }

    /// Returns a bit for the first byte of each key of an object, by which a key that is not there is mostly
    /// known; for an array all bits, since its elements are found by their numbers.
    func keyBits(of node: Int) -> UInt64 {
        switch nodes[node].kind {
        case .array: .max
        case .object:
            bytes.withUnsafeBufferPointer { bytes in
                var (bits, at): (UInt64, Int32) = (0, nodes[node].first)
                while at >= 0 {
                    let key = nodes[Int(at)].key
                    bits |= key.isEmpty ? .max : Self.bit(of: bytes[key.lowerBound])
                    at = nodes[Int(at)].next
                }
                return bits
            }
        default: 0
        }
    }

    /// The bit of a key, as ``keyBits(of:)`` counts them.
    static func bit(of key: String) -> UInt64 { key.utf8.first.map(bit) ?? .max }

    private static func bit(of byte: UInt8) -> UInt64 { 1 << UInt64(byte & 63) }

    private func child(of node: Int, _ key: String) -> Int? {
        var at = nodes[node].first
        if nodes[node].kind == .array {
            guard var index = Int(key), index >= 0 else { return nil }
            while at >= 0, index > 0 { (at, index) = (nodes[Int(at)].next, index - 1) }
            return at >= 0 ? Int(at) : nil
        }
        var key = key
        return key.withUTF8 { key in
            bytes.withUnsafeBufferPointer { bytes in
                while at >= 0 {
                    let name = nodes[Int(at)].key
                    if name.count == key.count,
                        memcmp(bytes.baseAddress! + name.lowerBound, key.baseAddress!, key.count) == 0
                    {
                        return Int(at)
                    }
                    at = nodes[Int(at)].next
                }
                return nil
            }
        }
    }

    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
    }

    /// The text of a key or scalar, as it stands there.
    func text(_ node: Int) -> String { String(decoding: slice(nodes[node].range), as: UTF8.self) }

    func key(_ node: Int) -> String { String(decoding: slice(nodes[node].key), as: UTF8.self) }

    /// Calls `read` with the value at a path in each element of a list that has no node, from the one after
    /// `last` on, until it returns false; with nil for an element without a string or word there. Passes over
    /// null. Ends where the list does.
    func eachUnread(
        of list: Int, below last: Int, _ path: [String],
        _ read: ((kind: Kind, range: Range<Int>)?) -> Bool
    ) {
        let keys = path.map { Array($0.utf8) }[...]
        bytes.withUnsafeBufferPointer { bytes in
            let isString = nodes[last].kind == .string
            var walk = JSONWalk(bytes, at: nodes[last].range.upperBound + (isString ? 1 : 0))
            while true {
                walk.skipSpace()
                guard walk.takes(UInt8(ascii: ",")) else { return }
                walk.skipSpace()
                var item = walk
                guard walk.skip(), item.byte == UInt8(ascii: "n") || read(item.take(keys)) else { return }
            }
        }
    }

    // MARK: Making

    /// Adds the value that the walk has come to. Returns its node, or nil if it is not closed.
    private mutating func add(
        _ walk: inout JSONWalk, key: Range<Int>, depth: Int, arrays: Int
    ) -> Int? {
        guard let byte = walk.byte else { return nil }
        let (at, start) = (nodes.count, walk.at)
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            nodes.append(Node(isObject ? .object : .array, key: key, range: start..<start))
            if depth == Self.depthLimit {
                guard walk.skip() else { return nil }
            } else {
                let isRead =
                    isObject
                    ? addMembers(of: at, &walk, depth: depth, arrays: arrays)
                    : addElements(of: at, &walk, depth: depth, arrays: arrays)
                if !isRead { return nil }
            }
            nodes[at].close(at: walk.at)
        case UInt8(ascii: "\""):
            guard let range = walk.takeString() else { return nil }
            nodes.append(Node(.string, key: key, range: range))
        default:
            guard let kind = walk.takeWord() else { return nil }
            nodes.append(Node(kind, key: key, range: start..<walk.at))
        }
        return at
    }

    private mutating func addMembers(
        of node: Int, _ walk: inout JSONWalk, depth: Int, arrays: Int
    ) -> Bool {
        _ = walk.takes(UInt8(ascii: "{"))
        var last = -1
        while true {
            walk.skipSpace()
            if walk.takes(UInt8(ascii: "}")) { return true }
            guard let key = walk.takeString() else { return false }
            walk.skipSpace()
            guard walk.takes(UInt8(ascii: ":")) else { return false }
            walk.skipSpace()
            nodes[node].members += 1
            if nodes[node].count > Self.memberLimit {
                guard walk.skip() else { return false }
            } else {
                guard let child = add(&walk, key: key, depth: depth + 1, arrays: arrays) else { return false }
                if last < 0 { nodes[node].first = Int32(child) } else { nodes[last].next = Int32(child) }
                last = child
            }
            walk.skipSpace()
            if !walk.takes(UInt8(ascii: ",")) && walk.byte != UInt8(ascii: "}") { return false }
        }
    }

    private mutating func addElements(
        of node: Int, _ walk: inout JSONWalk, depth: Int, arrays: Int
    ) -> Bool {
        _ = walk.takes(UInt8(ascii: "["))
        let limit = Self.samples(arrays)
        var last = -1
        while true {
            walk.skipSpace()
            if walk.takes(UInt8(ascii: "]")) { return true }
            nodes[node].members += 1
            if nodes[node].count > limit {
                guard walk.skip() else { return false }
            } else {
                guard let child = add(&walk, key: 0..<0, depth: depth + 1, arrays: arrays + 1) else {
                    return false
                }
                if last < 0 { nodes[node].first = Int32(child) } else { nodes[last].next = Int32(child) }
                last = child
            }
            walk.skipSpace()
            if !walk.takes(UInt8(ascii: ",")) && walk.byte != UInt8(ascii: "]") { return false }
        }
    }
}
