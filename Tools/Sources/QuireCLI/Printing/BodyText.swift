import Foundation
import Quire

/// What a post holds, as people and programs read it.
enum BodyText {
    /// Larger bodies are not searched for a title.
    private static let titleLimit = 1 << 18

    /// The title of the post if it has one, else the start of its body; on one line.
    static func excerpt(of body: [UInt8]) -> String {
        var title: String?
        if body.count <= titleLimit {
            let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            title = object?["title"] as? String
        }
        let text = title.map { String($0.prefix(200)) } ?? String(decoding: body.prefix(200), as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The body as a value in JSON: itself if it is an object or an array, else its text, with U+FFFD in the
    /// place of what is not UTF-8. So a string is always a body that is no JSON; null is no body.
    static func json(_ body: [UInt8]) throws -> String {
        if body.isEmpty { return "null" }
        let isObject = body.first { !$0.isSpace }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
        if isObject == true, !body.contains(0), String(validating: body, as: UTF8.self) != nil,
            (try? JSONSerialization.jsonObject(with: Data(body))) != nil,
            let line = body.withUnsafeBytes({ JSONText.onOneLine($0) })
        {
            return String(decoding: line, as: UTF8.self)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(String(decoding: body, as: UTF8.self)), as: UTF8.self)
    }
}

extension UInt8 {
    /// White space of JSON.
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

/// JSON as it is written, not what it means.
enum JSONText {
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
