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
        while true {
            let next: Place
            switch try whatIsMissing(above: marker) {
            case nil:
                catchUp.reachesMarker = true
                return catchUp
            case let place?: next = place
            }
            if catchUp.pages >= budget { return catchUp }
            if case .gap(let gap) = next {
                catchUp.last = try await fillOnce(gap)
            } else {
                catchUp.last = try await append()
            }
            guard case .loaded = catchUp.last else { return catchUp }
            catchUp.pages += 1
        }
    }

    /// Returns the place of the next request toward a post; nil if nothing is missing above it.
    private func whatIsMissing(above marker: PostID) throws -> Place? {
        try feed.cache.withSnapshot { snapshot in
            let isCached = try snapshot.find(marker, in: feed) != nil
            guard let gap = try snapshot.gaps(of: feed).first else { return isCached ? nil : .tail }
            if !isCached { return .gap(gap.id) }
            var position: RowPosition?
            while true {
                let rows = try snapshot.rows(of: feed, after: position, limit: 256)
                for row in rows {
                    switch row {
                    case .gap(let gap): return .gap(gap.id)
                    case .post(let post):
                        if post.id == marker { return nil }
                        position = post.position
                    }
                }
                if rows.isEmpty { return nil }
            }
        }
    }
}
