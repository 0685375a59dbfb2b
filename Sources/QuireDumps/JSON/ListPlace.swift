/// A list in a document that may be a feed: where it is, and what identifies its items.
struct ListPlace {
    /// The path of the array, escaped as in a profile.
    let path: String
    let keys: [String]
    /// The node of the array.
    let node: Int
    let count: Int
    /// The path of what looks like the id of an item, and how much it looks like one; nil if nothing does.
    let id: (path: String, score: Int)?
    /// How likely this is the list that the response is about.
    let score: Int

    private init(_ keys: [String], _ node: Int, in outline: JSONOutline) {
        let items = Array(outline.children(of: node))
        (self.keys, self.node, count) = (keys, node, outline.nodes[node].count)
        path = keys.map(Self.escaped).joined(separator: ".")
        id = Self.identity(of: items, keys.last, outline)
        let name = keys.last.map(Self.usualNames.contains) ?? true
        score = (id?.score ?? 0) + min(count, 20) * 2 + (name ? 60 : 0) - 8 * keys.count
    }

    /// Names of arrays that hold what a response is about, rather than what belongs to it.
    private static let usualNames: Set<String> = [
        "items", "data", "results", "result", "posts", "entries", "entry", "nodes", "edges", "hits",
        "statuses", "feed", "records", "children", "values", "objects", "messages", "events", "rows",
        "orderedItems", "list", "docs", "documents", "chunk", "content", "elements",
    ]

    /// Returns the lists of objects that are not in other lists, the likeliest first.
    static func all(in outline: JSONOutline) -> [ListPlace] {
        var places: [ListPlace] = []
        func visit(_ node: Int, _ keys: [String]) {
            switch outline.nodes[node].kind {
            case .array:
                if outline.children(of: node).contains(where: { outline.nodes[$0].kind == .object }) {
                    places.append(ListPlace(keys, node, in: outline))
                }
            case .object where keys.count < 6:
                for child in outline.children(of: node)
                where outline.nodes[child].holdsValues && !outline.nodes[child].key.isEmpty {
                    visit(child, keys + [outline.key(child)])
                }
            default: return
            }
        }
        visit(0, [])
        return places.sorted { ($0.score, $1.path) > ($1.score, $0.path) }
    }

    /// Returns a key as a part of a path.
    static func escaped(_ key: String) -> String {
        if key.utf8.allSatisfy({ $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: ".") }) { return key }
        return key.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
    }

    // MARK: The id

    /// Objects that are wrapped around a post.
    static let wrappers: Set<String> = [
        "node", "data", "post", "item", "resource", "attributes", "actor", "member", "object", "record", "id",
    ]

    private static let scores: [String: Int] = [
        "id": 100, "_id": 95, "Id": 95, "ID": 95, "id_str": 94, "guid": 92, "uuid": 92, "uri": 91,
        "objectID": 90, "event_id": 90, "did": 88, "sha": 86, "databaseId": 80, "number": 72, "key": 60,
        "pk": 80, "pageid": 70, "revid": 74, "rcid": 76, "post": 50, "url": 40, "link": 38,
        "html_url": 42, "permalink": 44, "nameWithOwner": 36, "full_name": 35, "slug": 30, "username": 28,
        "login": 28, "name": 20, "title": 12, "label": 40,
    ]

    /// Returns how much a member looks like an id by its name; nil if it cannot be one.
    private static func score(_ member: Int, in list: String?, _ outline: JSONOutline) -> Int? {
        switch outline.nodes[member].kind {
        case .string, .integer, .null: break
        case .flag, .fraction, .array, .object: return nil
        }
        let name = outline.nodes[member].key
        let endsInID = outline.slice(name).suffix(2).map { $0 | 0x20 } == Array("id".utf8)
        guard endsInID || name.count <= longestName else { return nil }
        let key = outline.key(member)
        if let known = scores[key] { return known }
        guard endsInID else { return nil }
        let lower = key.lowercased()
        guard lower.hasSuffix("_id") || key.hasSuffix("Id") || key.hasSuffix("ID") else { return nil }
        let stem = lower.dropLast(lower.hasSuffix("_id") ? 3 : 2)
        // questions have a question_id
        return list?.lowercased().hasPrefix(stem) == true ? 89 : 55
    }

    /// The score of a name that is that of an id, and no title.
    static let leastOfID = 50

    /// True for the name of an id that a post keeps, and that is not one of its delivery.
    static func isKeptID(_ member: Int, _ outline: JSONOutline) -> Bool {
        guard let score = score(member, in: nil, outline), score >= leastOfID else { return false }
        let name = outline.key(member).lowercased()
        return !["last", "latest", "recent", "impression", "request", "session", "trac"].contains {
            name.contains($0)
        }
    }

    private static let longestName = scores.keys.map(\.utf8.count).max() ?? 0

    /// Returns the field with a value of its own for each item; rather one that no two different items share.
    static func identity(
        of items: [Int], _ list: String?, _ outline: JSONOutline
    ) -> (path: String, score: Int)? {
        let objects = items.filter { outline.nodes[$0].kind == .object }
        guard objects.count * 10 >= items.count * 9 else { return nil }
        // The first may be a row that is not a post.
        guard let first = objects.dropFirst().first ?? objects.first else { return nil }
        var best: (path: String, score: Int)?
        var isOwn = false
        func consider(_ keys: [String], _ score: Int) {
            if isOwn, let best, score <= best.score { return }
            guard isDistinct(keys, objects, outline) else { return }
            let shared = SharedIDs(at: keys, of: objects, in: outline)
            if shared.isMostly { return }
            if shared.count > 0, let best, isOwn || score <= best.score { return }
            (best, isOwn) = ((keys.map(escaped).joined(separator: "."), score), shared.count == 0)
        }
        for member in outline.children(of: first) {
            if let score = score(member, in: list, outline) { consider([outline.key(member)], score) }
            guard outline.nodes[member].kind == .object, wrappers.contains(outline.key(member)) else {
                continue
            }
            for inner in outline.children(of: member) {
                guard let score = score(inner, in: list, outline) else { continue }
                consider([outline.key(member), outline.key(inner)], score - 15)
            }
        }
        return best
    }

    private static func isDistinct(_ keys: [String], _ items: [Int], _ outline: JSONOutline) -> Bool {
        var seen: [UInt64] = []
        var missing = 0
        for item in items {
            guard let node = outline.find(keys, from: item), outline.nodes[node].kind != .null else {
                missing += 1
                continue
            }
            switch outline.nodes[node].kind {
            case .string, .integer: break
            default: return false
            }
            let range = outline.nodes[node].range
            if range.isEmpty { return false }
            seen.append(hash(outline.slice(range)))
        }
        seen.sort()
        let distinct = seen.isEmpty ? 0 : 1 + zip(seen, seen.dropFirst()).count { $0 != $1 }
        // A row need not be a post, and a server may show a post twice.
        return missing * 10 <= items.count && distinct * 4 >= (items.count - missing) * 3
    }

    /// FNV-1a.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
