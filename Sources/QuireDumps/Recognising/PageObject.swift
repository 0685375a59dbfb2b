/// Where a response says something of its page.
enum PageObject {
    /// Names of objects that describe a page, beside the list or at the top.
    static let names = [
        "page", "meta", "_meta", "pagination", "paging", "page_info", "pageInfo", "pageable",
    ]

    /// Returns the object that has the list, and the topmost one: one node if they are the same.
    static func places(in outline: JSONOutline, beside list: [String]) -> [Int] {
        let beside = outline.find(list.dropLast())
        return beside == 0 ? [0] : [beside, 0].compactMap(\.self)
    }
}
