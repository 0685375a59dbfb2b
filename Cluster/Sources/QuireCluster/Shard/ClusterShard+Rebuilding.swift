import Quire

extension ClusterShard {
    /// Servers may keep different entries under one number, and a new leader may have lost some in the
    /// middle. So where the log may have changed, all that is applied is compared with it before anything
    /// follows. Returns false if the replica was made anew instead.
    func compareAfterChange() async throws -> Bool {
        let changes = log.changes
        if compared == changes { return true }
        confirmed = nil
        if try await !isTrue(mayLag: true) {
            try await rebuild(.otherHistory)
            return false
        }
        compared = changes
        return true
    }

    /// Whether the log has what this replica has applied, from the newest checkpoint or what was confirmed
    /// since.
    /// - Parameter mayLag: One that has not reached the checkpoint is compared from the oldest entry that it
    ///   and the log know. Else it is not true.
    func isTrue(mayLag: Bool = false) async throws -> Bool {
        let mine = following.last.position
        var at = LogPosition.beginning
        let checkpoint = try await log.newestCheckpoint()?.position
        if let checkpoint {
            if checkpoint.number > mine.number {
                guard mayLag, let oldest = try await oldestCommon() else { return false }
                at = oldest
            } else {
                if let digest = try following.digest(after: checkpoint.number), digest != checkpoint.digest {
                    return false
                }
                at = checkpoint
            }
        }
        if let confirmed, at.number < confirmed.number, confirmed.number <= mine.number { at = confirmed }
        do throws(LogError) {
            while at.number < mine.number {
                let missing = mine.number - at.number
                let entries = try await log.entries(after: at.number, limit: Int(min(64, missing)))
                if entries.isEmpty { return false }
                for entry in entries { at = at.next(entry.fingerprint) }
            }
        } catch {
            switch error {
            case .trimmed:
                // with a checkpoint that was stored meanwhile
                if try await log.newestCheckpoint()?.position == checkpoint { return false }
                return try await isTrue(mayLag: mayLag)
            case .lost: return false
            default: throw error
            }
        }
        if at == mine { confirmed = mine }
        return at == mine
    }

    /// The oldest place that this replica knows and from which the log has all entries; nil if it has none.
    private func oldestCommon() async throws -> LogPosition? {
        let mine = following.last.position.number
        let number = max(try await log.bounds().first - 1, DigestBlocks.oldest(at: mine))
        if number > mine { return nil }
        return try following.digest(after: number).map { LogPosition(number: number, digest: $0) }
    }

    /// Compares the history with the newest checkpoint. One that was made before the log lost its end is not
    /// in the log, and counts.
    func audit() async throws {
        guard let checkpoint = try await log.newestCheckpoint()?.position else { return }
        while try await advance() {}
        let isKept =
            if checkpoint.number > following.last.position.number { false } else {
                try following.digest(after: checkpoint.number).map { $0 == checkpoint.digest } ?? true
            }
        if !isKept { try await rebuild(.otherHistory) }
    }

    /// Makes the replica anew from the newest checkpoint and the log. Until it is done the old one is there
    /// to be read.
    func rebuild(_ reason: RebuildReason) async throws {
        let (number, changes) = (files.unused, log.changes)
        do {
            let replayed = try await replay(to: files.path(number))
            try files.use(number)
            following = replayed.replica
            (confirmed, compared, anchor) = (nil, changes, replayed.checkpoint)
            requests.endAll()
            // An effect in the old history that its writer has not been told yet counts for nothing.
            for counter in waiting.keys { waiting[counter] = .some(nil) }
            for (entry, effect, position) in replayed.own { tell(entry, effect, at: position) }
        } catch {
            files.remove(number)
            throw error
        }
        let gone = try forgetLost(reason)
        visible.withLock { visible in
            visible.cache = following.replica.cache
            visible.status.applied = following.last.position
            visible.status.end = following.last.position.number
            visible.status.rebuilds += 1
            visible.status.lost += gone
        }
        options.onEvent?(.rebuilt(shard: name, reason, lost: gone))
    }

