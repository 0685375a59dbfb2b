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
        let (now, feed) = (clock.now(), feed)
        return try feed.cache.withSnapshot { snapshot in
            guard let first = try FirstPage(of: feed, in: snapshot), let age = first.age(at: now),
                let lifetime = first.lifetime, try isTopKnown(first, of: feed, in: snapshot)
            else { return .unknown }
            if age < lifetime { return .fresh }
            if age < lifetime + options.staleWhileRevalidate { return .revalidate }
            return age < lifetime + options.staleIfError ? .tolerable : .unknown
        }
    }

    // MARK: ServerState

    /// Reads the stored state. Writes it back if the clock was set back, so that a pause cannot restart for
    /// ever, and no page becomes fresh.
    func readServerState() async throws -> ServerState {
        let now = clock.now()
        try await writer.change(FirstPage.attribute) { bytes in
            guard let first = FirstPage(bytes) else { return bytes }
            var corrected = first
            corrected.correct(at: now)
            return corrected == first ? bytes : try corrected.bytes
        }
        return try await changeServerState { _ in }
    }

    /// Writes only differences: most answers change nothing.
    @discardableResult
    func changeServerState(_ body: (inout ServerState) -> Void) async throws -> ServerState {
        let now = clock.now()
        var serverState = ServerState()
        try await writer.change(ServerState.attribute) { bytes in
            let stored = ServerState(bytes)
            serverState = stored
            serverState.correct(at: now)
            body(&serverState)
            return serverState == stored ? bytes : try serverState.bytes
        }
        return serverState
    }
}
