import Quire

extension FeedModel {
    /// What a list shows in one row.
    public enum Row: Sendable, Identifiable {
        /// A post.
        case post(TypedPost<Model>)
        /// Posts may be missing here.
        case gap(GapRow)
        /// There is more above the first row (``Quire/Place/openHead``) or below the last one
        /// (``Quire/Place/tail``), in the cache or at the server.
        case more(Place)

        /// The identity of a row. It stays the same while the row moves or changes.
        public enum ID: Sendable, Hashable {
            /// A post.
            case post(PostID)
            /// A gap.
            case gap(GapID)
            /// The row at this end of the feed.
            case more(Place)
        }

        public var id: ID {
            switch self {
            case .post(let post): .post(post.id)
            case .gap(let gap): .gap(gap.id)
            case .more(let place): .more(place)
            }
        }

        /// The post, nil for other rows.
        public var post: TypedPost<Model>? { if case .post(let post) = self { post } else { nil } }

        /// The place to request what is missing here, posts or the body of a post; nil if nothing is.
        public var missing: Place? {
            switch self {
            case .post(let post): post.missing
            case .gap(let gap): .gap(gap.id)
            case .more(let place): place
            }
        }
    }
}

/// The state of loading at a place of a feed.
public enum LoadState: Sendable {
    /// There is no request.
    case idle
    /// A request is under way.
    case loading
    /// There is nothing more to request.
    case end
    /// The last request failed. The list retries here only when told to.
    case failed(any Error)
    /// The last answers led nowhere, for this reason. The list retries here only when told to.
    case stopped(Outcome.Verdict)

    /// True if a request is under way.
    public var isLoading: Bool { if case .loading = self { true } else { false } }
    /// Why the last request failed; nil if it did not.
    public var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}

extension LoadState: CustomStringConvertible {
    public var description: String {
        switch self {
        case .idle: "idle"
        case .loading: "loading"
        case .end: "end"
        case .failed(let error): "failed: \("\(error)".debugDescription)"
        case .stopped(let verdict): "stopped: \(verdict.rawValue)"
        }
    }
}

/// Where the rows of a ``FeedModel`` are in their feed, for an honest scroll bar.
public struct FeedExtent: Sendable, Hashable {
    /// The number of rows of the cache above those that are held.
    public internal(set) var above = 0
    /// The number of rows that are held.
    public internal(set) var held = 0
    /// The number of rows of the cache below them.
    public internal(set) var below = 0
    /// How many posts the server said that the list has, when it last said so; nil if it never did.
    public internal(set) var total: Int?
    /// How many of these are not cached. They may never come: a server may show only the first posts of a
    /// list, or count posts that it hides.
    public internal(set) var missing: Int?
    /// Where all of the missing posts are, if there is only one such place: show placeholders for them there.
    /// Nil if there are several, as it is not known how many are at each, or none, as the list has ended.
    public internal(set) var missingAt: Place?

    init() {}

    init(_ window: FeedWindow, _ info: FeedInfo, total: Int?) {
        (above, held) = (window.rank, window.rows.count)
        below = max(0, window.rowCount - above - held)
        self.total = total
        missing = total.map { max(0, $0 - info.posts) }
        let open: [Place] = (info.isHeadOpen ? [.openHead] : []) + (info.tail == .end ? [] : [.tail])
        if missing ?? 0 > 0, info.gaps == 0, open.count == 1 { missingAt = open[0] }
    }
}
