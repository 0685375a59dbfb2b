import Foundation

/// Finds where a JSON value ends without looking at what is in it; the reader of the value checks it.
/// It goes on where it stopped, as more of the document arrives.
struct ElementScanner {
    private var depth = 0
    private var isInString = false
    /// Where the string began; where scanning goes on.
    private var stringStart = 0
    private var at: Int

    /// The value starts at this place of the bytes.
    init(at start: Int) { at = start }

    /// The place after the value, or nil if its end is not among the bytes. Before another call they may
    /// only have grown.
    mutating func end(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        while at < bytes.count {
            if isInString {
                guard let quote = closingQuote(in: bytes) else { return nil }
                (at, isInString) = (quote + 1, false)
                if depth == 0 { return at }
                continue
            }
            switch bytes[at] {
            case UInt8(ascii: "\""):
                isInString = true
                stringStart = at + 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return at }  // the end of a number or a word
                depth -= 1
                if depth == 0 { return at + 1 }
            case UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
                UInt8(ascii: "\t"):
                if depth == 0 { return at }
            default: break
            }
            at += 1
        }
        return nil
    }

    /// The next quote with an even number of backslashes before it.
    private mutating func closingQuote(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        at = max(at, stringStart)
        while at < bytes.count {
            guard let found = memchr(bytes.baseAddress! + at, 0x22, bytes.count - at) else {
                at = bytes.count
                return nil
            }
            let quote = UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!)
            var first = quote
            while first > stringStart && bytes[first - 1] == UInt8(ascii: "\\") { first -= 1 }
            if (quote - first) % 2 == 0 { return quote }
            at = quote + 1
        }
        return nil
    }
}

func isJSONSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
