public import Quire

/// A page read from an input, or the reason why there is none.
public struct InputPage: Sendable {
    /// The kind of document a page comes from.
    public enum Kind: Sendable, Hashable {
        /// One response of an API.
        case response
        /// A list of items. A long one gives several pages.
        case items
        /// A table of a data dump, complete and ordered by id. Its pages come from the bottom up.
        case rows(table: String)
        /// RSS, Atom or JSON Feed.
        case syndication
    }

    /// The content of a page.
    public enum Content: Sendable {
        /// A page with posts.
        case response(Response)
        /// The page could not be read, for this reason.
        case failure(DumpError)
        /// The file belongs to a folder or an archive, but not to the feed. The text says why.
        case passedOver(String)
    }

    /// The place after a page where a reader can continue.
    public struct Position: Sendable, Hashable, Codable {
        /// The number of inputs read, of files in the next input, and of pages in the next of these.
        public var inputs = 0, entries = 0, pages = 0

        /// The beginning of the first input.
        public init() {}
    }

    /// The page, or why there is none.
    public var content: Content
    /// The kind of its document.
    public var kind: Kind
    /// The file, and the file within it, for messages.
    public var place: String
    /// The number in the name of the file, or of the one in an archive, if this is the file's first page.
    public var number: Int?
    /// What stands before the number in that name (``PageFile/series``).
    public var series = ""
    /// The number of posts that the previous page showed too. They prove that nothing lies between the pages.
    public var repeated = 0
    /// Rows: true if nothing is above this page, because the table ended properly.
    public var isTop = false
    /// True if the document could not be read on from here, although it has, or should have, more. Rows: also
    /// if a row is missing here.
    public var isCut = false
    /// The place after this page.
    public var position = Position()
    /// The stored bytes of the inputs read so far.
    public var consumed = 0

    init(_ content: Content, kind: Kind, place: String) {
        (self.content, self.kind, self.place) = (content, kind, place)
    }

    /// The response; nil if it could not be read or is not part of the feed.
    public var response: Response? {
        if case .response(let response) = content { response } else { nil }
    }

    /// The answer of the response, as ``Quire/Feed/ingest(_:for:)`` takes it.
    public var answer: Answer? { response?.answer }

    /// Its approximate size in memory.
    public var size: Int {
        answer.map { $0.bytes.count + $0.posts.count * MemoryLayout<Post>.stride } ?? place.utf8.count
    }
}

/// A document that is read page by page from start to end.
protocol DocumentReader: AnyObject {
    /// Returns the next page, or why there is none in its place; nil at the end.
    func next() -> InputPage?
}
