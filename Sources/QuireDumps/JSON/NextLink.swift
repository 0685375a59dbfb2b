import Quire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds where a response of an unknown API says how its list goes on.
enum NextLink {
    private static let names = [
        "next", "next_url", "nextUrl", "next_page_url", "next_page_uri", "next_uri", "next_page", "nextPage",
        "nextLink", "@odata.nextLink", "odata.nextLink", "nextRecordsUrl", "next_cursor", "nextCursor",
        "next_token", "nextToken", "next_page_token", "nextPageToken", "next_batch", "end_cursor",
        "endCursor",
        "cursor", "continuation", "after",
    ]
    private static let containers: Set<String> = [
        "paging", "pagination", "links", "_links", "meta", "page_info", "pageInfo", "cursors", "continue",
        "response_metadata", "next",
    ]

    /// Names that belong to nothing else: null for one of them is the end.
    private static let certain = names.prefix { $0 != "next_batch" }

    /// Returns the path of a token or address, beside the list or at the top; nil if there is none.
    static func find(in outline: JSONOutline, beside list: [String]) -> String? {
        place(in: outline, beside: list).map { $0.map(ListPlace.escaped).joined(separator: ".") }
    }

    private static func place(
        in outline: JSONOutline, beside list: [String], isEnd: Bool = false
    ) -> [String]? {
        let beside = Array(list.dropLast())
        for start in beside.isEmpty ? [[]] : [beside, []] {
            guard let node = outline.find(start) else { continue }
            if let keys = find(in: outline, node, start, depth: 0, isEnd: isEnd) { return keys }
        }
        return nil
    }

    /// Returns how a response goes on, as far as a link or its lack shows it.
    static func shown(in response: Surroundings, beside items: FieldPath) -> Link {
        if let relations = response.envelope?["Link"].map({ LinkHeader($0).addresses }) {
            let base = response.envelope?.request.flatMap { URL(string: $0) }
            if let link = relations["next"] {
                return .token(URL(string: link.validAddress, relativeTo: base)?.absoluteString ?? link)
            }
            // Other links of a list in pages without this one: it is the last page.
            if ["prev", "previous", "first"].contains(where: { relations[$0] != nil }) { return .end }
        }
        guard let outline = JSONOutline(response.document) else { return .unknown }
        if let node = place(in: outline, beside: items.keys).flatMap({ outline.find($0) }) {
            let text = outline.plainText(node)
            return text.isEmpty ? .end : .token(text)
        }
        return place(in: outline, beside: items.keys, isEnd: true) == nil ? .unknown : .end
    }

    private static func find(
        in outline: JSONOutline, _ node: Int, _ keys: [String], depth: Int, isEnd: Bool
    ) -> [String]? {
        guard outline.nodes[node].kind == .object else { return nil }
        let members = outline.children(of: node).map { (key: outline.key($0), node: $0) }
        for name in isEnd ? certain[...] : names[...] {
            guard let member = members.first(where: { $0.key == name }) else { continue }
            switch outline.nodes[member.node].kind {
            case .null where isEnd: return keys + [name]
            case _ where isEnd: continue
            case .string, .integer: return keys + [name]
            case .object:
                if outline.find(["href"], from: member.node) != nil { return keys + [name, "href"] }
            default: break
            }
        }
        // MediaWiki names the list: continue.arvcontinue
        if !isEnd, keys.last == "continue", let member = members.first(where: { $0.key != "continue" }) {
            return keys + [member.key]
        }
        if depth == 2 { return nil }
        for member in members where containers.contains(member.key) {
            let found = find(
                in: outline, member.node, keys + [member.key], depth: depth + 1, isEnd: isEnd)
            if let found { return found }
        }
        return nil
    }
}
