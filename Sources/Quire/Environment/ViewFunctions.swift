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

    // A function is given back to be released outside of the lock: what it has captured may do anything when
    // it goes.

    func set(_ function: @escaping StoredViewFunction, version: UInt64, of feed: UInt32, _ name: String) {
        let replaced = known.withLock { known -> StoredViewFunction? in
            let all = known ?? Known()
            known = all
            return all.all.updateValue((version, function), forKey: Key(feed: feed, name: name))?.function
        }
        _ = replaced
    }

    func remove(of feed: UInt32, _ name: String) {
        let removed = known.withLock { $0?.all.removeValue(forKey: Key(feed: feed, name: name))?.function }
        _ = removed
    }

    /// Returns the function of a view; nil if this process does not know it, or only that of another version.
    func function(of feed: UInt32, _ view: ViewRecord) -> StoredViewFunction? {
        known.withLock { known in
            guard let found = known?.all[Key(feed: feed, name: view.name)] else { return nil }
            return found.version == view.version ? found.function : nil
        }
    }
}
