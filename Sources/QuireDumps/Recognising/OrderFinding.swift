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
            let name = outline.key(child)
            if name.lowercased().hasSuffix("id") { continue }  // a number as large as a time, but none
            let keys = keys + [name]
            switch outline.nodes[child].kind {
            case .object where keys.count < 3: collect(child, keys, outline, &paths)
            case .string, .integer, .fraction:
                if value(child, outline, isTime: true) != nil { paths.append(keys) }
            default: break
            }
        }
    }

    private static func field(
        _ keys: [String], _ items: [Int], _ outline: JSONOutline, isTime: Bool = true
    ) -> Field? {
        var values: [Int64] = []
        var types: Set<Profile.KeyType> = []
        for item in items {
            guard let node = outline.find(keys, from: item),
                let (value, type) = value(node, outline, isTime: isTime)
            else { return nil }
            values.append(value)
            types.insert(type)
        }
        if types == [.integer, .number] { return nil }  // the two do not compare
        guard types.count == 1, let type = types.first else { return nil }
        let pairs = Array(zip(values, values.dropFirst()))
        return Field(
            path: keys.map(ListPlace.escaped).joined(separator: "."), type: type,
            isDescending: pairs.allSatisfy { $0 >= $1 }, isAscending: pairs.allSatisfy { $0 <= $1 },
            steps: pairs.count { $0 != $1 })
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
            guard 16...40 ~= range.count else { return nil }
            return OrderKey.date(outline.slice(range)).map { ($0, .date) }
        case .integer:
            guard let number = Int64(outline.text(node)), !isTime || times ~= number else { return nil }
            return (number, .integer)
        case .fraction:
            guard let number = Double(outline.text(node)),
                !isTime || Double(times.lowerBound)...Double(times.upperBound) ~= number
            else { return nil }
            return (OrderKey.number(number), .number)
        default: return nil
        }
    }
}
