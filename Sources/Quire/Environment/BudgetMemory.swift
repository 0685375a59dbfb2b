import Synchronization

/// What a process remembers for the budget of a cache: which feeds are used and what of them is visible, and
/// where commits have looked for something to take. It is only a help: what is lost with it is found again.
final class BudgetMemory: Sendable {
    private let box: BudgetBox
    var budget: CacheBudget { box.budget }
    private let state = Mutex(State())
    /// The feed that was read last, unless a commit came after it. Mostly a feed is read again and again.
    private let recent = Atomic<UInt32>(0)
    private let hits = Atomic<UInt64>(0)

    /// Where a commit looks for feeds, a key of `members`; a nil collection is the whole cache.
    struct Scope: Hashable {
        var collection: UInt32?
        /// False for the feeds that are looked at in turn, whatever the others need.
        var isForRelief = true
    }

    /// A walk through the chunks of a feed that was not finished.
    struct Walk: Hashable {
        let feed: UInt32
        let isForAge: Bool
        let goesUp: Bool
        /// Through all that other walks left.
        let isLast: Bool
    }

    private struct State {
        /// Reads that no commit has noted: their order, by feed.
        var reads: [UInt32: UInt64] = [:]
        var order: UInt64 = 0
        var visible: [UInt32: Set<PostID>] = [:]
        /// The page that came last, by feed.
        var pages: [UInt32: UInt64] = [:]
        /// The feeds whose tail the budget has moved.
        var cutTails: Set<UInt32> = []
        var places: [Scope: UInt64] = [:]
        var pools: [Scope: [UInt32]] = [:]
        var walks: [Walk: UInt64] = [:]
        /// Where to look for body records that are mostly out of use.
        var bodies: UInt64 = 0
    }

    private static let mostReads = 1_024

    /// What a commit did, to be remembered.
    struct Kept {
        var stamped: [UInt32: UInt64] = [:]
        var hits: UInt64 = 0
        var pages: [UInt32: UInt64] = [:]
        var tails: [UInt32: Bool] = [:]
        var places: [Scope: UInt64] = [:]
        var pools: [Scope: [UInt32]] = [:]
        var walks: [Walk: UInt64?] = [:]
        var bodies: UInt64?
    }

    init(_ box: BudgetBox) { self.box = box }

    /// Notes that rows of a feed were read.
    func noteRead(_ feed: UInt32) {
        hits.wrappingAdd(1, ordering: .relaxed)
        if recent.load(ordering: .relaxed) == feed { return }
        state.withLock {
            // the rest waits until commits have noted some of these
            if $0.reads.count == Self.mostReads, $0.reads[feed] == nil { return }
            $0.order += 1
            $0.reads[feed] = $0.order
        }
        recent.store(feed, ordering: .relaxed)
    }

    func visible(_ feed: UInt32) -> Set<PostID> { state.withLock { $0.visible[feed] ?? [] } }

    func setVisible(_ ids: Set<PostID>, _ feed: UInt32) {
        state.withLock { $0.visible[feed] = ids.isEmpty ? nil : ids }
    }

    var noted: UInt64 { hits.load(ordering: .relaxed) }

    /// Returns up to `limit` feeds that were read, with the order of the reads, the earliest first.
    func reads(atMost limit: Int) -> [(feed: UInt32, order: UInt64)] {
        recent.store(0, ordering: .relaxed)
        return state.withLock {
            $0.reads.map { ($0.key, $0.value) }.sorted { $0.1 < $1.1 }.prefix(limit).map { ($0.0, $0.1) }
        }
    }

    func order(ofRead feed: UInt32) -> UInt64? { state.withLock { $0.reads[feed] } }
    func lastPage(of feed: UInt32) -> UInt64? { state.withLock { $0.pages[feed] } }
    func isTailCut(_ feed: UInt32) -> Bool { state.withLock { $0.cutTails.contains(feed) } }
    func place(_ scope: Scope) -> UInt64 { state.withLock { $0.places[scope] ?? 0 } }
    func pool(_ scope: Scope) -> [UInt32] { state.withLock { $0.pools[scope] ?? [] } }
    var bodies: UInt64 { state.withLock { $0.bodies } }
    func start(of walk: Walk) -> UInt64? { state.withLock { $0.walks[walk] } }

    /// Remembers what a commit did.
    func settle(_ kept: Kept) {
        hits.wrappingSubtract(kept.hits, ordering: .relaxed)
        state.withLock { state in
            for (feed, order) in kept.stamped where state.reads[feed] == order { state.reads[feed] = nil }
            state.pages.merge(kept.pages) { $1 }
            for (feed, isCut) in kept.tails {
                if isCut { state.cutTails.insert(feed) } else { state.cutTails.remove(feed) }
            }
            state.places.merge(kept.places) { $1 }
            state.pools.merge(kept.pools) { $1 }
            if let bodies = kept.bodies { state.bodies = bodies }
            for (walk, position) in kept.walks { state.walks[walk] = position }
        }
    }
}
