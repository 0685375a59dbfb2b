#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Finds the end of a JSON value without checking it; the reader of the value does that. It resumes where it
/// stopped as more of the document arrives.
struct ElementScanner {
    private var depth = 0
    private var isInString = false
    /// The start of the current string, and where scanning resumes.
    private var stringStart = 0
    private var at: Int

    /// Creates a scanner for the value at this index.
    init(at start: Int) { at = start }

    /// Returns the index after the value, or nil if its end is not in the bytes. Until the next call the
    /// bytes may only grow.
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

    /// Returns the next quote with an even number of backslashes before it.
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
