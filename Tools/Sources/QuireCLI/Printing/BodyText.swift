import Foundation
import Quire

/// What a post holds, as people and programs read it.
enum BodyText {
    /// Larger bodies are not searched for a title.
    private static let titleLimit = 1 << 18

    /// The largest excerpt, in Unicode scalars.
    private static let limit = 200

    /// The title of the post if it has one, else the start of its body; on one line. No more of the body is
    /// read than up to the end of its title.
    static func excerpt(of body: UnsafeRawBufferPointer) -> String {
        if body.count <= titleLimit, let title = JSONText.title(of: body) {
            return onOneLine(title)
        }
        return onOneLine(String(decoding: body.prefix(limit), as: UTF8.self))
    }

    /// The start of a text, with one space in the place of all white space between two words.
    private static func onOneLine(_ text: String) -> String {
        var line: [UInt8] = []
        var (count, isBetween) = (0, false)
        for scalar in text.unicodeScalars {
            if count == limit { break }
            count += 1
            let isSpace =
                scalar.isASCII
                ? scalar.value == 0x20 || 0x09...0x0D ~= scalar.value : scalar.properties.isWhitespace
            if isSpace {
                isBetween = !line.isEmpty
                continue
            }
            if isBetween { line.append(0x20) }
            isBetween = false
            if scalar.isASCII { line.append(UInt8(scalar.value)) } else { line += UTF8.encode(scalar)! }
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// The body as a value in JSON: itself if it is an object or an array, else its text, with U+FFFD in the
    /// place of what is not UTF-8. So a string is always a body that is no JSON; null is no body.
    static func json(_ body: UnsafeRawBufferPointer, _ encoder: JSONEncoder) throws -> String {
        if body.isEmpty { return "null" }
        let isObject = body.first { !$0.isSpace }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
        if isObject == true, !body.contains(0), String(validating: body, as: UTF8.self) != nil,
            (try? JSONSerialization.jsonObject(with: Data(body))) != nil,
            let line = JSONText.onOneLine(body)
        {
            return String(decoding: line, as: UTF8.self)
        }
        return String(decoding: try encoder.encode(String(decoding: body, as: UTF8.self)), as: UTF8.self)
    }
}

extension UInt8 {
    /// White space of JSON.
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

/// JSON as it is written, not what it means.
enum JSONText {
    /// The member `title` of an object, if that is a string. What follows it is not read.
    static func title(of text: UnsafeRawBufferPointer) -> String? {
        var (at, depth, isName) = (0, 0, false)
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 0 && text[at] != UInt8(ascii: "{") { return nil }
                depth += 1
                isName = depth == 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return nil }
            case UInt8(ascii: ","): isName = depth == 1
            case UInt8(ascii: "\""):
                guard depth > 0, let end = closingQuote(of: text, from: at + 1) else { return nil }
                let isTitle = isName && text[at..<end].dropFirst().elementsEqual("title".utf8)
                (at, isName) = (end, false)
                if isTitle { return string(in: text, from: end + 1) }
            case let byte where depth == 0 && !byte.isSpace: return nil
            default: break
            }
            at += 1
        }
        return nil
    }

    /// The string that is the value of a member whose name ends here; nil for another value.
    private static func string(in text: UnsafeRawBufferPointer, from start: Int) -> String? {
        var at = start
        while at < text.count, text[at].isSpace || text[at] == UInt8(ascii: ":") { at += 1 }
        guard at < text.count, text[at] == UInt8(ascii: "\""),
            let end = closingQuote(of: text, from: at + 1)
        else { return nil }
        let characters = UnsafeRawBufferPointer(rebasing: text[at + 1..<end])
        if !characters.contains(UInt8(ascii: "\\")) { return String(decoding: characters, as: UTF8.self) }
        return try? JSONDecoder().decode(String.self, from: Data(text[at...end]))
    }

    private static func closingQuote(of text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var at = start
        while at < text.count, let found = memchr(text.baseAddress! + at, 0x22, text.count - at) {
            let quote = UnsafeRawPointer(found) - text.baseAddress!
            var first = quote
            while first > start && text[first - 1] == UInt8(ascii: "\\") { first -= 1 }
            if (quote - first) % 2 == 0 { return quote }
            at = quote + 1
        }
        return nil
    }

    /// The text without the white space between its tokens; strings and numbers stay as they are. Nil
    /// if that would join two words or leave a line break in a string: then it was not JSON.
    static func onOneLine(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isInString = false
        var isEscaped = false
        var hasSpace = false
        for byte in text {
            if isInString {
                if byte < 0x20 { return nil }
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte.isSpace {
                hasSpace = true
                continue
            } else {
                if hasSpace, let last = result.last, isWord(last), isWord(byte) { return nil }
                isInString = byte == UInt8(ascii: "\"")
            }
            hasSpace = false
            result.append(byte)
        }
        return isInString ? nil : result
    }

    /// Part of a number or of a name like `true`.
    private static func isWord(_ byte: UInt8) -> Bool {
        !#"{}[],:""#.utf8.contains(byte)
    }
}
