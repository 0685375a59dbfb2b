/// One post of a page; its body is a range of the page's bytes.
struct PagePost {
    var id: UInt64
    var key: Int64
    var body: Range<Int>
}

/// A page as a server would hand it out, top first.
struct FeedPage {
    var feed: Int
    /// What the request for the page below would name.
    var following: Int
    var posts: [PagePost]
    var bytes: [UInt8]
    /// How many of its posts the feed holds already.
    var duplicates: Int
    /// How many bytes the bodies of posts have that no feed holds yet.
    var newBytes: Int
}

/// A page by its place: 0 is the topmost of the feed.
struct PageAddress: Hashable {
    var feed: Int
    var index: Int
}
