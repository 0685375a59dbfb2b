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

        /// Stays the same while the row moves or changes.
        public enum ID: Sendable, Hashable {
            /// That of a post.
            case post(PostID)
            /// That of a gap.
            case gap(GapID)
            /// That of the row at this end of the feed.
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

        /// Where what is missing here is asked for: posts, or the body of a post; nil if nothing is.
        public var missing: Place? {
            switch self {
            case .post(let post): post.missing
            case .gap(let gap): .gap(gap.id)
            case .more(let place): place
            }
        }
    }
}

/// What goes on at a place of a feed.
public enum LoadState: Sendable {
    /// Nothing is asked for here.
    case idle
    /// A request is on its way.
    case loading
    /// There is nothing more to ask for.
    case end
    /// The last request failed. The list asks here again when it is told to.
    case failed(any Error)
    /// The last answers led nowhere, for this reason. The list asks here again when it is told to.
    case stopped(Outcome.Verdict)

    /// A request is on its way.
    public var isLoading: Bool { if case .loading = self { true } else { false } }
    /// Why the last request failed, nil if it did not.
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
