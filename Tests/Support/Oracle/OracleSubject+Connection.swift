import Quire

// THE PLACE TO CONNECT. The oracle reads the engine here and nowhere else; what it does to the engine
// beyond `Feed`'s own methods is `prune` and `pruneOutOfSequence`.

extension OracleSubject {
    /// All rows of the feed, top first, detached entries included.
    func rows() throws -> [OracleRow] {
        try feed.cache.withSnapshot { snapshot in
            try snapshot.rows(of: feed, limit: .max).map { row in
                switch row {
                case .gap(let gap): .gap(gap.id)
                case .post(let post):
                    .post(
                        post.id, isDetached: post.isDetached, isPinned: post.isPinned,
                        isPlaceholder: post.isPlaceholder, page: post.page, isUnverified: post.isUnverified)
                }
            }
        }
    }

    /// The server said that nothing lies above the first row; true also in an empty feed.
    func headIsClosed() throws -> Bool {
        try feed.cache.withSnapshot { try $0.info(of: feed).head } == .end
    }

    /// The server said that nothing lies below the last row.
    func tailIsEnd() throws -> Bool {
        try feed.cache.withSnapshot { try $0.info(of: feed).tail } == .end
    }

    /// That was concluded from what the server did, no answer said it (R26.7).
    func tailIsAssumed() throws -> Bool {
        try feed.cache.withSnapshot { try $0.info(of: feed).isEndAssumed }
    }

    func prune(maximumPosts: Int, keeping visible: Set<PostID>, budget: Int) throws {
        var policy = PrunePolicy()
        policy.maximumPosts = maximumPosts
        policy.visible = visible
        policy.budget = budget
        _ = try feed.prune(policy)
    }

    func pruneOutOfSequence(keeping visible: Set<PostID>) throws {
        var policy = PrunePolicy()
        policy.dropsOutOfSequence = true
        policy.visible = visible
        _ = try feed.prune(policy)
    }
}
