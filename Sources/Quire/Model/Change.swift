/// The name of one row of a feed.
public enum RowID: Hashable, Sendable {
    /// A post, by its id.
    case post(PostID)
    /// A gap, by its number.
    case gap(GapID)
}

/// One difference between two states of a feed. If you apply the changes of a commit in order to the rows
/// before it, you get the rows after it.
public enum Change: Hashable, Sendable {
    /// The row is now directly below another one, or at the top if `below` is nil.
    case inserted(RowID, below: RowID?)
    /// The row is no longer in the feed.
    case removed(RowID)
    /// The post's body changed; its place did not.
    case updated(PostID)
    /// The feed was reset, or has more changes than are listed: read it again.
    case reset
}
