import Observation
import Quire

/// A feed as a screen shows it: its rows, the state of loading at each place, and the actions of a reader.
///
///     @State private var model: FeedModel<Question>
///
///     List(model.rows) { row in
///         RowView(row, model.state(at: row.missing))
///             .task { await model.appear(row.id) }
///     }
///     .refreshable { await model.refresh() }
///     .task { await model.refresh(.ifStale) }
///     .task { try? await model.follow() }
///
/// It opens anywhere: at the head, where the reader stopped (``ReadingState/start()``), at a post, a date, a
/// rank. The rows are cached ones around the reader's position. They are updated by differences: a row that
/// stays has the same ``Row/id`` and neighbours, so nothing jumps. An error is not thrown, but becomes the
/// state of the place where it happened, until ``retry(_:)`` or a successful refresh.
///
/// The model belongs to the main actor and never blocks it: the pager makes requests and commits. Several
/// models may share a pager.
@MainActor @Observable public final class FeedModel<Model> {
    /// The pager that requests what is missing.
    public nonisolated let pager: Pager
    /// The rows, top first.
    public internal(set) var rows: [Row] = []
    /// Where the rows are in the feed: what a scroll bar shows.
    public internal(set) var extent = FeedExtent()
    @ObservationIgnored let states = LoadStates()

    /// How many rows around a visible one must be complete.
    @ObservationIgnored let reach: Int
    /// How many rows are held at most.
    @ObservationIgnored let holds: Int
    @ObservationIgnored let posts: TypedPosts<Model>
    /// The rows that are held.
    @ObservationIgnored var window: FeedWindow
    /// The same, with their models.
    @ObservationIgnored var held: [Row] = []
    /// How many views show a row.
    @ObservationIgnored var visible: [Row.ID: Int] = [:]
    /// Stands for this model when the pager is told what is visible.
    @ObservationIgnored let viewer = Viewer()
    /// Whether the pager is being told what is visible, and whether that has changed meanwhile.
    @ObservationIgnored var telling = (isUnderWay: false, isOutdated: false)

    /// Creates a model that shows the cached rows, without a request.
    /// - Parameters:
    ///   - pager: The pager of the feed that is shown.
    ///   - formats: See ``Quire/Feed/posts(as:formats:)``.
    ///   - start: The row to open at: ``anchor``.
    ///   - reach: How many rows above and below a row in view are fetched before they come into view.
    ///   - holds: How many rows are held at most; those farthest from the reader leave ``rows``, not the
    ///     cache.
    /// - Throws: ``Quire/QuireError``, `.notFound` if the feed does not hold the post to open at;
    ///   see ``open(at:)``.
    public init(
        _ pager: Pager, formats: [WireFormat<Model>], at start: FeedWindow.Start = .head, reach: Int = 10,
        holds: Int = 1_000
    ) throws {
        self.pager = pager
        self.reach = max(0, reach)
        self.holds = max(3 * Self.chunk(reach), holds)
        posts = pager.feed.posts(as: Model.self, formats: formats)
        window = try pager.feed.cache.withSnapshot { try $0.window(of: pager.feed, above: 0, below: 0) }
        try show(at: start)
    }

    /// Creates a model for bodies in JSON.
    public convenience init(
        _ pager: Pager, as model: Model.Type, at start: FeedWindow.Start = .head, reach: Int = 10,
        holds: Int = 1_000
    ) throws where Model: Decodable & SendableMetatype {
        try self.init(pager, formats: [.json()], at: start, reach: reach, holds: holds)
    }

    /// The row that the reader looks at: scroll there after opening. Nil: the top.
    public var anchor: Row.ID? { window.anchor.map(Row.ID.init) }

    // MARK: States

    /// What goes on at a place: ``Quire/Place/head`` for a refresh, that of a row (``Row/missing``). Nil,
    /// where nothing is missing, gives ``LoadState/end``.
    public func state(at place: Place?) -> LoadState {
        guard let place = place.map(key) else { return .end }
        return states.waiting[place] != nil ? .loading : states.results[place] ?? .idle
    }

    /// Maps all bodies of a feed of ids to one place: if a request for some failed, requests for others would
    /// too. A gap has one state, whichever side is asked.
    private func key(_ place: Place) -> Place {
        switch place {
        case .bodies: .tail
        case .aboveGap(let gap): .gap(gap)
        default: place
        }
    }

    // MARK: The reader's actions

    /// Asks for the first page. A failure is the state at ``Quire/Place/head``; success lets other places
    /// that failed ask again.
    public func refresh(_ need: Pager.RefreshNeed = .always) async {
        await wait(at: .head) {
            let result = try await self.pager.refresh(need)
            if case .stale(let reason) = result {
                self.states.results[.head] = .failed(PageFailure(reason, isTransient: true))
                try self.update()
            } else {
                self.states.results = [:]
                try self.update(isForced: true)  // the ends are noted again
            }
        }
    }

    /// Requests again at a place, whatever its state.
    public func retry(_ place: Place) async {
        if place == .head { return await refresh() }
        states.results[key(place)] = nil
        _ = await load(nearSide(of: place), isForced: true)
    }

