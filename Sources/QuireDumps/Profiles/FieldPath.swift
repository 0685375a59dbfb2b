/// The path to a value: the keys of the objects around it, joined by dots.
///
/// A key of digits also selects an element of an array, from 0. A backslash escapes a dot or backslash in a
/// key. The empty path is the starting point. A first key `^` is the object around the items, wherever they
/// are.
struct FieldPath: Sendable, Hashable {
    let keys: [String]
    /// The text as written.
    let text: String

    static let here = FieldPath(keys: [], text: "")

    /// Parses a path. Throws what is wrong with it.
    init(_ text: String) throws(DumpError) {
        var keys: [String] = []
        var key = ""
        var isEscaped = false
        for character in text.unicodeScalars {
            guard character.value != 0 else { throw DumpError(.data, "a NUL in a path") }
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
            case "." where !isEscaped:
                keys.append(key)
                key = ""
            default:
                guard !isEscaped || character == "." || character == "\\" else {
                    throw DumpError(.data, "\"\(printable(text))\": only \\. and \\\\ are escapes")
                }
                key.unicodeScalars.append(character)
                isEscaped = false
            }
        }
        guard !isEscaped else { throw DumpError(.data, "\"\(printable(text))\" ends in a backslash") }
        if !text.isEmpty { keys.append(key) }
        guard keys.allSatisfy({ !$0.isEmpty }) else {
            throw DumpError(.data, "\"\(printable(text))\" has an empty key")
        }
        guard keys.count <= PageParser.depthLimit else {
            throw DumpError(.data, "\"\(printable(text))\" has more than \(PageParser.depthLimit) keys")
        }
        self.init(keys: keys, text: text)
    }

    private init(keys: [String], text: String) {
        self.keys = keys
        self.text = text
    }

    /// Returns the path with a leading `^` replaced by the path of the object around the items.
    func resolved(around items: FieldPath) -> FieldPath {
        guard keys.first == "^" else { return self }
        let keys = items.keys.dropLast() + keys.dropFirst()
        return FieldPath(keys: Array(keys), text: text)
    }
}

extension FieldPath: CustomStringConvertible {
    /// The path for messages.
    var description: String { keys.isEmpty ? "it" : printable(text) }
}
