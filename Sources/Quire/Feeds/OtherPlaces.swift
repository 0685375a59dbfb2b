/// The chunks in which other feeds of the collection hold posts that a rule concerns. Most posts are in one
/// feed, so what looks at many entries asks for the set of those that are not.
struct OtherPlaces {
    typealias Place = (feed: UInt32, position: UInt64)

    private struct Known {
        let lookUp: Int
        var places: [Place] = []
    }

    private var places: [PostID: Known] = [:]
    private var lookUps = 0

    /// Returns the places of a post, one for each feed.
    subscript(id: PostID) -> [Place] { places.isEmpty ? [] : places[id]?.places ?? [] }

    /// Returns the entries of these posts.
    func entries(in index: EntryIndex) -> EntrySet {
        places.isEmpty ? EntrySet() : EntrySet(places.keys.lazy.compactMap { index[$0] })
    }

    /// Begins to add what one look-up has found: all places of its posts, each once.
    mutating func beginLookUp() { lookUps += 1 }

    /// Adds a place of a post. What another look-up has found of it stays.
    mutating func add(_ id: PostID, _ feed: UInt32, _ position: UInt64) {
        if let known = places[id], known.lookUp != lookUps { return }
        places[id, default: Known(lookUp: lookUps)].places.append((feed, position))
    }
}
