/// Finds the number that a response gives itself. It tells whether a server counts pages from 0 or from 1.
enum OwnNumber {
    private static let names = [
        "number", "page", "pageNumber", "page_number", "pageIndex", "page_index", "current_page",
        "currentPage",
    ]

    /// Returns the number beside the list or at the top, or in an object there that describes the page; nil
    /// if there is none, or it is neither 0 nor 1.
    static func find(in outline: JSONOutline, beside list: [String]) -> Int? {
        for place in PageObject.places(in: outline, beside: list) {
            for node in [place] + outline.members(of: place, PageObject.names) {
                for member in outline.members(of: node, names) where outline.nodes[member].kind == .integer {
                    guard let number = Int(outline.text(member)) else { continue }
                    return 0...1 ~= number ? number : nil
                }
            }
        }
        return nil
    }
}
