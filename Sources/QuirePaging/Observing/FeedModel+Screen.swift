import Quire

// The screen: where it opens, what it shows, and whether that is still true.

extension FeedModel {
    /// Shows the rows at another place: ``anchor`` is the row to scroll to. Asks the server for the page
    /// around a post that the feed does not hold; a failure is the state at ``Quire/Place/around(_:)``.
    /// - Returns: False if the place was not found; then nothing has changed.
    @discardableResult
    public func open(at start: FeedWindow.Start) async -> Bool {
        let shown: Void? = await wait(at: start.place) {
            do {
                try self.show(at: start)
            } catch let error as QuireError where error.code == .notFound {
                guard case .post(let id) = start else { throw error }
                try await self.pager.jump(to: id)
                try self.show(at: start)
            }
            self.states.results[start.place] = nil
        }
        return shown != nil
    }

    // MARK: What is visible

    /// Call this when a row comes into view, in a task that ends when the row leaves it: `.task { … }`.
    /// Fetches what is missing near it, as ``loadMore(near:)`` does, and tells the pager what is visible
    /// until the task is cancelled.
    public func appear(_ row: Row.ID) async {
        visible[row, default: 0] += 1
        tellVisible()
        defer {
            visible[row] = visible[row].flatMap { $0 > 1 ? $0 - 1 : nil }
            tellVisible()
        }
        await loadMore(near: row)
        let (never, continuation) = AsyncStream<Void>.makeStream()
        for await _ in never {}  // nothing comes: it ends with the task
        continuation.finish()
    }

    /// The same for all rows in view at once, top first: call it when a list has scrolled.
    public func see(_ rows: [Row.ID]) async {
        visible = Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
        tellVisible()
        if let last = rows.last { await loadMore(near: last) }
        if let first = rows.first, rows.count > 1 { await loadMore(near: first) }
    }

    /// The topmost visible post, or the anchor.
    private var topmost: PostRow? {
        let seen = window.rows.first { visible[Row.ID($0.name)] != nil && $0.post != nil }
        if let post = seen?.post { return post }
        return window.rows.indices.contains(window.anchorIndex) ? window.rows[window.anchorIndex].post : nil
    }

    /// Tells the pager, one call at a time: a scroll changes it faster than the pager listens.
    private func tellVisible() {
        telling.isOutdated = true
        if telling.isUnderWay { return }
        telling.isUnderWay = true
        Task {
            while telling.isOutdated {
                telling.isOutdated = false
                let posts = visible.keys.compactMap { if case .post(let id) = $0 { id } else { nil } }
                do {
                    try await pager.setVisible(Set(posts), by: viewer)
                } catch {
                    states.results[.head] = .failed(error)
                }
            }
            telling.isUnderWay = false
        }
    }

    // MARK: Freshness

    /// Asks again for what is on the screen, if it is older than ``PagerOptions/lifetime``: one page, that of
    /// the topmost visible post, and not the list above it. What left the server's list there leaves, what is
    /// new there comes, and the engine says where it cannot know (R18). A failure is the state at
    /// ``Quire/Place/head`` for the first page, else at ``Quire/Place/around(_:)``.
    public func refreshVisible(_ need: Pager.RefreshNeed = .ifStale) async {
        do {
            try update()
            guard let post = topmost else { return await refresh(need) }
            let page = try pager.feed.cache.withSnapshot { try $0.page(of: post.id, in: pager.feed) }
            if need == .ifStale, let page, !isStale(page) { return }
            if page?.index == 0, window.isAtHead { return await refresh() }
            await wait(at: .around(post.id)) {
                try await self.pager.jump(to: post.id)
                self.states.results[.around(post.id)] = nil
                try self.update()
            }
        } catch {
            states.results[.head] = .failed(error)
        }
    }

    private func isStale(_ page: PageInfo) -> Bool {
        let (age, overflow) = pager.clock.now().subtractingReportingOverflow(page.fetchedAt)
        // a page from the future was dated by another clock
        return overflow || age < 0 || .milliseconds(age) >= pager.options.lifetime
    }
}

extension FeedWindow.Start {
    /// Where a request for it is made.
    fileprivate var place: Place { if case .post(let id) = self { .around(id) } else { .head } }
}
