import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// Feeds of simulated servers in one cache with a budget. The servers' lists grow at the top only, so the
/// truth is simple: two posts without a gap between them are neighbours on the server.
final class BudgetWorld {
    let temporary: TemporaryCache
    var budget: CacheBudget
    private(set) var cache: Cache
    private(set) var servers: [String: SimulatedServer] = [:]
    private(set) var pinned: [String: Set<PostID>] = [:]
    private(set) var local: [String: Set<PostID>] = [:]
    private(set) var visible: [String: Set<PostID>] = [:]
    /// Tickets that are not answered.
    private var waiting: [(name: String, request: Request)] = []
    private var locals = 0
    /// The time that the next answer says.
    var time: Int64 = 1_000
    let pageSize: Int

    init(_ budget: CacheBudget, feeds: [String: String] = ["a": "", "b": ""], posts: Int, pageSize: Int)
        throws
    {
        temporary = try TemporaryCache(.cramped)
        (self.budget, self.pageSize) = (budget, pageSize)
        var options = temporary.options
        options.budget = budget
        try temporary.reopen(with: options)
        cache = temporary.cache
        for (name, collection) in feeds.sorted(by: { $0.key < $1.key }) {
            var server = SimulatedServer(prefix: name)
            for _ in 0..<posts { server.insertOnTop() }
            servers[name] = server
            _ = try cache.feed(named: name, options: FeedOptions(order: .keyless, collection: collection))
        }
    }

