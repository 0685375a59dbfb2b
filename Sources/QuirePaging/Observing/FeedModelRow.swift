import Quire

extension FeedModel {
    /// What a list shows in one row.
    public enum Row: Sendable, Identifiable {
        /// A post.
        case post(TypedPost<Model>)
        /// Posts may be missing here.
        case gap(GapRow)
        /// There is more above the first row (``Quire/Place/openHead``) or below the last one
        /// (``Quire/Place/tail``).
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
