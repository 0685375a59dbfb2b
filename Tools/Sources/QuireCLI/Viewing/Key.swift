/// What a key asks of a scrolling view.
enum Key: Equatable {
    case down, up, pageDown, pageUp, halfDown, halfUp, top, bottom, nextGap, previousGap, quit, suspend,
        redraw

    /// Reads keys. The rest is the start of a sequence whose end has not come yet.
    static func read(_ bytes: [UInt8]) -> (keys: [Key], rest: [UInt8]) {
        var keys: [Key] = []
        var rest = bytes[...]
        while let first = rest.first {
            if first != 0x1B {
                if let key = plain[first] { keys.append(key) }
                rest = rest.dropFirst()
                continue
            }
            guard let length = sequenceLength(rest) else { return (keys, Array(rest)) }
            let sequence = String(decoding: rest.prefix(length).dropFirst(2), as: UTF8.self)
            if let key = sequences[sequence] { keys.append(key) }
            rest = rest.dropFirst(length)
        }
        return (keys, [])
    }

    /// The length of the sequence that begins here with Escape; nil if its end is missing.
    private static func sequenceLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let second = bytes.dropFirst().first else { return nil }
        if second == UInt8(ascii: "O") { return bytes.count < 3 ? nil : 3 }
        if second != UInt8(ascii: "[") { return 1 }
        guard let last = bytes.dropFirst(2).firstIndex(where: { 0x40...0x7E ~= $0 }) else {
            return bytes.count > 16 ? bytes.count : nil
        }
        return last - bytes.startIndex + 1
    }

    private static let plain: [UInt8: Key] = {
        let letters: [(String, Key)] = [
            ("j\r\n\u{0E}\u{05}e", .down), ("k\u{10}\u{19}y", .up), (" f\u{06}\u{16}", .pageDown),
            ("b\u{02}", .pageUp), ("d\u{04}", .halfDown), ("u\u{15}", .halfUp), ("g<", .top), ("G>", .bottom),
            ("n", .nextGap), ("N", .previousGap), ("qQ\u{03}", .quit), ("\u{1A}", .suspend),
            ("r\u{0C}", .redraw),
        ]
        return Dictionary(uniqueKeysWithValues: letters.flatMap { text, key in text.utf8.map { ($0, key) } })
    }()

    /// What follows Escape and `[` or `O`.
    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "5~": .pageUp, "6~": .pageDown, "H": .top, "F": .bottom, "1~": .top,
        "4~": .bottom,
        "7~": .top, "8~": .bottom,
    ]
}
