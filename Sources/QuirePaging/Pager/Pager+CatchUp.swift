import Quire

extension Pager {
    /// Refreshes, then requests what is missing between the first post and a marker, from the top down. Fills
    /// the gaps above the marker, and continues below the last post if the marker is not cached.
    ///
    ///     let catchUp = try await pager.catchUp(to: lastRead, budget: 10)
    ///     if catchUp.reachesMarker { … }   // the number of posts above it is exact
    ///
    /// - Parameters:
    ///   - marker: The post to come down to, such as the last one that was read.
    ///   - budget: The largest number of pages to ask for, the first one included.
    /// - Returns: How many pages were asked for, and whether nothing is missing above the marker.
    @discardableResult
    public func catchUp(to marker: PostID, budget: Int) async throws -> CatchUp {
        var catchUp = CatchUp(last: try await page(at: .head))
        catchUp.pages = 1
        while let next = try whatIsMissing(above: marker) {
            if catchUp.pages >= budget { return catchUp }
            if case .gap(let gap) = next {
                catchUp.last = try await fillOnce(gap)
            } else {
                catchUp.last = try await append()
            }
            guard case .loaded = catchUp.last else { return catchUp }
            catchUp.pages += 1
        }
        catchUp.reachesMarker = true
        return catchUp
    }

    /// Returns the place of the next request toward a post; nil if nothing is missing above it.
    private func whatIsMissing(above marker: PostID) throws -> Place? {
        let feed = feed
        return try feed.cache.withSnapshot { snapshot in
            let post = try snapshot.find(marker, in: feed)
            guard let gap = try snapshot.gaps(of: feed, limit: 1).first else {
                return post == nil ? .tail : nil
            }
            guard let post else { return .gap(gap.id) }
            let (upper, lower) = (
                try snapshot.rank(of: gap.position, in: feed), try snapshot.rank(of: post.position, in: feed)
            )
            return upper < lower ? .gap(gap.id) : nil
        }
    }
}
