/// A place in a JSON document, which moves on over it. Checks only what it needs to find its way.
struct JSONWalk {
    private let start: UnsafePointer<UInt8>?
    private let count: Int
    private(set) var at = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, at: Int = 0) {
        (start, count, self.at) = (bytes.baseAddress, bytes.count, at)
    }

    var byte: UInt8? { at < count ? here : nil }

    /// The byte at the place, which is not the end.
    private var here: UInt8 { start.unsafelyUnwrapped[at] }

    mutating func skipSpace() {
        while at < count, isJSONSpace(here) { at &+= 1 }
    }

    mutating func takes(_ byte: UInt8) -> Bool {
        guard at < count, here == byte else { return false }
        at &+= 1
        return true
    }

    /// Takes a string and returns what is between its quotes.
    mutating func takeString() -> Range<Int>? {
        guard takes(UInt8(ascii: "\"")) else { return nil }
        let first = at
        while true {
            skipPlain()
            guard at < count else { return nil }
            let byte = here
            at &+= byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return first..<at &- 1 }
        }
    }

    /// Skips bytes that are neither a quote nor a backslash; some of them may be left, if a step would end
    /// behind the document.
    @inline(__always)
    private mutating func skipPlain() {
        while at &+ 8 <= count {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(start.unsafelyUnwrapped + at).loadUnaligned(as: UInt64.self))
            let found = Self.zeros(word ^ 0x2222_2222_2222_2222) | Self.zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            if found != 0 {
                at &+= found.trailingZeroBitCount >> 3
                return
            }
            at &+= 8
        }
        while at < count, here != UInt8(ascii: "\""), here != UInt8(ascii: "\\") { at &+= 1 }
    }

    /// Returns a word whose lowest bit that is set belongs to the first byte that is zero.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Takes a number, true, false or null.
    mutating func takeWord() -> JSONOutline.Kind? {
        let first = at
        var kind = JSONOutline.Kind.integer
        loop: while at < count {
            switch here {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: break loop
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): kind = .fraction
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: ":"): return nil
            default: break
            }
            at &+= 1
        }
        if at == first { return nil }
        switch start.unsafelyUnwrapped[first] {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return kind
        default: return nil
        }
    }

    /// Skips a value. Returns false if it is not closed.
    mutating func skip() -> Bool {
        var depth = 0
        while at < count {
            let byte = here
            if byte == UInt8(ascii: "\"") {
                if takeString() == nil { return false }
                if depth == 0 { return true }
                continue
            }
            if byte | 0x20 == UInt8(ascii: "{") {  // also [
                depth &+= 1
            } else if byte | 0x20 == UInt8(ascii: "}") {  // also ]
                if depth == 0 { return true }
                depth &-= 1
                if depth == 0 {
                    at &+= 1
                    return true
                }
            } else if depth == 0, byte == UInt8(ascii: ",") || isJSONSpace(byte) {
                return true
            }
            at &+= 1
        }
        return depth == 0
    }

    /// Goes to the value at a path of keys and takes it. Returns nil if there is none; the place is then
    /// anywhere in the value where the walk began.
    mutating func take(_ keys: ArraySlice<[UInt8]>) -> (kind: JSONOutline.Kind, range: Range<Int>)? {
        guard let key = keys.first else { return takeScalar() }
        let isObject = byte == UInt8(ascii: "{")
        guard isObject || byte == UInt8(ascii: "[") else { return nil }
        let index = isObject ? nil : Int(String(decoding: key, as: UTF8.self))
        at &+= 1
        var number = 0
        while true {
            skipSpace()
            var isWanted = number == index
            if isObject {
                guard let name = takeString() else { return nil }
                isWanted = name.count == key.count && name.elementsEqual(key, by: { start![$0] == $1 })
                skipSpace()
                guard takes(UInt8(ascii: ":")) else { return nil }
                skipSpace()
            }
            if isWanted { return take(keys.dropFirst()) }
            let before = at
            guard skip(), at > before else { return nil }
            skipSpace()
            guard takes(UInt8(ascii: ",")) else { return nil }
            number &+= 1
        }
    }

    /// Calls `body` with each member of an object that is neither an object nor an array: its key, its kind,
    /// and its range, which of a string is what is between the quotes. Returns false if this is no object.
    mutating func forEachScalar(
        _ body: (_ key: Range<Int>, JSONOutline.Kind, _ value: Range<Int>) -> Void
    ) -> Bool {
        guard takes(UInt8(ascii: "{")) else { return false }
        skipSpace()
        if takes(UInt8(ascii: "}")) { return true }
        while true {
            skipSpace()
            guard let key = takeString() else { return false }
            skipSpace()
            guard takes(UInt8(ascii: ":")) else { return false }
            skipSpace()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                if !skip() { return false }
            } else {
                guard let (kind, value) = takeScalar() else { return false }
                body(key, kind, value)
            }
            skipSpace()
            if takes(UInt8(ascii: "}")) { return true }
            guard takes(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func takeScalar() -> (kind: JSONOutline.Kind, range: Range<Int>)? {
        if byte == UInt8(ascii: "\"") { return takeString().map { (.string, $0) } }
        let first = at
        return takeWord().map { (kind: $0, range: first..<at) }
    }
}
