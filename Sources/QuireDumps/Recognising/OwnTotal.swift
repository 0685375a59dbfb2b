/// Finds the number of posts that a response says the whole list has.
enum OwnTotal {
    /// Names that servers have for nothing else. A `count` is often that of the page.
    private static let names = [
        "total", "total_count", "totalCount", "total_results", "totalResults", "total_items", "totalItems",
        "totalElements", "total_elements", "total_hits", "totalHits", "totalSize", "nbHits", "numFound",
    ]
    private static let containers = [
        "meta", "_meta", "pagination", "paging", "page", "page_info", "pageInfo", "metadata",
    ]

    /// Returns the path of the number, beside the list or at the top, or in an object there that describes
    /// the page; nil if there is none. A number below that of the items counts something else.
    static func find(in outline: JSONOutline, beside list: [String], items: Int) -> FieldPath? {
        let beside = Array(list.dropLast())
        for start in beside.isEmpty ? [[]] : [beside, []] {
            guard let node = outline.find(start), outline.nodes[node].kind == .object else { continue }
            for container in [nil] + containers {
                guard let inner = container.map({ outline.find([$0], from: node) }) ?? node else { continue }
                for name in names {
                    // Elasticsearch: {"total": {"value": 12}}
                    for path in [[name], [name, "value"]] {
                        guard let member = outline.find(path, from: inner),
                            outline.nodes[member].kind == .integer,
                            let number = Int(outline.text(member)), number >= items
                        else { continue }
                        let keys = start + (container.map { [$0] } ?? []) + path
                        return try? FieldPath(keys.map(ListPlace.escaped).joined(separator: "."))
                    }
                }
            }
        }
        return nil
    }
}
