/// The name of a row: a post by its id, a gap by its number.
public enum RowID: Hashable, Sendable {
    /// A post, by its id.
    case post(PostID)
    /// A gap, by its number.
    case gap(GapID)
}

/// One difference between two states of a feed. Applied in order to the rows before a commit, the
/// changes of that commit give the rows after it.
public enum Change: Hashable, Sendable {
    /// The row is now directly below another one, at the top if that is nil.
    case inserted(RowID, below: RowID?)
    /// The row is no longer in the feed.
    case removed(RowID)
    /// The post's body changed; its place did not.
    case updated(PostID)
    /// The feed was reset, or changed too much to list: read it anew.
    case reset
}
