import Observation
import Quire

/// A feed as a screen shows it: its rows, the state of loading at each place, and the three actions of a
/// reader.
///
///     @State private var model: FeedModel<Question>
///
///     List(model.rows) { row in
///         RowView(row, model.state(at: row.missing))
///             .task { await model.loadMore(near: row.id) }
///     }
///     .refreshable { await model.refresh() }
///     .task { await model.refresh(.ifStale) }
///     .task { try? await model.follow() }
///
/// The rows are the cached ones from the top down to a little below the reader's position. They are updated
/// by changes: a row that stays has the same ``Row/id`` and neighbours, so nothing jumps. An error is not
/// thrown, but becomes the state of the place where it happened, until ``retry(_:)`` or a successful refresh.
///
/// The model belongs to the main actor and never blocks it: the pager makes requests and commits. Several
/// models may share a pager.
@MainActor @Observable public final class FeedModel<Model> {
    /// The pager that requests what is missing.
    public nonisolated let pager: Pager
    /// The rows, top first.
    public private(set) var rows: [Row] = []
    /// The result of the last request at each place where it was not a success.
    private var results: [Place: LoadState] = [:]
    /// The number of calls that wait at each place.
    private var waiting: [Place: Int] = [:]

    /// How many rows around a visible one must be complete.
    @ObservationIgnored private let reach: Int
    @ObservationIgnored private let posts: TypedPosts<Model>
    /// The commit that the rows show.
    @ObservationIgnored private var generation: UInt64 = 0
    /// The names of the first rows of the feed, or of all if `isWhole`.
    @ObservationIgnored private var names: [RowID] = []
    @ObservationIgnored private var isWhole = true
    @ObservationIgnored private var shown: [PostID: TypedPost<Model>] = [:]

    /// Creates a model that shows the cached rows, without a request.
    /// - Parameters:
    ///   - pager: The pager of the feed that is shown.
    ///   - formats: See ``Quire/Feed/posts(as:formats:)``.
    ///   - reach: How many rows above and below a row in view are fetched before they come into view.
    /// - Throws: ``Quire/QuireError``.
    public init(_ pager: Pager, formats: [WireFormat<Model>], reach: Int = 10) throws {
        self.pager = pager
        self.reach = max(0, reach)
        posts = pager.feed.posts(as: Model.self, formats: formats)
        try pager.feed.cache.withSnapshot { try readAnew($0) }
    }

    /// Creates a model for bodies in JSON.
    public convenience init(_ pager: Pager, as model: Model.Type, reach: Int = 10) throws
    where Model: Decodable & SendableMetatype {
        try self.init(pager, formats: [.json()], reach: reach)
    }

    // MARK: States

    /// What goes on at a place: ``Quire/Place/head`` for a refresh, that of a row (``Row/missing``). Nil,
    /// where nothing is missing, gives ``LoadState/end``.
    public func state(at place: Place?) -> LoadState {
        guard let place = place.map(key) else { return .end }
        return waiting[place] != nil ? .loading : results[place] ?? .idle
    }

    /// Maps all bodies of a feed of ids to one place: if a request for some failed, requests for others would
    /// too.
    private func key(_ place: Place) -> Place {
        if case .bodies = place { .tail } else { place }
    }

    // MARK: The reader's actions

    /// Asks for the first page. A failure is the state at ``Quire/Place/head``; success lets other places
    /// that failed ask again.
    public func refresh(_ need: Pager.RefreshNeed = .always) async {
        await wait(at: .head) {
            let result = try await self.pager.refresh(need)
            try self.update()
            if case .stale(let reason) = result {
                self.results[.head] = .failed(PageFailure(reason, isTransient: true))
            } else {
                self.results = [:]
            }
        }
    }

    /// Requests again at a place, whatever its state.
    public func retry(_ place: Place) async {
        if place == .head { return await refresh() }
        results[key(place)] = nil
        _ = await load(place, isForced: true)
    }

