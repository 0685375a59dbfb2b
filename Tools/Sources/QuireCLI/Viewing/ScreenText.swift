/// Text in columns of a terminal.
enum ScreenText {
    /// The text in exactly this many columns: cut with … or filled up with spaces.
    static func fitted(_ text: String, to columns: Int, isRight: Bool = false) -> String {
        let width = width(of: text)
        if width <= columns {
            let space = String(repeating: " ", count: columns - width)
            return isRight ? space + text : text + space
        }
        var result = ""
        var used = 0
        for character in text {
            let next = Self.width(of: character)
            if used + next > columns - 1 { break }
            result.append(character)
            used += next
        }
        if columns > 0 { result += "…" }
        return result + String(repeating: " ", count: max(0, columns - 1 - used))
    }

    static func width(of text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

    /// 2 for characters of East Asia and pictures, else 1.
    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        if first.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0 ~= first.value } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}
