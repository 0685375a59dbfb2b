import Synchronization

/// The functions of views that this process knows. The cache has none: a view is kept by the processes that do.
final class ViewFunctions: Sendable {
    private struct Key: Hashable {
        let feed: UInt32
        let name: String
    }

    private let known = Mutex<[Key: (version: UInt64, function: StoredViewFunction)]>([:])

    func set(_ function: @escaping StoredViewFunction, version: UInt64, of feed: UInt32, _ name: String) {
        known.withLock { $0[Key(feed: feed, name: name)] = (version, function) }
    }

    func remove(of feed: UInt32, _ name: String) {
        known.withLock { $0[Key(feed: feed, name: name)] = nil }
    }

    /// Returns the function of a view; nil if this process does not know it, or only that of another version.
    func function(of feed: UInt32, _ view: ViewRecord) -> StoredViewFunction? {
        known.withLock { known in
            known[Key(feed: feed, name: view.name)].flatMap { $0.version == view.version ? $0.function : nil }
        }
    }
}