    /// A new replica, and what it says of this node's own writes.
    private struct Replayed {
        let replica: FollowingReplica
        let checkpoint: LogPosition?
        var own: [(OperationEntry, FollowingReplica.Effect, LogPosition)] = []
    }

    private func replay(to path: String) async throws -> Replayed {
        let checkpoint = try await log.fetchCheckpoint(to: path)
        if let checkpoint, checkpoint.rules != CacheOperation.rules {
            throw stop(
                "the checkpoint of shard \(name) was made by rules \(checkpoint.rules); this library has "
                    + "\(CacheOperation.rules)")
        }
        let fresh = try FollowingReplica(at: path, options: options.cache)
        guard fresh.last.position == checkpoint?.position ?? .beginning else {
            throw LogError.refused("the checkpoint of shard \(name) holds another history than it says")
        }
        var replayed = Replayed(replica: fresh, checkpoint: checkpoint?.position)
        while true {
            var entries: [LogEntry]
            let last = fresh.last
            // The log may have lost entries since the last read: each read begins with the newest that is
            // applied.
            let overlaps = last.position.number > 0 && last.position != checkpoint?.position
            do throws(LogError) {
                entries = try await log.entries(after: last.position.number - (overlaps ? 1 : 0), limit: 65)
            } catch {
                // The checkpoint is ahead of a log that has lost its end: it counts, and the log will pass
                // it.
                if case .lost = error, fresh.last.position == checkpoint?.position { break }
                throw error
            }
            if overlaps {
                guard let first = entries.first, first.number == last.position.number,
                    first.fingerprint == last.fingerprint
                else { throw LogError.lost(after: last.position.number - 1) }
                entries.removeFirst()
            }
            if entries.isEmpty { break }
            for entry in entries {
                do {
                    let (content, effect) = try fresh.apply(entry, isTrue: true)
                    if let content, content.writer == writer {
                        replayed.own.append((content, effect, fresh.last.position))
                    }
                } catch FollowingReplica.Obstacle.newer(let text) {
                    throw stop("entry \(entry.number) of shard \(name): \(text)")
                }
            }
        }
        return replayed
    }

    /// Which of the writes that were told are not in the history that stays. Of those too old to be known
    /// nothing is said, unless the log has lost something.
    private func forgetLost(_ reason: RebuildReason) throws -> Int {
        let kept = try told.filter {
            let digest = try following.digest(after: $0.position.number)
            return digest == $0.position.digest || digest == nil && reason != .otherHistory
        }
        let gone = Set(told.map(\.counter)).subtracting(kept.map(\.counter))
        lost += gone.sorted()
        told = kept
        return gone.count
    }

    // MARK: Checkpoints

    /// Stores a copy of the replica, and trims the log up to a margin before it.
    func checkpoint() async throws {
        if isCopying { return }
        isCopying = true
        defer { isCopying = false }
        let path = files.draft
        ShardFiles.remove(path)
        defer { ShardFiles.remove(path) }
        let (cache, options) = (following.replica.cache, options.cache)
        let (last, size) = try await Blocking.run { () throws(LogError) in
            do {
                try cache.copy(to: path)
                let copy = try FollowingReplica(at: path, options: options)
                let size = try FileReader.size(of: path)
                return (copy.last, size)
            } catch { throw .refused("a checkpoint could not be made: \(error)") }
        }
        let number = last.position.number
        if number == 0 { return }
        // A replica of a lost history must not become what counts.
        if last.position != anchor {
            let entry = try await log.entries(after: number - 1, limit: 1).first
            guard let entry, entry.number == number, entry.fingerprint == last.fingerprint else {
                throw LogError.lost(after: number - 1)
            }
        }
        if compared != log.changes {
            throw LogError.unavailable("shard \(name) is compared with the log before a checkpoint is stored")
        }
        try await log.putCheckpoint(
            path, Checkpoint(position: last.position, rules: CacheOperation.rules, size: size))
        visible.withLock { $0.status.checkpoint = max($0.status.checkpoint, number) }
        if number > self.options.margin { try await log.trim(through: number - self.options.margin) }
    }
}
