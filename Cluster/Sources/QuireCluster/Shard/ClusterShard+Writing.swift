import Quire

extension ClusterShard {
    /// Appends operations, applies them here, and returns what they returned and where they stand.
    /// - Parameter feed: A feed whose number the operations name. It must still have it: another history may
    ///   have given the number to another feed.
    func submit(
        _ operations: [CacheOperation], of feed: Feed? = nil
    ) async throws -> (replies: [CacheReply], position: LogPosition) {
        let end = ContinuousClock.now + options.timeout
        try requireOpen()
        // The window of a writer knows the newest ones only.
        while let oldest = waiting.keys.min(), counter + 1 - oldest >= WriterWindow.width {
            guard ContinuousClock.now < end, !Task.isCancelled else {
                throw LogError.unavailable("too many writes are under way")
            }
            await options.pause()
        }
        counter += 1
        let counter = counter
        waiting[counter] = .some(nil)
        defer { waiting[counter] = nil }
        var mayHappen = false
        while true {
            try requireNumber(of: feed)
            let entry = OperationEntry(
                base: following.last.position, id: .random(in: .min ... .max), writer: writer,
                counter: counter,
                operations: operations)
            let bytes = try entry.encoded
            var trouble: LogError
            do throws(LogError) {
                let number = try await log.append(bytes)
                mayHappen = true
                try await waitForEffect(of: counter, at: number, until: end)
                trouble = .unknown("entry \(number) of shard \(name) is not applied here yet")
            } catch { trouble = error }
            if let result = try result(of: counter) { return result }
            switch trouble {
            case .unavailable: break
            case .unknown, .lost, .trimmed: mayHappen = true
            default: throw trouble
            }
            if ContinuousClock.now >= end || Task.isCancelled {
                throw mayHappen ? LogError.unknown("\(trouble)") : LogError.unavailable("\(trouble)")
            }
            await options.pause()
            if let result = try result(of: counter) { return result }
        }
    }

    private func requireNumber(of feed: Feed?) throws {
        guard let feed else { return }
        let number = try following.replica.cache.existingFeed(named: feed.name)?.number
        if number != feed.number {
            throw QuireError(
                .notFound,
                "feed \(feed.name): is not number \(feed.number) in the history that counts; open it again")
        }
    }

    /// What the write did, if that is known.
    private func result(
        of counter: UInt64
    ) throws -> (replies: [CacheReply], position: LogPosition)? {
        guard let result = waiting[counter] ?? nil else { return nil }
        switch result {
        case .replies(let replies, let position):
            told.append((counter, position))
            if told.count > 4096 { told.removeFirst(2048) }
            return (replies, position)
        case .failed(let error): throw error
        case .untold:
            throw LogError.unknown(
                "the write has had its turn; what it returned went with a replica that was made anew")
        }
    }

    /// Returns when the effect is known, or when the entry has had its turn without one.
    private func waitForEffect(
        of counter: UInt64, at number: UInt64, until end: ContinuousClock.Instant
    ) async throws(LogError) {
        var absences = 0
        while (waiting[counter] ?? nil) == nil, following.last.position.number < number {
            let trouble: String
            do {
                if try await advance() { continue }
                absences += 1
                // It may have shared a read that began before the append.
                if absences == 1 { continue }
                trouble = "the log does not show entry \(number)"
            } catch { trouble = "\(error)" }
            if absences >= options.lossesBelieved { throw .lost(after: following.last.position.number) }
            if (waiting[counter] ?? nil) != nil { return }
            if ContinuousClock.now >= end || Task.isCancelled {
                throw .unknown("shard \(name): \(trouble)")
            }
            await options.pause()
        }
    }

    /// Tells those that wait for an own write, or for the ticket of another node.
    func tell(_ entry: OperationEntry?, _ effect: FollowingReplica.Effect, at position: LogPosition) {
        guard let entry else { return }
        if entry.writer == writer, let known = waiting[entry.counter], known == nil {
            switch effect {
            case .applied(let replies): waiting[entry.counter] = .replies(replies, position)
            case .failed(let error): waiting[entry.counter] = .failed(error)
            case .repeated: waiting[entry.counter] = .untold
            case .refused, .foreign: break
            }
        }
        if case .applied(let replies) = effect { requests.note(entry.operations, replies, at: position) }
    }

    /// Waits until the replica has applied an entry.
    func wait(for number: UInt64) async throws {
        let end = ContinuousClock.now + options.timeout
        while following.last.position.number < number {
            var trouble = "the log ends before entry \(number)"
            do { if try await advance() { continue } } catch { trouble = "\(error)" }
            if ContinuousClock.now >= end || Task.isCancelled {
                throw LogError.unavailable("shard \(name): \(trouble)")
            }
            await options.pause()
        }
    }
}
