import Synchronization

/// The functions of views that this process knows. The cache has none: a view is kept by the processes that
/// do.
final class ViewFunctions: Sendable {
    /// Made when the first function is known: a process that has none does not pay for the types of a
    /// dictionary when it opens a cache.
    private final class Known {
        var all: [Key: (version: UInt64, function: StoredViewFunction)] = [:]
    }

    private struct Key: Hashable {
        let feed: UInt32
        let name: String
    }

    private let known = Mutex<Known?>(nil)

    func set(_ function: @escaping StoredViewFunction, version: UInt64, of feed: UInt32, _ name: String) {
        known.withLock { known in
            let all = known ?? Known()
            all.all[Key(feed: feed, name: name)] = (version, function)
            known = all
        }
    }

    func remove(of feed: UInt32, _ name: String) {
        known.withLock { $0?.all[Key(feed: feed, name: name)] = nil }
    }

    /// Returns the function of a view; nil if this process does not know it, or only that of another version.
    func function(of feed: UInt32, _ view: ViewRecord) -> StoredViewFunction? {
        known.withLock { known in
            guard let found = known?.all[Key(feed: feed, name: view.name)] else { return nil }
            return found.version == view.version ? found.function : nil
        }
    }
}