    /// Call this when a row is or comes into view: fetches what is missing near it. Appends, prepends, fills
    /// gaps and fetches bodies, one request at a time, nearest first. Several calls share a request, and a
    /// place where the last one failed is left out. Ignores unknown rows, which have left.
    public func loadMore(near row: Row.ID) async {
        guard let row = post(near: row) else { return }
        var patience = 3
        while !Task.isCancelled, let place = nextMissing(near: row) {
            guard let isProgress = await load(place) else { return }
            if isProgress { continue }
            patience -= 1
            if patience > 0 { continue }
            results[key(place)] = .stopped(.noProgress)  // a server may go on for ever without a new post
        }
    }

    /// Shows what others change, in this process or another one, until the task is cancelled.
    /// - Throws: ``Quire/QuireError``, `CancellationError`.
    public func follow() async throws {
        for try await _ in pager.feed.changes(since: generation, clock: pager.clock) { try update() }
    }

    // MARK: Loading

    /// Returns a post near the row. Gaps and ends move away while posts arrive, a visible post does not.
    private func post(near row: Row.ID) -> Row.ID? {
        guard let at = rows.firstIndex(where: { $0.id == row }) else { return nil }
        return (rows[...at].last { $0.post != nil } ?? rows[at...].first { $0.post != nil })?.id
    }

    /// Returns the nearest place in reach where something is missing and may be requested. First shows more
    /// of the cache.
    private func nextMissing(near row: Row.ID) -> Place? {
        do {
            try update()
            guard let at = rows.firstIndex(where: { $0.id == row }) else { return nil }
            if !isWhole, at + reach >= names.count { try showMore() }
        } catch {
            results[.head] = .failed(error)
            return nil
        }
        guard let at = rows.firstIndex(where: { $0.id == row }) else { return nil }
        for distance in 0...reach {
            for index in [at + distance, at - distance] where rows.indices.contains(index) {
                guard let place = rows[index].missing, mayAsk(at: place) else { continue }
                if place != .tail || isWhole { return place }
            }
        }
        return nil
    }

    private func mayAsk(at place: Place) -> Bool {
        switch state(at: place) {
        case .idle, .loading: true
        case .end, .failed, .stopped: false
        }
    }

    /// Makes a request, shared with other calls. Returns whether it helped; nil if it failed.
    private func load(_ place: Place, isForced: Bool = false) async -> Bool? {
        await wait(at: key(place)) { try await self.ask(place, isForced) }
    }

    private func ask(_ place: Place, _ isForced: Bool) async throws -> Bool {
        let result =
            if case .bodies(let ids) = place {
                try await pager.fetchBody(of: ids[0], isForced: isForced)
            } else {
                try await pager.page(at: place, ifUnchangedSince: isForced ? nil : generation)
            }
        results[key(place)] = nil
        try update()
        switch result {
        case .loaded(let outcome):
            if outcome.verdict.leadsNowhere { results[key(place)] = .stopped(outcome.verdict) }
            return !outcome.new.isEmpty || outcome.verdict == .joined
        case .stopped(let verdict): results[key(place)] = .stopped(verdict)
        case .refused(.fillFirst): return try await askTopGap()
        case .refused:
            results[key(place)] = .end
            show(rows)
        case nil, .preempted: return true  // the rows have changed
        case .notModified, .fresh, .revalidating, .stale: break
        }
        return false
    }

    /// Closes the topmost gap first: positions below a gap are unknown until it is closed.
    private func askTopGap() async throws -> Bool {
        let gap = try pager.feed.cache.withSnapshot { try $0.gaps(of: pager.feed).first?.id }
        guard let gap else { return false }
        return await load(.gap(gap)) ?? false
    }

    /// Turns an error of `body` into the state of the place. A cancellation says nothing about the place and
    /// is ignored.
    private func wait<R>(at place: Place, _ body: () async throws -> R) async -> R? {
        waiting[place, default: 0] += 1
        defer { waiting[place] = waiting[place].flatMap { $0 > 1 ? $0 - 1 : nil } }
        do {
            return try await body()
        } catch {
            if !(error is CancellationError) { results[place] = .failed(error) }
            return nil
        }
    }
}

