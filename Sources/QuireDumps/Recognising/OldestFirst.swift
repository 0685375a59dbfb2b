public import Quire

extension Recognition {
    /// Returns true if the posts of an answer show that its list begins with its oldest post: a time in them
    /// ascends, and none descends. New posts come at the end of such a list. Returns nil if these are too few
    /// posts to tell, or their bodies are not those of JSON.
    public static func isOldestFirst(_ answer: Answer) -> Bool? {
        let bodies = answer.posts.prefix(50).map { answer.bytes[$0.body] }
        if bodies.count < OrderFinding.least { return nil }
        let list = [UInt8(ascii: "[")] + bodies.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        guard let outline = JSONOutline(list[...]) else { return nil }
        let items = Array(outline.children(of: 0))
        guard items.allSatisfy({ outline.nodes[$0].kind == .object }) else { return nil }
        let times = OrderFinding(items, in: outline).times.filter { $0.steps > 0 }
        return times.contains(where: \.isAscending) && !times.contains(where: \.isDescending)
    }
}
