/// The chunks in which other feeds of the collection hold posts that a rule concerns. Most posts are in one
/// feed, so what looks at many entries asks for the set of those that are not.
struct OtherPlaces {
    typealias Place = (feed: UInt32, position: UInt64)

    private var places: [PostID: [Place]] = [:]

    /// Returns the places of a post, one for each feed.
    subscript(id: PostID) -> [Place] { places.isEmpty ? [] : places[id] ?? [] }

    /// Returns the entries of these posts.
    func entries(in index: EntryIndex) -> EntrySet {
        places.isEmpty ? EntrySet() : EntrySet(places.keys.lazy.compactMap { index[$0] })
    }

    /// Adds what one look-up has found: all places of its posts, each once. What is known of a post stays.
    mutating func add(_ found: [(id: PostID, place: Place)]) {
        if found.isEmpty { return }
        for (id, found) in Dictionary(grouping: found, by: \.id) where places[id] == nil {
            places[id] = found.map(\.place)
        }
    }
}
