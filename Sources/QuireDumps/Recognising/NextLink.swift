/// Finds where a response of an unknown API says how its list goes on.
enum NextLink {
    private static let names = [
        "next", "next_url", "nextUrl", "next_page_url", "next_page", "nextPage", "nextLink",
        "@odata.nextLink", "odata.nextLink", "nextRecordsUrl", "next_cursor", "nextCursor",
        "next_token", "nextToken", "next_page_token", "nextPageToken", "next_batch", "end_cursor",
        "endCursor",
        "cursor", "continuation", "after",
    ]
    private static let containers: Set<String> = [
        "paging", "pagination", "links", "_links", "meta", "page_info", "pageInfo", "cursors", "continue",
        "response_metadata", "next",
    ]

    /// Returns the path of a token or address, beside the list or at the top; nil if there is none.
    static func find(in outline: JSONOutline, around place: ListPlace) -> String? {
        let beside = Array(place.keys.dropLast())
        for start in beside.isEmpty ? [[]] : [beside, []] {
            guard let node = outline.find(start) else { continue }
            if let keys = find(in: outline, node, start, depth: 0) {
                return keys.map(ListPlace.escaped).joined(separator: ".")
            }
        }
        return nil
    }

    private static func find(
        in outline: JSONOutline, _ node: Int, _ keys: [String], depth: Int
    ) -> [String]? {
        guard outline.nodes[node].kind == .object else { return nil }
        let members = outline.children(of: node).map { (key: outline.key($0), node: $0) }
        for name in names {
            guard let member = members.first(where: { $0.key == name }) else { continue }
            switch outline.nodes[member.node].kind {
            case .string, .integer: return keys + [name]
            case .object:
                if outline.find(["href"], from: member.node) != nil { return keys + [name, "href"] }
            default: break
            }
        }
        // MediaWiki names the list: continue.arvcontinue
        if keys.last == "continue", let member = members.first(where: { $0.key != "continue" }) {
            return keys + [member.key]
        }
        if depth == 2 { return nil }
        for member in members where containers.contains(member.key) {
            if let found = find(in: outline, member.node, keys + [member.key], depth: depth + 1) {
                return found
            }
        }
        return nil
    }
}
