public import Quire

/// A parsed response: its posts and links, and where in the feed the server says it lies.
public struct Response: Sendable {
    /// What a request asked for.
    public enum Asked: Sendable, Hashable {
        /// The top of the feed.
        case head
        /// The top of the feed down to this post, exclusive.
        case newer(PostID)
        /// A page below another one.
        case below
        /// What lies directly above this post.
        case above(PostID)
        /// What lies on both sides of this post.
        case around(PostID)
    }

    /// The posts and links, as ``Quire/Feed/ingest(_:for:)`` takes them.
    public var answer: Answer
    /// What its request asked for; nil if that was not recorded, or the profile cannot tell.
    public var asked: Asked?
    /// The link that led to it; nil if neither the response nor its recording tells.
    public var own: Link?
    /// True if a page without posts says that the list ends, and the profile doubts that: perhaps the post is
    /// gone that the link of the request names. The answer then says nothing about what follows.
    public var isEndDoubtful = false
    /// True if the answer goes on with an archive, which does not change (RFC 5005).
    public var leadsToArchive = false
    /// The number of the page, as the server counts.
    public var page: Int?
    /// The number of pages, as the server says.
    public var pages: Int?
    /// The number of posts, as the server says.
    public var total: Int?
    /// The number of seconds that the server asks to wait before the next request.
    public var backoff: Double?
    /// The number of requests that the server still permits.
    public var quota: Int?
    /// The number of seconds until it permits new ones.
    public var quotaRenewal: Double?

    init(_ answer: Answer) { self.answer = answer }

    /// Returns in words what the link to the next page is, if it is plainly the number of a page or an
    /// offset: `its links are page numbers (page=2)`. Posts slide under such links (R26.9).
    ///
    /// It is for feeds (RSS, Atom, JSON Feed), of which any server has pages; ``Recognition`` says it of
    /// others. `unseen` names parameters that the request had besides.
    public func position(of request: String, unseen: Set<String> = []) -> String? {
        guard !leadsToArchive, case .token(let link) = answer.next else { return nil }
        let rows = answer.posts.count + answer.opaqueRows
        return PositionLink(link, of: request, unseen: unseen, rows: rows, mayMove: true)?.words
    }

    /// Returns true if its request named a place by other means than a number. Then the lack of a number does
    /// not mean the first page.
    func isBeside(firstPage: Int) -> Bool {
        switch asked {
        case .above, .around: true
        case .below: page == firstPage
        case .head, .newer, nil: false
        }
    }

    /// Returns the answer for a crawl and the number of its page in the crawl, and tells the crawl where it
    /// belongs.
    ///
    /// The request decides: an answer about the head starts again at the top, and one about a link goes below
    /// the page that gave the link, in any order and with any numbers. If the request is unknown, `number`
    /// decides: the page's own number in the crawl. An answer around a post is not a page of a crawl; plan
    /// ``Quire/Place/around(_:)`` for it.
    public func place(number: Int?, in crawl: inout Crawl) -> (answer: Answer, number: Int?) {
        var answer = answer
        if let page, answer.next == .more || answer.next == .unknown {
            answer.next = .token("page=\(page + 1)")
        }
        switch asked {
        case .head, .newer: return (answer, crawl.beginAtHead(by: own, number, page: page))
        case .above(let id): return (answer, crawl.leap(to: .above(id), number))
        case .below, .around, nil:
            return (answer, crawl.descend(by: own, number, isFirst: asked == nil, page: page))
        }
    }
}
