public import Quire

/// Posts of one page that have the id of a post above them on it, but are other posts: a field besides the id
/// tells them apart, and a feed can hold only one of them.
///
/// A server may show one post twice on a page, and not always in the same state, so other bytes alone say
/// nothing. Two items with one id are two posts if they differ in what a post keeps: in another id, or in the
/// time at which it was made. Where neither field is there, items with other bytes count as other posts if
/// they are at least two, and more than a tenth of the page.
public struct SharedIDs: Sendable {
    /// How many posts of the page are lost because of the id.
    public var count: Int { lost.count }
    /// A hash of each of these posts, by which this process knows one that another page shows again.
    public var lost: Set<Int> {
        changed.count > 1 && changed.count * 10 > items ? told.union(changed) : told
    }
    /// The path of a field in which they differ, from the item; nil if there is none like an id.
    public private(set) var field: String?

    private var items = 0
    /// Items that differ from the one above in what a post keeps.
    private var told: Set<Int> = []
    /// Items that have other bytes than the one above.
    private var changed: Set<Int> = []

    /// True if the page is nothing that this id can tell apart.
    var isMostly: Bool { count * 10 > items }

    /// Compares the posts of an answer with those of the same id above them. Paths start at the item, as
    /// `--id` has them.
    public init(in answer: Answer, of profile: Profile) {
        let post = profile.post.keys.map(ListPlace.escaped)
        var first: [PostID: Range<Int>] = [:]
        for post in answer.posts where !post.body.isEmpty {
            items += 1
            guard let above = first.updateValue(post.body, forKey: post.id) else { continue }
            first[post.id] = above
            let (bytes, others) = (answer.bytes[post.body], answer.bytes[above])
            if bytes.elementsEqual(others) { continue }
            guard let outline = JSONOutline(Array(bytes)[...]), let other = JSONOutline(Array(others)[...])
            else {
                changed.insert(bytes.hashValue)
                continue
            }
            add(Item(outline: outline, node: 0), Item(outline: other, node: 0), bytes.hashValue)
        }
        field = field.map { (post + [$0]).joined(separator: ".") }
    }

    /// Compares the items that have the same id at this path.
    init(at path: [String], of items: [Int], in outline: JSONOutline) {
        var first: [ArraySlice<UInt8>: Int] = [:]
        self.items = items.count
        for item in items {
            guard let node = outline.find(path, from: item), outline.nodes[node].isWord else { continue }
            let id = outline.slice(outline.nodes[node].range)
            guard let above = first[id] else {
                first[id] = item
                continue
            }
            let bytes = outline.slice(outline.nodes[item].range)
            if bytes == outline.slice(outline.nodes[above].range) { continue }
            add(Item(outline: outline, node: item), Item(outline: outline, node: above), bytes.hashValue)
        }
    }

    private struct Item {
        let outline: JSONOutline
        let node: Int
    }

    private mutating func add(_ item: Item, _ above: Item, _ hash: Int) {
        guard let difference = Self.difference(item, above) else {
            changed.insert(hash)
            return
        }
        told.insert(hash)
        if field == nil, difference.isID { field = difference.path }
    }

    /// Returns the path of what a post keeps and in which these differ; an id before a time.
    private static func difference(
        _ item: Item, _ above: Item, under keys: [String] = []
    ) -> (path: String, isID: Bool)? {
        var time: (path: String, isID: Bool)?
        for member in item.outline.children(of: item.node) where !item.outline.nodes[member].key.isEmpty {
            let key = item.outline.key(member)
            guard let other = above.outline.find([key], from: above.node) else { continue }
            let path = (keys + [ListPlace.escaped(key)])
            if item.outline.nodes[member].kind == .object, keys.isEmpty, ListPlace.wrappers.contains(key) {
                let inner = difference(
                    Item(outline: item.outline, node: member), Item(outline: above.outline, node: other),
                    under: path)
                if let inner, inner.isID { return inner }
                time = time ?? inner
                continue
            }
            guard item.outline.nodes[member].isWord, above.outline.nodes[other].isWord else { continue }
            let isID = ListPlace.isKeptID(member, item.outline)
            guard isID || isTimeOfMaking(key),
                item.outline.text(member) != above.outline.text(other)
            else { continue }
            let difference = (path: path.joined(separator: "."), isID: isID)
            if isID { return difference }
            time = time ?? difference
        }
        return time
    }

    private static func isTimeOfMaking(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.contains("creat") || name.contains("publish")
    }
}

extension JSONOutline.Node {
    /// True for a string or number with something in it.
    fileprivate var isWord: Bool { [.string, .integer, .fraction].contains(kind) && !range.isEmpty }
}
