/// The chunks in which other feeds of the collection hold posts that a rule concerns. Most posts are in one
/// feed, so a word of bits answers for most of them.
struct OtherPlaces {
    typealias Place = (feed: UInt32, position: UInt64)

    private var places: [PostID: [Place]] = [:]
    private var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }

    /// Returns the places of a post, one for each feed.
    @inline(__always)
    subscript(id: PostID) -> [Place] {
        if bits & Self.bit(of: id) == 0 { return [] }
        return places[id] ?? []
    }

    mutating func add(_ id: PostID, _ feed: UInt32, _ position: UInt64) {
        bits |= Self.bit(of: id)
        if places[id]?.contains(where: { $0.feed == feed }) ?? false { return }
        places[id, default: []].append((feed, position))
    }

    @inline(__always)
    private static func bit(of id: PostID) -> UInt64 { 1 << UInt64(id._rawHashValue(seed: 0) & 63) }
}
