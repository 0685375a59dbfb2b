public import Quire

/// Attaches a response to a feed if its request names a post.
extension Response {
    /// True if its request names a post. Then it depends on the feed how the response attaches.
    public var namesPost: Bool {
        switch asked {
        case .newer, .above: true
        case .head, .below, .around, nil: false
        }
    }

    /// Returns the response with the post that its request names added below its own posts, if that post is
    /// cached. A server that was asked for what is directly above a post, or newer than it, says that nothing
    /// lies between. Returns nil if nothing tells where the response belongs: the feed lacks the post, and
    /// the response's posts have no keys.
    public func attached(to feed: Feed, _ snapshot: borrowing Snapshot) throws -> Response? {
        let isOrdered =
            [.stable, .bump].contains(feed.options.order) && answer.posts.allSatisfy { $0.key != nil }
        var attached = self
        if try answer.posts.isEmpty || snapshot.rows(of: feed, limit: 1).isEmpty { return attached }
        switch asked {
        case .head, .below, .around, nil: break
        case .newer(let id):
            // Only a complete answer reaches down to the post.
            if answer.next == .end { try attached.add(id, in: feed, snapshot) }
        case .above(let id):
            if try attached.add(id, in: feed, snapshot) {
                let top = try snapshot.rows(of: feed, limit: 16).lazy.compactMap(\.post).first {
                    !$0.isDetached
                }
                if top?.id == id, !answer.previous.isToken { attached.asked = .newer(id) }
            } else if !isOrdered {
                return nil
            }
        }
        return attached
    }

    /// Adds a cached post below the others, with the link that continues below it. Returns false if it is not
    /// cached.
    @discardableResult
    private mutating func add(_ id: PostID, in feed: Feed, _ snapshot: borrowing Snapshot) throws -> Bool {
        guard let row = try snapshot.find(id, in: feed), !row.isDetached else { return false }
        if answer.posts.contains(where: { $0.id == id }) { return true }
        answer.append(id: id, key: row.key)
        switch try snapshot.rows(of: feed, after: row.position, limit: 1).first {
        case .gap(let gap): answer.next = gap.down
        case nil: answer.next = try snapshot.info(of: feed).tail
        case .post where answer.next == .end || feed.options.paging == .keyset: answer.next = .below(id)
        case .post: break  // it leads to this post and continues from there
        }
        return true
    }
}

extension Link {
    fileprivate var isToken: Bool {
        if case .token = self { true } else { false }
    }
}