// MARK: - Rows

extension FeedModel {
    /// How many rows are read at once.
    private var chunk: Int { max(50, 2 * reach) }

    /// Follows the feed to its present state.
    func update() throws {
        let feed = pager.feed
        try feed.cache.withSnapshot { snapshot in
            switch try feed.changes(since: generation, in: snapshot) {
            case nil: generation = try snapshot.generation
            case .resync: try readAnew(snapshot)
            case .changed(let changes, let now):
                names.apply(changes)
                try read(changes, in: snapshot)
                generation = now
                try show(snapshot)
            }
        }
    }

    private func readAnew(_ snapshot: borrowing Snapshot) throws {
        let count = max(names.count, chunk)
        (names, shown, generation) = ([], [:], try snapshot.generation)
        try extend(to: count, snapshot)
        try show(snapshot)
    }

    private func showMore() throws {
        try pager.feed.cache.withSnapshot { snapshot in
            try extend(to: names.count + chunk, snapshot)
            try show(snapshot)
        }
    }

    /// The posts that came or changed, of those that are shown.
    private func read(_ changes: [Change], in snapshot: borrowing Snapshot) throws {
        let present = Set(names)
        for case .post(let id)? in changes.map(\.row) {
            shown[id] = present.contains(.post(id)) ? try posts.find(id, in: snapshot) : nil
        }
        if names.count < chunk { try extend(to: chunk, snapshot) }
    }

    /// Reads more rows below those that are shown.
    private func extend(to count: Int, _ snapshot: borrowing Snapshot) throws {
        let feed = pager.feed
        let last = try names.last.map { try position(of: $0, in: snapshot) }
        for row in try snapshot.rows(of: feed, after: last, limit: count - names.count) {
            names.append(row.name)
            if let post = row.post { shown[post.id] = try posts.typed(post, in: snapshot) }
        }
    }

    private func position(of name: RowID, in snapshot: borrowing Snapshot) throws -> RowPosition {
        let position =
            switch name {
            case .post(let id): try snapshot.find(id, in: pager.feed)?.position
            case .gap(let id): try snapshot.gaps(of: pager.feed).first { $0.id == id }?.position
            }
        guard let position else { throw QuireError(.notFound, "feed \(pager.feed.name): row \(name)") }
        return position
    }

    /// Makes the rows of the names.
    private func show(_ snapshot: borrowing Snapshot) throws {
        let feed = pager.feed
        let info = try snapshot.info(of: feed)
        let gaps = Dictionary(uniqueKeysWithValues: try snapshot.gaps(of: feed).map { ($0.id, $0) })
        let last = try names.last.map { try position(of: $0, in: snapshot) }
        isWhole = try snapshot.rows(of: feed, after: last, limit: 1).isEmpty
        // The states of ends were about the previous ends.
        for (place, state) in results { if case .end = state { results[place] = nil } }
        if info.head == .end { results[.openHead] = .end }
        if info.tail == .end, isWhole, info.placeholders == 0 { results[.tail] = .end }
        show(
            names.compactMap { name in
                switch name {
                case .post(let id): shown[id].map { .post($0) }
                case .gap(let id): gaps[id].map { .gap($0) }
                }
            })
    }

    /// Shows the rows, with `more` rows at open ends. Missing bodies of a feed of ids are shown in their own
    /// rows.
    private func show(_ rows: [Row]) {
        var rows = rows.filter { if case .more = $0 { false } else { true } }
        if !rows.isEmpty {
            if !isEnd(.openHead) { rows.insert(.more(.openHead), at: 0) }
            if !isEnd(.tail), pager.feed.options.paging != .ids { rows.append(.more(.tail)) }
        }
        self.rows = rows
    }

    private func isEnd(_ place: Place) -> Bool {
        if case .end = results[place] { true } else { false }
    }
}

extension Change {
    /// The row that a change concerns; nil if it concerns all.
    fileprivate var row: RowID? {
        switch self {
        case .inserted(let row, _), .removed(let row): row
        case .updated(let id): .post(id)
        case .reset: nil
        }
    }
}
