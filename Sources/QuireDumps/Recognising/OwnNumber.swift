/// Finds the number that a response gives itself. It tells whether a server counts pages from 0 or from 1.
enum OwnNumber {
    private static let names = [
        "number", "page", "pageNumber", "page_number", "pageIndex", "page_index", "current_page",
        "currentPage",
    ]
    private static let containers = [
        "page", "meta", "_meta", "pagination", "paging", "page_info", "pageInfo", "pageable",
    ]

    /// Returns the number beside the list or at the top, or in an object there that describes the page; nil
    /// if there is none, or it is neither 0 nor 1.
    static func find(in outline: JSONOutline, beside list: [String]) -> Int? {
        let beside = Array(list.dropLast())
        for start in beside.isEmpty ? [[]] : [beside, []] {
            for place in [[]] + containers.map({ [$0] }) {
                for name in names {
                    guard let node = outline.find(start + place + [name]),
                        outline.nodes[node].kind == .integer,
                        let number = Int(outline.text(node))
                    else { continue }
                    return 0...1 ~= number ? number : nil
                }
            }
        }
        return nil
    }
}
