/// The first page of another feed, brought by a response: the children of a post, the comments of a thread.
///
///     EmbeddedPage(of: "tracks of 124", options: options, answer)
///
/// `answer.next` says whether that was all. With `.end` the feed is complete and fresh, and opening it causes
/// no request. With a link it continues there. With `.unknown` its first page is requested again.
public struct EmbeddedPage: Sendable, Hashable {
    /// The name of the feed, which need not exist yet.
    public var feed: String
    /// The options of the feed. If it exists, it must have been created with these.
    public var options: FeedOptions
    /// Its first posts, top first. In a feed of ids, the list of all ids; bodies are optional.
    public var answer: Answer
    /// What to remember if the page is accepted. A pager sets it.
    public var note: PageNote?

    /// Creates the first page of this feed.
    public init(of feed: String, options: FeedOptions, _ answer: Answer, note: PageNote? = nil) {
        (self.feed, self.options, self.answer, self.note) = (feed, options, answer, note)
    }
}

/// An attribute of a feed that is set in the commit of an answer, if the answer is accepted (`.ok`, `.joined`
/// or `.gap`). Nine bytes follow its value: the number of the page that the answer became (``Outcome/page``),
/// little-endian, 0 if it became none; and 1 if the feed took in all of its posts (``Outcome/ignored``), else
/// 0.
public struct PageNote: Sendable, Hashable {
    /// The name of the attribute.
    public var attribute: String
    /// The value, without the nine bytes.
    public var value: [UInt8]

    /// Creates a note.
    public init(_ attribute: String, _ value: [UInt8]) {
        (self.attribute, self.value) = (attribute, value)
    }
}
