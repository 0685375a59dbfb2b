/// Finds the number of posts that a response says the whole list has.
enum OwnTotal {
    /// Names that servers have for nothing else. A `count` is often that of the page.
    private static let names = [
        "total", "total_count", "totalCount", "total_results", "totalResults", "total_items", "totalItems",
        "totalElements", "total_elements", "total_hits", "totalHits", "totalSize", "nbHits", "numFound",
    ]
    private static let containers = PageObject.names + ["metadata"]

    /// Returns the path of the number, beside the list or at the top, or in an object there that describes
    /// the page; nil if there is none. A number below that of the items counts something else.
    static func find(in outline: JSONOutline, beside list: [String], items: Int) -> FieldPath? {
        for place in PageObject.places(in: outline, beside: list) {
            for node in [place] + outline.members(of: place, containers) {
                for member in outline.members(of: node, names) {
                    // Elasticsearch: {"total": {"value": 12}}
                    let isInside = outline.nodes[member].kind == .object
                    guard let value = isInside ? outline.find(["value"], from: member) : member,
                        outline.nodes[value].kind == .integer,
                        let number = Int(outline.text(value)), number >= items
                    else { continue }
                    let start = place == 0 ? [] : Array(list.dropLast())
                    let keys = (node == place ? [member] : [node, member]).map(outline.key)
                    return path(start + keys + (isInside ? ["value"] : []))
                }
            }
        }
        return nil
    }

    private static func path(_ keys: [String]) -> FieldPath? {
        try? FieldPath(keys.map(ListPlace.escaped).joined(separator: "."))
    }
}