    var names: [String] { servers.keys.sorted() }
    func feed(_ name: String) throws -> Feed { try #require(try cache.existingFeed(named: name)) }

    // MARK: Steps

    /// An end of the feed, or one of its gaps.
    func place(_ name: String, _ random: inout SplitMix64) throws -> Place {
        let gaps = try gaps(name)
        if gaps.isEmpty || random.chance(0.6) { return random.pick([Place.head, .tail]) }
        return .gap(random.pick(gaps).id)
    }

    /// Asks for a page and takes the answer in, in two commits. Returns its posts.
    @discardableResult
    func load(_ name: String, _ place: Place) throws -> [PostID] {
        guard let request = try feed(name).plan(place).request else { return [] }
        return try answer(request, name)
    }

    @discardableResult
    private func answer(_ request: Request, _ name: String) throws -> [PostID] {
        let options = try feed(name).options
        guard
            var answer = servers[name]!.reply(
                to: request.target, until: request.until, limit: pageSize, options: options)?
                .answer
        else { return [] }
        answer.fetchedAt = time
        let outcome = try feed(name).ingest(answer, for: request.ticket)
        return outcome.page == nil ? [] : answer.posts.map(\.id)
    }

    func plan(_ name: String, _ place: Place) throws {
        if let request = try feed(name).plan(place).request { waiting.append((name, request)) }
    }

    @discardableResult
    func answerOldest() throws -> [PostID] {
        if waiting.isEmpty { return [] }
        let (name, request) = waiting.removeFirst()
        return try answer(request, name)
    }

    func update(_ name: String, _ id: PostID, _ body: [UInt8]) throws -> UpdateResult {
        try cache.update(id, body: body, in: try feed(name).options.collection)
    }

    func grow(_ name: String) { servers[name]!.insertOnTop() }

    func pin(_ name: String, _ id: PostID) throws {
        if try feed(name).pin(id) { pinned[name, default: []].insert(id) }
    }

    func unpinAll(_ name: String) throws {
        for id in pinned[name] ?? [] { try feed(name).unpin(id) }
        pinned[name] = nil
    }

    func insertLocal(_ name: String) throws {
        locals += 1
        let id = PostID("local\(locals)")!
        if try feed(name).insertLocal(id, body: [1]) { local[name, default: []].insert(id) }
    }

    func show(_ name: String, _ ids: Set<PostID>) throws {
        try feed(name).visible = ids
        visible[name] = ids
    }

    func read(_ name: String) throws {
        let feed = try feed(name)
        _ = try cache.withSnapshot { try $0.rows(of: feed, limit: 1) }
    }

    /// Closes the cache and opens it again. A feed that is held would keep it open.
    func restart() throws {
        weak let old = cache.environment
        var options = temporary.options
        options.budget = budget
        cache = try temporary.placeholder()
        try temporary.reopen(with: options)
        #expect(old == nil)
        cache = temporary.cache
        visible = [:]
    }

    // MARK: What it holds

    /// The ids of a feed's rows, nil for a gap. Looking is no use of the feed.
    func rows(_ name: String) throws -> [PostID?] {
        let feed = try feed(name)
        return try cache.environment.read { transaction in
            try RowReader(transaction: transaction, feed: feed.number).rows(after: nil, limit: .max).map {
                row in
                if case .post(let post) = row { post.id } else { nil }
            }
        }
    }

    /// The same rows by their names.
    func rowNames(_ name: String) throws -> [RowID] {
        let feed = try feed(name)
        return try cache.environment.read { transaction in
            try RowReader(transaction: transaction, feed: feed.number).rows(after: nil, limit: .max).map(
                \.name)
        }
    }

    func gaps(_ name: String) throws -> [GapRow] {
        let feed = try feed(name)
        return try cache.withSnapshot { try $0.gaps(of: feed) }
    }

    func info(_ name: String) throws -> FeedInfo {
        let feed = try feed(name)
        return try cache.withSnapshot { try $0.info(of: feed) }
    }

    var statistics: CacheStatistics { get throws { try cache.withSnapshot { try $0.statistics() } } }

    // MARK: Judging

    /// What is wrong: something left that must not, or a gap is missing.
    func mistake() throws -> String? {
        for name in names {
            let rows = try rows(name)
            let held = Set(rows.compactMap(\.self))
            for (what, ids) in [("pinned", pinned), ("local", local)] {
                if let lost = ids[name]?.subtracting(held), !lost.isEmpty {
                    return "\(what) posts left \(name): \(lost)"
                }
            }
            let list = servers[name]!.ids
            let places = Dictionary(uniqueKeysWithValues: list.enumerated().map { ($1, $0) })
            var above: Int?
            for row in rows {
                guard let id = row else {
                    above = nil
                    continue
                }
                // local and pinned posts may stand outside the sequence
                if local[name]?.contains(id) == true { continue }
                guard let place = places[id] else { return "\(id) is not of \(name)" }
                if let detached = try isDetached(id, name), detached { continue }
                if let above, place != above + 1 { return "a silent hole above \(id) in \(name): \(rows)" }
                above = place
            }
        }
        return nil
    }

    /// What says that a limit is exceeded although something could have left: all but what is protected, what
    /// just came, and what a request of this commit continues from. Counts what is there, not what the engine
    /// counted.
    func excess(came: Set<PostID>, inUse: String?) throws -> String? {
        var (all, free): ([String: CollectionTotals], [String: Int]) = ([:], [:])
        var collections: [String: String] = [:]
        for name in names {
            let feed = try feed(name)
            collections[name] = feed.options.collection
            let stays = came.union(pinned[name] ?? []).union(visible[name] ?? [])
            try cache.environment.read { transaction in
                let reader = RowReader(transaction: transaction, feed: feed.number)
                var totals = CollectionTotals()
                for case .post(let row) in try reader.rows(after: nil, limit: .max) {
                    totals = totals &+ CollectionTotals(posts: 1, bodyBytes: UInt64(row.bodySize))
                }
                all[name] = totals
                let pages = try reader.pages(from: 0, limit: .max)
                free[name] = try pages.count { page in
                    let rows = try reader.rows(of: page)
                    return !rows.allSatisfy(\.isDetached) && rows.allSatisfy { !stays.contains($0.id) }
                }
            }
        }
        func judge(_ what: String, _ names: [String], _ limits: CacheBudget.Limits) -> String? {
            let sum = names.reduce(CollectionTotals()) { $0 &+ all[$1]! }
            // a local post counts in a cache and a collection, but its own feed has it beside the server's
            let local = names.count == 1 ? self.local[names[0]]?.count ?? 0 : 0
            let isOver =
                limits.posts.map { Int(sum.posts) - local > $0 } ?? false
                || limits.bodyBytes.map { sum.bodyBytes > $0 } ?? false
            let left = names.reduce(0) { $0 + ($1 == inUse ? 0 : free[$1]!) }
            return isOver && left > 0 ? "\(what) holds \(sum), and \(left) pages could leave" : nil
        }
        // no commit may have looked since a feed or a collection was last changed
        for name in names where !came.isEmpty && came.isSubset(of: Set(servers[name]!.ids)) {
            let collection = collections[name]!
            if let excess = judge(name, [name], budget.feeds[name] ?? budget.feed) { return excess }
            let group = names.filter { collections[$0] == collection }
            let limits = budget.collections[collection] ?? budget.collection
            if let excess = judge("collection \(collection)", group, limits) { return excess }
        }
        return came.isEmpty ? nil : judge("the cache", names, budget.cache)
    }

    private func isDetached(_ id: PostID, _ name: String) throws -> Bool? {
        let feed = try feed(name)
        return try cache.withSnapshot { try $0.find(id, in: feed)?.isDetached }
    }

    /// Runs a step, which is one commit or more, and returns the visible posts that it took.
    func lostVisible(_ step: () throws -> Void) throws -> Set<PostID> {
        var before: [String: Set<PostID>] = [:]
        for name in names {
            before[name] = Set(try rows(name).compactMap(\.self)).intersection(visible[name] ?? [])
        }
        try step()
        var lost: Set<PostID> = []
        for name in names { lost.formUnion(before[name]!.subtracting(try rows(name).compactMap(\.self))) }
        return lost
    }

    /// Opens the cache without a budget, fetches all that is missing, and returns what still is.
    func missingAfterRefill() throws -> String? {
        cache = try temporary.placeholder()
        try temporary.reopen(with: temporary.options)
        cache = temporary.cache
        for name in names {
            let feed = try feed(name)
            for _ in 0..<400 {
                let gap = try cache.withSnapshot { try $0.gaps(of: feed).first }
                var place = gap.map { Place.gap($0.id) }
                if let id = gap?.id, try feed.plan(.gap(id)).request == nil { place = .aboveGap(id) }
                if try place == nil && info(name).head != .end { place = .head }
                if place == nil { place = .tail }
                let before = try rows(name)
                try load(name, place!)
                if try rows(name) == before {
                    try load(name, .head)
                    if try rows(name) == before { break }
                }
            }
            let rows = try rows(name)
            if rows.contains(nil) { return "\(name) has gaps: \(rows)" }
            let local = local[name] ?? []
            if rows.compactMap(\.self).filter({ !local.contains($0) }) != servers[name]!.ids {
                return "\(name) is not whole: \(rows)"
            }
        }
        return nil
    }
}
