/// What a JSON document consists of: its objects, the first elements of its arrays, and where they are.
///
/// Made in one pass that looks at each byte once and copies none. It checks only what it needs to find its way;
/// ``PageParser`` checks the rest.
struct JSONOutline {
    enum Kind: UInt8 { case null, flag, integer, fraction, string, array, object }

    /// A value. The members of an object and the elements of an array are a chain of nodes.
    struct Node {
        var kind: Kind
        /// The bytes between the quotes of its key, if it is in an object.
        var key: Range<Int>
        /// The bytes of the value; of a string, those between the quotes.
        var range: Range<Int>
        /// The number of its members or elements, of which not all need to have nodes.
        var count = 0
        var first = -1
        var next = -1
    }

    private(set) var nodes: [Node] = []
    let bytes: ArraySlice<UInt8>

    /// How many elements of an array have nodes, by the number of arrays around it.
    private static let samples = [120, 8, 1]
    private static let memberLimit = 128
    private static let depthLimit = 12

    /// Creates the outline of the value at the start of these bytes. Returns nil if it is not closed.
    init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        nodes.reserveCapacity(256)
        let isWhole = bytes.withUnsafeBufferPointer { buffer in
            var walk = Walk(bytes: buffer)
            walk.skipSpace()
            return add(&walk, key: 0..<0, depth: 0, arrays: 0) != nil
        }
        if !isWhole { return nil }
    }

    var root: Node { nodes[0] }

    // MARK: Reading

    /// The numbers of the nodes of the members or elements.
    func children(of node: Int) -> [Int] {
        var children: [Int] = []
        var at = nodes[node].first
        while at >= 0 {
            children.append(at)
            at = nodes[at].next
        }
        return children
    }

    /// Follows a path; nil if it leads nowhere that has a node.
    func find(_ keys: some Collection<String>, from start: Int = 0) -> Int? {
        var at = start
        for key in keys {
            guard let next = child(of: at, key) else { return nil }
            at = next
        }
        return at
    }

    private func child(of node: Int, _ key: String) -> Int? {
        var at = nodes[node].first
        if nodes[node].kind == .array {
            guard var index = Int(key), index >= 0 else { return nil }
            while at >= 0, index > 0 { (at, index) = (nodes[at].next, index - 1) }
            return at >= 0 ? at : nil
        }
        while at >= 0 {
            if slice(nodes[at].key).elementsEqual(key.utf8) { return at }
            at = nodes[at].next
        }
        return nil
    }

    func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound]
    }

    /// The text of a key or scalar, as it stands there.
    func text(_ node: Int) -> String { String(decoding: slice(nodes[node].range), as: UTF8.self) }

    /// Returns true if this text, of up to 255 bytes, is in the first 32 KiB of the document.
    func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard let last = text.last, text.count < 256 else { return false }
        // Horspool: the byte under the end of the text says how far it can move.
        var steps = [UInt8](repeating: UInt8(text.count), count: 256)
        for (index, byte) in text.dropLast().enumerated() { steps[Int(byte)] = UInt8(text.count - 1 - index) }
        return bytes.prefix(1 << 15).withUnsafeBufferPointer { part in
            var end = text.count - 1
            while end < part.count {
                let byte = part[end]
                if byte == last, part[end - text.count + 1...end].elementsEqual(text) { return true }
                end += Int(steps[Int(byte)])
            }
            return false
        }
    }

    func key(_ node: Int) -> String { String(decoding: slice(nodes[node].key), as: UTF8.self) }

    // MARK: Making

    /// Adds the value that the walk has come to. Returns its node, or nil if it is not closed.
    private mutating func add(
        _ walk: inout Walk, key: Range<Int>, depth: Int, arrays: Int
    ) -> Int? {
        guard let byte = walk.byte else { return nil }
        let (at, start) = (nodes.count, walk.at)
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            nodes.append(Node(kind: isObject ? .object : .array, key: key, range: start..<start))
            if depth == Self.depthLimit {
                guard walk.skip() else { return nil }
            } else {
                let isRead =
                    isObject
                    ? addMembers(of: at, &walk, depth: depth, arrays: arrays)
                    : addElements(of: at, &walk, depth: depth, arrays: arrays)
                if !isRead { return nil }
            }
            nodes[at].range = start..<walk.at
        case UInt8(ascii: "\""):
            guard let range = walk.takeString() else { return nil }
            nodes.append(Node(kind: .string, key: key, range: range))
        default:
            guard let kind = walk.takeWord() else { return nil }
            nodes.append(Node(kind: kind, key: key, range: start..<walk.at))
        }
        return at
    }

    private mutating func addMembers(of node: Int, _ walk: inout Walk, depth: Int, arrays: Int) -> Bool {
        walk.at += 1
        var last = -1
        while true {
            walk.skipSpace()
            if walk.takes(UInt8(ascii: "}")) { return true }
            guard let key = walk.takeString() else { return false }
            walk.skipSpace()
            guard walk.takes(UInt8(ascii: ":")) else { return false }
            walk.skipSpace()
            nodes[node].count += 1
            if nodes[node].count > Self.memberLimit {
                guard walk.skip() else { return false }
            } else {
                guard let child = add(&walk, key: key, depth: depth + 1, arrays: arrays) else { return false }
                if last < 0 { nodes[node].first = child } else { nodes[last].next = child }
                last = child
            }
            walk.skipSpace()
            if !walk.takes(UInt8(ascii: ",")) && walk.byte != UInt8(ascii: "}") { return false }
        }
    }

    private mutating func addElements(of node: Int, _ walk: inout Walk, depth: Int, arrays: Int) -> Bool {
        walk.at += 1
        let limit = Self.samples[min(arrays, Self.samples.count - 1)]
        var last = -1
        while true {
            walk.skipSpace()
            if walk.takes(UInt8(ascii: "]")) { return true }
            nodes[node].count += 1
            if nodes[node].count > limit {
                guard walk.skip() else { return false }
            } else {
                guard let child = add(&walk, key: 0..<0, depth: depth + 1, arrays: arrays + 1) else {
                    return false
                }
                if last < 0 { nodes[node].first = child } else { nodes[last].next = child }
                last = child
            }
            walk.skipSpace()
            if !walk.takes(UInt8(ascii: ",")) && walk.byte != UInt8(ascii: "]") { return false }
        }
    }
}

