/// The keys on the way to the value at an offset of a JSON document that is well-formed up to there. A number
/// counts the elements of an array, from 0.
struct OffsetPlace {
    private(set) var keys: [String] = []

    init(of offset: Int, in document: ArraySlice<UInt8>) {
        keys = document.withUnsafeBufferPointer { bytes in
            Self.keys(of: offset, in: UnsafeBufferPointer(rebasing: bytes[..<min(offset, bytes.count)]))
        }
    }

    private static func keys(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        /// The objects and arrays around the place; an array has the number of its element.
        var around: [(key: Range<Int>, index: Int?)] = []
        var (walk, text) = (JSONWalk(bytes), 0..<0)
        while let byte = walk.byte {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = walk.takeString() else { return [] }
                text = string
                continue
            case UInt8(ascii: "{"): around.append((0..<0, nil))
            case UInt8(ascii: "["): around.append((0..<0, 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = around.popLast()
            case UInt8(ascii: ":") where !around.isEmpty: around[around.count - 1].key = text
            case UInt8(ascii: ","):
                if let index = around.last?.index { around[around.count - 1].index = index + 1 }
            default: break
            }
            _ = walk.takes(byte)
        }
        return around.map { level in
            level.index.map(String.init) ?? String(decoding: bytes[level.key], as: UTF8.self)
        }
    }

    /// The place in words, which follow "at byte 5"; `items` is the path of the list.
    func words(items: FieldPath?) -> String {
        var (path, item) = (keys[...], Int?.none)
        if let items = items?.keys, path.starts(with: items) {
            item = path.dropFirst(items.count).first.flatMap { Int($0) }
        }
        if let items, item != nil { path = path.dropFirst(items.keys.count + 1) }
        let names = [printable(path.map(ListPlace.escaped).joined(separator: "."))].filter { !$0.isEmpty }
        let words = names + (item.map { ["item \($0 + 1)"] } ?? [])
        return words.isEmpty ? "" : ", in " + words.joined(separator: " of ")
    }
}
