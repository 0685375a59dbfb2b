import Quire

extension Pager {
    /// What may be done with the first page as it is cached.
    enum Freshness {
        /// Show it.
        case fresh
        /// Show it and fetch it meanwhile.
        case revalidate
        /// Fetch it; show it if that fails.
        case tolerable
        /// Fetch it.
        case unknown
    }

    /// A page whose date lies in the future, because the clock was set back, is not fresh.
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

    /// As stored; written back if the clock was set back, so that a pause cannot begin anew for ever.
    func readServerState() throws -> ServerState {
        try changeServerState { _ in }
    }

    /// Writes only what differs: most answers say nothing new.
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