/// A place in a JSON document.
private struct Walk {
    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func skipSpace() {
        while at < bytes.count, isJSONSpace(bytes[at]) { at += 1 }
    }

    mutating func takes(_ byte: UInt8) -> Bool {
        guard at < bytes.count, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    /// Takes a string and returns what is between its quotes.
    mutating func takeString() -> Range<Int>? {
        guard takes(UInt8(ascii: "\"")) else { return nil }
        let start = at
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") {
                at += 1
                return start..<at - 1
            }
            at += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// Takes a number, true, false or null.
    mutating func takeWord() -> JSONOutline.Kind? {
        let first = byte
        let start = at
        var kind = JSONOutline.Kind.integer
        loop: while let byte {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: break loop
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): kind = .fraction
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: ":"): return nil
            default: break
            }
            at += 1
        }
        if at == start { return nil }
        switch first ?? 0 {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return kind
        default: return nil
        }
    }

    /// Skips a value. Returns false if it is not closed.
    mutating func skip() -> Bool {
        var depth = 0
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") {
                if takeString() == nil { return false }
                if depth == 0 { return true }
                continue
            }
            if byte | 0x20 == UInt8(ascii: "{") {  // also [
                depth += 1
            } else if byte | 0x20 == UInt8(ascii: "}") {  // also ]
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    at += 1
                    return true
                }
            } else if depth == 0, byte == UInt8(ascii: ",") || isJSONSpace(byte) {
                return true
            }
            at += 1
        }
        return depth == 0
    }
}
