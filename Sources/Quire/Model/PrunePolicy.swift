/// The limits of a prune (R17). Limits that are nil do not apply. Whole pages leave, never one with a pinned
/// or visible post; what leaves opens a gap with the link that brings it back.
public struct PrunePolicy: Sendable, Hashable {
    /// Forget every segment but the top one, if none of its posts is pinned or visible.
    public var dropsOutOfSequence = false
    /// Forget pages received more than this many milliseconds before `now`. Those received after `now`,
    /// because the clock was wrong, count as received now from then on.
    public var maximumAge: Int64?
    /// The caller's clock, in milliseconds since 1970; only `maximumAge` needs it.
    public var now: Int64 = 0
    /// Most posts, pages, bytes of bodies to keep. Pages outside the top segment leave first, then
    /// others, each from the tail up.
    public var maximumPosts: Int?
    /// Most pages to keep.
    public var maximumPages: Int?
    /// Most bytes of bodies to keep.
    public var maximumBytes: Int?
    /// Posts on the screen: their pages stay.
    public var visible: Set<PostID> = []
    /// Stop after forgetting this many posts; call again to go on. At least one page leaves per call.
    public var budget: Int = 10_000

    /// A policy that forgets nothing.
    public init() {}
}

/// The result of a prune.
public struct PruneResult: Sendable, Hashable {
    /// Pages whose posts left.
    public var pages = 0
    /// Posts that left.
    public var posts = 0
    /// The policy is met, or nothing more may leave. If false, call again.
    public var isDone = true
}
