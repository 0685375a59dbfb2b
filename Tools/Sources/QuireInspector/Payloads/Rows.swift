import Quire

/// How much of the posts' bodies goes into a page.
struct BodyLimits {
    /// The start of each body, for a line of the list.
    var excerpt = 400
    /// A body that somebody looks at; nil: none comes along.
    var body: Int?
    /// All of them together.
    var total = Int.max

    static let none = BodyLimits(excerpt: 0, body: nil)
}

/// A row, as the list shows it.
struct RowFigures: Encodable {
    let rank: Int
    let gap: GapFigures?
    let id: String?
    /// The id for an address.
    let address: String?
    let key: Int64?
    let page: UInt64?
    let bytes: Int?
    let version: Int64?
    /// How much of the post the body holds; nil: all of it.
    let detail: Int?
    /// Why it is not proven that it follows the post above.
    let doubt: String?
    /// detached, pinned, placeholder, checked, outdated, read.
    let marks: [String]
    let excerpt: String?
    let body: CutText?

    init(_ gap: GapRow, rank: Int) {
        self.rank = rank
        self.gap = GapFigures(FeedMap.Gap(rank: rank, row: gap))
        (id, address, key, page, bytes, version, detail, doubt) = (nil, nil, nil, nil, nil, nil, nil, nil)
        (marks, excerpt, body) = ([], nil, nil)
    }

    init(_ post: PostRow, rank: Int, isRead: Bool, excerpt: String?, body: CutText?) {
        (self.rank, gap) = (rank, nil)
        (id, address) = (brief(post.id), IDText.encoded(post.id))
        (key, page, bytes, version) = (post.key, post.page, post.bodySize, post.version)
        detail = post.detail == .full ? nil : Int(post.detail.rawValue)
        doubt = post.doubt?.rawValue
        var marks: [String] = []
        if post.isDetached { marks.append("detached") }
        if post.isPinned { marks.append("pinned") }
        if post.isPlaceholder { marks.append("placeholder") }
        if post.isChecked { marks.append("checked") }
        if post.isOutdated { marks.append("outdated") }
        if isRead { marks.append("read") }
        self.marks = marks
        (self.excerpt, self.body) = (excerpt, body)
    }
}

extension Snapshot {
    /// Rows of a feed from a rank on, with as much of their bodies as the limits allow. What was taken of the
    /// bodies is subtracted from `limits.total`.
    borrowing func figures(
        of feed: Feed, from rank: Int, limit: Int, _ limits: inout BodyLimits
    ) throws -> [RowFigures] {
        var figures: [RowFigures] = []
        for (offset, row) in try rows(of: feed, from: max(0, rank), limit: limit).enumerated() {
            let rank = max(0, rank) + offset
            switch row {
            case .gap(let gap): figures.append(RowFigures(gap, rank: rank))
            case .post(let post):
                let isRead = try fields(of: post, in: feed)["quire.read"] == [1]
                let (excerpt, text) = try texts(of: post, &limits)
                figures.append(RowFigures(post, rank: rank, isRead: isRead, excerpt: excerpt, body: text))
            }
        }
        return figures
    }

    private borrowing func texts(
        of post: PostRow, _ limits: inout BodyLimits
    ) throws -> (excerpt: String?, body: CutText?) {
        if limits.excerpt == 0 { return (nil, nil) }
        return try body(of: post).withUnsafeBytes { bytes in
            if bytes.isEmpty { return (nil, nil) }
            let excerpt = CutText(bytes, limit: limits.excerpt).text
            guard let limit = limits.body, limits.total > 0 else { return (excerpt, nil) }
            let text = CutText(bytes, limit: min(limit, limits.total))
            limits.total -= text.text.utf8.count
            return (excerpt, text)
        }
    }
}
