// The totals of collections. An operation changes posts of one collection only, so what it adds to the
// counters is that collection's. The one without a name has the rest of the counters, and no record.

/// What a session has changed in the totals of collections.
struct TotalsChange {
    /// The collection of the operation that runs.
    fileprivate(set) var collection: UInt32 = 0
    /// The counters when it began.
    fileprivate var before: CollectionTotals
    /// What earlier operations changed, of collections that have a name. Mostly a session writes to few.
    fileprivate var others: [(collection: UInt32, change: CollectionTotals)] = []

    init(_ counters: Counters) { before = counters.totals }
}

extension Counters {
    var totals: CollectionTotals { CollectionTotals(posts: posts, bodyBytes: bodyBytes) }
}

extension WriteSession {
    /// Must be called before an operation changes posts or bodies of a collection.
    @inline(__always)
    func enter(_ collection: UInt32) {
        if collection != totals.collection { leave(for: collection) }
    }

    private func leave(for next: UInt32) {
        let change = counters.totals &- totals.before
        if totals.collection != 0, change != CollectionTotals() {
            counters.named = counters.named &+ change
            if let at = totals.others.firstIndex(where: { $0.collection == totals.collection }) {
                totals.others[at].change = totals.others[at].change &+ change
            } else {
                totals.others.append((totals.collection, change))
            }
        }
        (totals.collection, totals.before) = (next, counters.totals)
    }

    /// Returns the totals of a collection, with what this session has changed.
    func totals(of collection: UInt32) throws -> CollectionTotals {
        leave(for: totals.collection)
        if collection == 0 { return counters.totals &- counters.named }
        let change = totals.others.first { $0.collection == collection }?.change ?? CollectionTotals()
        return try transaction.totals(of: collection) &+ change
    }

    /// Writes the totals that changed.
    func storeTotals() throws {
        leave(for: totals.collection)
        for (collection, change) in totals.others {
            let key = NumberKey(UInt64(collection))
            let sum = try transaction.totals(of: collection) &+ change
            if sum == CollectionTotals() {
                try transaction.delete(.totals, key)
            } else {
                try transaction.put(.totals, key, sum)
            }
        }
        totals.others = []
    }
}

extension Transaction {
    fileprivate func totals(of collection: UInt32) throws(QuireError) -> CollectionTotals {
        guard let value = try get(.totals, NumberKey(UInt64(collection))) else { return CollectionTotals() }
        return try CollectionTotals(value, "the totals of collection number \(collection)")
    }
}
