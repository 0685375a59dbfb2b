import Quire

/// Finds by which field the items of a response descend.
struct OrderFinding {
    /// A field of the items in which newer is larger, and how its values run down the page.
    struct Field {
        let path: String
        let type: Profile.KeyType
        var isDescending: Bool
        var isAscending: Bool
        /// The number of neighbours with different values.
        let steps: Int

        /// True if the name says that the value changes when something happens to the post.
        var rises: Bool {
            let name = path.lowercased()
            return ["activ", "bump", "modif", "updat", "last", "edit", "push", "chang", "recent"].contains {
                name.contains($0)
            }
        }
    }

    /// The number of items that were looked at.
    let count: Int
    /// The fields with times, in the order of the first item.
    let times: [Field]

    /// With fewer items, a field descends too easily by chance.
    static let least = 5

    /// Looks at these items; paths start at each of them.
    init(_ items: [Int], in outline: JSONOutline) {
        count = items.count
        guard let first = items.first else {
            times = []
            return
        }
        var paths: [[String]] = []
        Self.collect(first, [], outline, &paths)
        times = paths.compactMap { Self.field($0, items, outline) }
    }

    /// Returns the field at a path, if all items have a value there that can be a key.
    static func field(at path: FieldPath, _ items: [Int], in outline: JSONOutline) -> Field? {
        field(path.keys, items, outline, isTime: false)
    }

    private static func collect(
        _ node: Int, _ keys: [String], _ outline: JSONOutline, _ paths: inout [[String]]
    ) {
        for child in outline.children(of: node) {
            let isNested = outline.nodes[child].kind == .object && keys.count < 2
            guard isNested || value(child, outline, isTime: true) != nil,
                !isID(outline.nodes[child].key, outline)
            else { continue }
            let keys = keys + [outline.key(child)]
            if isNested { collect(child, keys, outline, &paths) } else { paths.append(keys) }
        }
    }

    /// True for the name of a number that may be as large as a time, but is none.
    private static func isID(_ name: Range<Int>, _ outline: JSONOutline) -> Bool {
        outline.slice(name).suffix(2).map { $0 | 0x20 } == Array("id".utf8)
    }

    private static func field(
        _ keys: [String], _ items: [Int], _ outline: JSONOutline, isTime: Bool = true
    ) -> Field? {
        var (above, only): (Int64?, Profile.KeyType?)
        var (isDescending, isAscending, steps) = (true, true, 0)
        for item in items {
            guard let node = outline.find(keys, from: item),
                let (value, type) = value(node, outline, isTime: isTime), type == only ?? type
            else { return nil }  // values of two types do not compare
            if let above, above != value {
                if above < value { isDescending = false } else { isAscending = false }
                steps += 1
            }
            (above, only) = (value, type)
        }
        guard let type = only else { return nil }
        return Field(
            path: keys.map(ListPlace.escaped).joined(separator: "."), type: type, isDescending: isDescending,
            isAscending: isAscending, steps: steps)
    }

    /// Returns a value as a key: a date, or a number that is a time since 1970 in seconds or finer.
    private static func value(
        _ node: Int, _ outline: JSONOutline, isTime: Bool
    ) -> (Int64, Profile.KeyType)? {
        let range = outline.nodes[node].range
        let times = 100_000_000...4_000_000_000_000_000 as ClosedRange<Int64>
        switch outline.nodes[node].kind {
        case .string:
            if !isTime, let number = Int64(outline.text(node)) { return (number, .integer) }
            if !isTime, let number = OrderKey.written(outline.text(node)) {
                return (OrderKey.number(number), .number)
            }
            guard 16...40 ~= range.count else { return nil }
            return OrderKey.date(outline.slice(range)).map { ($0, .date) }
        case .integer:
            guard range.count > 8 || !isTime, let number = Int64(outline.text(node)),
                !isTime || times ~= number
            else { return nil }
            return (number, .integer)
        case .fraction:
            guard let number = Double(outline.text(node)),
                !isTime || Double(times.lowerBound)...Double(times.upperBound) ~= number
            else { return nil }
            return (OrderKey.number(number), .number)
        default: return nil
        }
    }

    /// Returns the key of an item as a profile reads it; nil if it cannot.
    static func key(_ field: KeyField, of item: Int, in outline: JSONOutline) -> Int64? {
        guard let node = outline.find(field.path.keys, from: item) else { return nil }
        return key(field, outline.nodes[node].kind, outline.slice(outline.nodes[node].range))
    }

    /// Returns a value as a key of the field's type; nil if it is none.
    static func key(_ field: KeyField, _ kind: JSONOutline.Kind, _ bytes: ArraySlice<UInt8>) -> Int64? {
        func text() -> String { String(decoding: bytes, as: UTF8.self) }
        return switch (kind, field.type) {
        case (.integer, .integer), (.integer, .auto), (.string, .integer): Int64(text())
        case (.string, .date), (.string, .auto): OrderKey.date(bytes)
        case (.integer, .number), (.fraction, .number): Double(text()).map(OrderKey.number)
        case (.string, .number): OrderKey.written(text()).map(OrderKey.number)
        default: nil
        }
    }
}
