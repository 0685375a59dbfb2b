public import Quire

/// What a response says: its posts and links, and where in the feed the server says it lies.
public struct Response: Sendable {
    /// What a response answers, as its request says.
    public enum Asked: Sendable, Hashable {
        /// The top of the feed.
        case head
        /// The top of the feed, but nothing from this post on.
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
    /// The link that was followed to it; nil if neither the response nor its recording tells.
    public var own: Link?
    /// The number of the page, as the server counts.
    public var page: Int?
    /// How many pages the server says there are.
    public var pages: Int?
    /// How many posts the server says there are.
    public var total: Int?
    /// How many seconds the server asks to wait before the next request.
    public var backoff: Double?
    /// How many requests the server still permits.
    public var quota: Int?
    /// In how many seconds it permits new ones.
    public var quotaRenewal: Double?

    init(_ answer: Answer) { self.answer = answer }

    /// True if its request named a place by other means than a number: then it is not the first page for want
    /// of one.
    func isBeside(firstPage: Int) -> Bool {
        switch asked {
        case .above, .around: true
        case .below: page == firstPage
        case .head, .newer, nil: false
        }
    }

    /// The answer for a crawl, and the number of its page in the crawl; the crawl learns where it belongs.
    ///
    /// What the request asked for decides: an answer about the head begins anew at the top, one about a link
    /// goes below the page that gave the link, in whatever order they come and however they are numbered.
    /// Where nothing is known of the request, `number` says it: the page's own in the crawl. An answer around
    /// a post is no page of a crawl; plan ``Quire/Place/around(_:)`` for it.
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
