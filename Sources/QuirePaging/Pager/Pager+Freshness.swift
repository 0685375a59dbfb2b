import Quire

extension Pager {
    /// How the cached first page may be used.
    enum Freshness {
        /// Show it.
        case fresh
        /// Show it, and fetch it again meanwhile.
        case revalidate
        /// Fetch it again; show it if that fails.
        case tolerable
        /// Fetch it.
        case unknown
    }

    /// Returns the freshness. A page dated in the future, because the clock was set back, is not fresh.
    func freshness() throws -> Freshness {
        let now = clock.now()
        return try feed.cache.withSnapshot { snapshot in
            let serverState = try ServerState(of: feed, in: snapshot, at: now)
            guard let age = serverState.age(at: now), let confirmed = serverState.confirmed,
                try isTopKnown(serverState, in: snapshot)
            else { return .unknown }
            let lifetime = Duration.milliseconds(confirmed.length)
            if age < lifetime { return .fresh }
            if age < lifetime + options.staleWhileRevalidate { return .revalidate }
            return age < lifetime + options.staleIfError ? .tolerable : .unknown
        }
    }

    // MARK: ServerState

    /// Reads the stored state. Writes it back if the clock was set back, so that a pause cannot restart for
    /// ever.
    func readServerState() throws -> ServerState {
        try changeServerState { _ in }
    }

    /// Writes only differences: most answers change nothing.
    @discardableResult
    func changeServerState(_ body: (inout ServerState) -> Void) throws -> ServerState {
        let now = clock.now()
        let stored = try feed.cache.withSnapshot { try ServerState(of: feed, in: $0) }
        var serverState = stored
        serverState.correct(at: now)
        body(&serverState)
        if serverState != stored {
            try feed.cache.batch { try ServerState.change(of: feed, in: $0, at: now, body) }
        }
        return serverState
    }
}