    /// Call this when a row is or comes into view: fetches what is missing near it. Appends, prepends, fills
    /// gaps from the reader's side and fetches bodies, one request at a time, nearest first. Several calls
    /// share a request, and a place where the last one failed is left out. Ignores unknown rows, which have
    /// left.
    ///
    /// Where only the far side of a gap can be asked, nothing is complete near the row before the gap is
    /// closed. A call asks for ten pages there; then it ends, and the next one goes on.
    public func loadMore(near row: Row.ID) async {
        guard let row = post(near: row) else { return }
        var patience = 3
        var approach = Approach()
        while !Task.isCancelled, let place = nextMissing(near: row, &approach) {
            switch await load(place) {
            case nil: return
            case .outdated: approach.takeBack()
            case .progress: break
            case .nothing:
                patience -= 1
                // a server may go on for ever without a new post
                if patience <= 0 { states.results[key(place)] = .stopped(.noProgress) }
            }
        }
    }

    /// Shows what others change, in this process or another one, until the task is cancelled.
    /// - Throws: ``Quire/QuireError``, `CancellationError`.
    public func follow() async throws {
        for try await _ in pager.feed.changes(since: window.generation, clock: pager.clock) { try update() }
    }

    // MARK: Loading

    /// Returns a post near the row, on the reader's side of a gap. Gaps and ends move away while posts
    /// arrive, a visible post does not.
    private func post(near row: Row.ID) -> Row.ID? {
        let rows = rows  // each use is noted for views
        guard let at = index(of: row, in: rows) else { return nil }
        let (above, below) = (rows[...at].last { $0.post != nil }, rows[at...].first { $0.post != nil })
        let isReaderBelow = anchor.flatMap { index(of: $0, in: rows) }.map { $0 > at } ?? false
        return (isReaderBelow ? below ?? above : above ?? below)?.id
    }

    /// Returns the place to ask at so that the posts next to the reader come first: the lower side of a gap
    /// that lies above the anchor.
    private func nearSide(of place: Place) -> Place {
        guard case .gap(let gap) = place, let index = window.index(of: .gap(gap)), index < window.anchorIndex
        else { return place }
        return .aboveGap(gap)
    }

    /// Returns the nearest place in reach where something is missing and may be requested. First shows more
    /// of the cache.
    private func nextMissing(near row: Row.ID, _ approach: inout Approach) -> Place? {
        do {
            try update()
            try lookAt(row)
        } catch {
            states.results[.head] = .failed(error)
            return nil
        }
        let rows = rows  // each use is noted for views
        guard let at = index(of: row, in: rows) else { return nil }
        approach.note(rows[...at].suffix(reach + 1).reversed(), .above)
        approach.note(rows[at...].prefix(reach + 1), .below)
        for distance in 0...reach {
            for (side, index) in [(Side.below, at + distance), (.above, at - distance)]
            where rows.indices.contains(index) && approach.mayAsk(side) {
                guard let place = rows[index].missing, mayAsk(at: place) else { continue }
                if place == .tail && !window.isAtTail || place == .openHead && !window.isAtHead { continue }
                approach.ask(side)
                return nearSide(of: place)
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

    /// Makes a request, shared with other calls. Returns nil if it failed.
    private func load(_ place: Place, isForced: Bool = false) async -> Answered? {
        await wait(at: key(place)) { try await self.ask(place, isForced) }
    }

    private func ask(_ place: Place, _ isForced: Bool) async throws -> Answered {
        let result =
            if case .bodies(let ids) = place {
                try await pager.fetchBody(of: ids[0], isForced: isForced)
            } else {
                try await pager.page(at: place, ifUnchangedSince: isForced ? nil : window.generation)
            }
        states.results[key(place)] = nil
        try update()
        switch result {
        case .loaded(let outcome):
            if outcome.verdict.leadsNowhere { states.results[key(place)] = .stopped(outcome.verdict) }
            if outcome.help == .fillFirst { return try await askTopGap() }
            return outcome.new.isEmpty && outcome.verdict != .joined ? .nothing : .progress
        case .stopped(let verdict): states.results[key(place)] = .stopped(verdict)
        case .refused(.fillFirst): return try await askTopGap()
        case .refused:
            states.results[key(place)] = .end
            showEnds()
        case nil, .preempted: return .outdated
        case .notModified, .fresh, .revalidating, .stale: break
        }
        return .nothing
    }

    /// Asks at the topmost gap first: what is below a gap may be unknown, or may have risen into it.
    private func askTopGap() async throws -> Answered {
        let gap = try pager.feed.cache.withSnapshot { try $0.gaps(of: pager.feed).first?.id }
        guard let gap else { return .nothing }
        return await load(.gap(gap)) ?? .nothing
    }

    /// Turns an error of `body` into the state of the place. A cancellation says nothing about the place and
    /// is ignored.
    func wait<R>(at place: Place, _ body: () async throws -> R) async -> R? {
        states.waiting[place, default: 0] += 1
        defer { states.waiting[place] = states.waiting[place].flatMap { $0 > 1 ? $0 - 1 : nil } }
        do {
            return try await body()
        } catch {
            if !(error is CancellationError) { states.results[place] = .failed(error) }
            return nil
        }
    }
}

/// The states of a model's places. They are apart from the model because that is generic: to note the use of
/// a property of a generic class takes microseconds, and a list asks for the state of each row that it draws.
@MainActor @Observable final class LoadStates {
    /// The result of the last request at each place where it was not a success.
    var results: [Place: LoadState] = [:]
    /// The number of calls that wait at each place.
    var waiting: [Place: Int] = [:]
}
