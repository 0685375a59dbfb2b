/// An open side of the cached sequence, where a request may attach (Docs/rules.md, section 1).
struct Edge: Hashable {
    var link: Link
    /// Changes whenever the link changes. Tickets refer to this number. Never reused within a feed.
    var number: UInt64
    /// What few edges have. Edges are copied with every state, so it is a reference.
    private var rarity: Rarity?
    /// True after "end" was reported once. Confirming it takes several requests (R11).
    var isDoubtful = false
    /// True if the link begins beyond the border, at a post that was dropped on arrival (R16).
    var isLoose = false
    /// True if this end was inferred: no answer showed it together with the border (R26.7).
    var isAssumed = false

    private final class Rarity: Hashable, Sendable {
        let after: PostID?
        let triedLinks: [Link]
        let search: Search?

        init(_ after: PostID?, _ triedLinks: [Link], _ search: Search?) {
            (self.after, self.triedLinks, self.search) = (after, triedLinks, search)
        }

        static func == (a: Rarity, b: Rarity) -> Bool {
            a === b || a.after == b.after && a.triedLinks == b.triedLinks && a.search == b.search
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(after)
            hasher.combine(triedLinks)
            hasher.combine(search)
        }
    }

    init(
        link: Link, number: UInt64, after: PostID? = nil, triedLinks: [Link] = [], isLoose: Bool = false
    ) {
        (self.link, self.number, self.isLoose) = (link, number, isLoose)
        if after != nil || !triedLinks.isEmpty { set(after, triedLinks, nil) }
    }

    private mutating func set(_ after: PostID?, _ triedLinks: [Link], _ search: Search?) {
        let isEmpty = after == nil && triedLinks.isEmpty && search == nil
        rarity = isEmpty ? nil : Rarity(after, triedLinks, search)
    }

    /// The link is overlapping if set: its answer starts below this entry, somewhere above the border.
    var after: PostID? {
        get { rarity?.after }
        set { if newValue != after { set(newValue, triedLinks, search) } }
    }

    /// The links followed here since the last new entry (R12).
    var triedLinks: [Link] {
        get { rarity?.triedLinks ?? [] }
        set { if newValue != triedLinks { set(after, newValue, search) } }
    }

    /// Where the next request below this border starts, in feeds paged by position (R26).
    var search: Search? {
        get { rarity?.search }
        set { if rarity != nil || newValue != nil { set(after, triedLinks, newValue) } }
    }

    var isOverlapping: Bool { after != nil }

    /// True if its link starts below one of these posts, or its search is about one of them.
    func names(_ posts: Set<PostID>) -> Bool {
        rarity != nil && [after, search?.border, search?.after].contains { $0.map(posts.contains) ?? false }
    }
}
