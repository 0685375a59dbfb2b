public import Quire

/// What was read from an input: a page, or the reason why there is none in its place.
public struct InputPage: Sendable {
    /// What a page is a part of.
    public enum Kind: Sendable, Hashable {
        /// One response of an API.
        case response
        /// A list of items; a long one comes in several pages.
        case items
        /// A table of a data dump, whole and in the order of its ids; its pages come from the bottom up.
        case rows(table: String)
        /// RSS, Atom or JSON Feed.
        case syndication
    }

    /// What was read.
    public enum Content: Sendable {
        /// A page with posts.
        case response(Response)
        /// It could not be read, for this reason.
        case failure(DumpError)
        /// A file of a folder or an archive that is not part of the feed; the text says why.
        case passedOver(String)
    }

    /// Where a reader goes on, if it stops after a page.
    public struct Position: Sendable, Hashable, Codable {
        /// Inputs that were read, files of the next one, and pages of the next of these.
        public var inputs = 0, entries = 0, pages = 0

        /// The beginning of the first input.
        public init() {}
    }

    /// What was read.
    public var content: Content
    /// What kind of document it is from.
    public var kind: Kind
    /// For messages: the file, and the file within it.
    public var place: String
    /// The number in the name of the file, if this is its first page.
    public var number: Int?
    /// Posts that the page before showed, too: they prove that nothing lies between the two.
    public var repeated = 0
    /// Rows: nothing lies above this page; the table ended as it should.
    public var isTop = false
    /// Where reading goes on after this page.
    public var position = Position()
    /// Bytes of the inputs read so far, as stored.
    public var consumed = 0

    init(_ content: Content, kind: Kind, place: String) {
        (self.content, self.kind, self.place) = (content, kind, place)
    }

    /// The response, nil if it could not be read or is not part of the feed.
    public var response: Response? {
        if case .response(let response) = content { response } else { nil }
    }

    /// The answer of the response, as ``Quire/Feed/ingest(_:for:)`` takes it.
    public var answer: Answer? { response?.answer }

    /// How much memory it takes, about.
    public var size: Int {
        answer.map { $0.bytes.count + $0.posts.count * MemoryLayout<Post>.stride } ?? place.utf8.count
    }
}

/// A document that is read from its start to its end, page by page.
protocol DocumentReader: AnyObject {
    /// The next page, or why there is none in its place; nil at the end.
    func next() -> InputPage?
}
