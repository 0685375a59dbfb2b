import Quire

/// A replica that applies the entries of a log one after the other, each in one commit with its place in the
/// log. It belongs to one thread at a time.
final class FollowingReplica {
    let replica: Replica
    private(set) var last: LastEntry

    /// What an entry did.
    enum Effect {
        /// The operations took effect.
        case applied([CacheReply])
        /// One of the operations failed, with an error that all replicas have: none took effect.
        case failed(QuireError)
        /// The operations took effect before, or never will: nothing happened.
        case repeated
        /// Its writer had another history, or lagged too far behind: nothing happened. It may be appended
        /// again.
        case refused
        /// No program of this kind wrote it: nothing happened.
        case foreign
    }

    /// What keeps an entry from being applied. The replica is as it was.
    enum Obstacle: Error {
        /// The writer had another history than this replica has: one of them must be abandoned.
        case otherBase
        /// A newer library wrote it.
        case newer(String)
    }

    /// - Throws: as ``Replica/init(at:options:)``, and `.corrupt` if the file has no place in a log.
    init(at path: String, options: CacheOptions) throws(QuireError) {
        replica = try Replica(at: path, options: options)
        let bytes: [UInt8]?
        do { bytes = try replica.cache.withSnapshot { try $0.attribute(HistoryNames.last) } } catch {
            throw error as? QuireError ?? QuireError(.io, "\(error)")
        }
        guard let bytes else {
            last = LastEntry()
            return
        }
        guard let last = LastEntry(encoded: bytes) else {
            throw QuireError(.corrupt, "\(path): its place in the log does not read back as it was written")
        }
        self.last = last
    }

    /// The digest of the history after an entry; nil if it is not known.
    func digest(after number: UInt64) throws -> UInt64? {
        try replica.cache.withSnapshot { snapshot in
            try DigestBlocks.digest(after: number) { try snapshot.attribute($0) }
        }
    }

    /// Applies the entry that follows.
    /// - Parameter isTrue: The history of this replica is known to be that of the log: a node with
    ///   another one is wrong.
    func apply(_ logEntry: LogEntry, isTrue: Bool) throws -> (entry: OperationEntry?, effect: Effect) {
        let fingerprint = logEntry.fingerprint
        let next = LastEntry(last.position.next(fingerprint), fingerprint: fingerprint)
        let entry: OperationEntry
        do throws(OperationEntry.Unreadable) { entry = try OperationEntry(encoded: logEntry.bytes) } catch {
            if case .newer(let text) = error { throw Obstacle.newer(text) }
            try commit(next) { _ in }
            return (nil, .foreign)
        }
        if try !isOfThisHistory(entry.base) {
            guard isTrue || entry.base.number < DigestBlocks.oldest(at: last.position.number) else {
                throw Obstacle.otherBase
            }
            try commit(next) { _ in }
            return (entry, .refused)
        }
        do {
            let replies = try commit(next) { try Self.apply(entry, at: next.position, in: $0) }
            return (entry, replies.map { .applied($0) } ?? .repeated)
        } catch let error as QuireError where error.isDeterministic {
            _ = try commit(next) { try Self.note(entry, at: next.position, in: $0) }
            return (entry, .failed(error))
        }
    }

    private func isOfThisHistory(_ base: LogPosition) throws -> Bool {
        if base == last.position { return true }
        if base.number >= last.position.number { return false }
        if base.number < DigestBlocks.oldest(at: last.position.number) { return false }
        return try digest(after: base.number) == base.digest
    }

    /// Nil if the operations took effect before.
    private static func apply(
        _ entry: OperationEntry, at position: LogPosition, in batch: borrowing Batch
    ) throws -> [CacheReply]? {
        guard try note(entry, at: position, in: batch) else { return nil }
        var replies: [CacheReply] = []
        for operation in entry.operations {
            replies.append(try batch.apply(operation, issuer: position.digest))
        }
        return replies
    }

    /// Remembers that the operations have had their turn. Returns false if they had it before.
    @discardableResult
    private static func note(
        _ entry: OperationEntry, at position: LogPosition, in batch: borrowing Batch
    ) throws -> Bool {
        var window = try Writers.window(of: entry.writer, in: batch)
        guard window.mayApply(entry.counter) else { return false }
        window.insert(entry.counter, number: position.number)
        try Writers.store(window, of: entry.writer, in: batch)
        return true
    }

    private func commit<Result>(
        _ next: LastEntry, _ body: (borrowing Batch) throws -> Result
    ) throws -> Result {
        let result = try replica.batch { batch in
            let result = try body(batch)
            try DigestBlocks.append(next.position, to: batch)
            try batch.setAttribute(HistoryNames.last, to: next.encoded)
            return result
        }
        last = next
        return result
    }
}
