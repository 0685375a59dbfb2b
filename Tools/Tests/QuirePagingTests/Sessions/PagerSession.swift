import Quire
import QuireSimulator
import Synchronization

@testable import QuirePaging
@testable import TestSupport

/// A reader with a pager and a simulated server behind a bad network, at random. After each event it
/// waits until each task waits for something, so that a seed gives the same session again.
final class PagerSession {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let history: OracleHistory
    private let clock = TestClock(isManual: true)
    private let network: SimulatedNetwork
    private let options: PagerOptions
    private var pager: Pager
    /// What the pager writes through.
    private var writer: ReplayedFeed
    private var random: SplitMix64
    private var calls: [Int: Task<Void, Never>] = [:]
    private var numbers = 0
    private let ledger = Ledger()
    /// What carries requests to the network and answers back; nil: they pass by themselves.
    private var carrier: (any PagingSource)?
    var log: [String] { history.log }

    /// - Parameter isCarried: ``carry(over:)`` comes next.
    init(mode: OracleMode, seed: UInt64, isCarried: Bool = false) throws {
        random = SplitMix64(seed: seed)
        history = try OracleHistory(mode: mode)
        let policies: [PagerOptions.RefreshPolicy] = [
            .keepGap, .fillUntilOverlap(pages: 3), .startAfresh,
        ]
        let policy = random.pick(policies)
        network = SimulatedNetwork(
            history, clock, heedsCancellation: random.chance(0.5) || isCarried,
            dropsPages: policy == .startAfresh)
        options = PagerOptions(
            refresh: policy,
            pageSize: random.number(in: 1...5), lifetime: .seconds(20),
            retries: RetryPolicy(attempts: random.number(in: 1...3)),
            patience: .seconds(random.pick([0, 4, 60])))
        writer = try ReplayedFeed(history.feed)
        pager = Self.pager(writer, network, clock, options)
    }

    private static func pager(
        _ writer: ReplayedFeed, _ network: SimulatedNetwork, _ clock: TestClock,
        _ options: PagerOptions, _ carrier: (any PagingSource)? = nil
    ) -> Pager {
        Pager(
            writer, source: carrier ?? network, interceptors: [network.interceptor], options: options,
            clock: clock.pagerClock(luck: { 0.5 }))
    }

    /// From now on requests go to the network in another way.
    func carry(over carrier: (SimulatedNetwork, FeedOptions) async throws -> any PagingSource) async throws {
        let carrier = try await carrier(network, history.mode.options)
        self.carrier = carrier
        pager = Self.pager(writer, network, clock, options, carrier)
    }

    // MARK: Events

    func run(steps: Int) async throws {
        for _ in 0..<8 { history.server.insertOnTop() }
        for _ in 0..<steps {
            switch random.below(20) {
            case 0...5: call()
            case 6...11: _ = network.answerAny(&random)
            case 12: _ = clock.wakeFirst()
            case 13...15: try change()
            case 16: try await cancelAny()
            case 17: try await look()
            case 18: clock.advance(.seconds(random.pick([1, 10, 30])))
            default: try await rareEvent()
            }
            try await settle()
        }
        try await finish()
        try await heal()
        try writer.compare()
    }

    /// The reader looks at some posts, which must stay.
    private func look() async throws {
        let visible = Set(history.view.posts.filter { _ in random.chance(0.2) })
        history.note("sees \(visible)")
        try await pager.setVisible(visible)
        try network.locked { try history.look() }
        if !visible.isSubset(of: history.view.posts) {
            throw Failure(description: "\(visible) were visible, \(history.view) is left")
        }
    }

    /// Runs what changes the cache and is not the pager.
    private func directly(_ body: () throws -> Void) throws {
        try writer.compare()
        try body()
        try writer.begin()
    }

    private func change() throws {
        let kinds = OracleEvent.Kind.allCases.filter {
            ![.request, .late, .reopen, .clientReset].contains($0)
        }
        let event = OracleEvent(kind: random.pick(kinds), seed: random.next())
        try directly { try network.locked { try history.run([event]) } }
    }

    private func rareEvent() async throws {
        switch random.below(4) {
        case 0:
            history.note("the clock is set back")
            clock.now -= Int64(random.pick([1_000, 100_000, 100_000_000]))
        case 1:
            let event = OracleEvent(kind: .clientReset, seed: random.next())
            try directly { try network.locked { try history.run([event]) } }
        default:
            try await cancelAll()
            history.note("restart")
            try writer.compare()
            try history.run([OracleEvent(kind: .reopen, seed: 0)])
            writer = try ReplayedFeed(history.feed)
            pager = Self.pager(writer, network, clock, options, carrier)
        }
    }

    /// Calls one of the pager's methods. A call that asked nothing is allowed nothing.
    private func call() {
        let ids = history.server.ids + history.view.entries
        let id = ids.isEmpty ? PostID(1) : random.pick(ids)
        let gap = history.view.gaps.isEmpty ? GapID(1) : random.pick(history.view.gaps)
        let pages = random.number(in: 1...4)
        let pager = pager
        let policy = if case .fillUntilOverlap(let pages) = options.refresh { pages } else { 0 }
        switch random.below(8) {
        case 0: start("refresh", allowed: 1 + policy) { try await pager.refresh() }
        case 1: start("refresh if stale", allowed: 1 + policy) { try await pager.refresh(.ifStale) }
        case 2, 3: start("append", allowed: 1) { try await pager.append() }
        case 4: start("prepend", allowed: 1) { try await pager.prepend() }
        case 5: start("fill \(gap)", allowed: pages) { try await pager.fill(gap, pages: pages) }
        case 6: start("jump to \(id)", allowed: 1) { try await pager.jump(to: id) }
        default:
            start("catch up to \(id)", allowed: pages) {
                try await pager.catchUp(to: id, budget: pages).last
            }
        }
    }

    private func start(
        _ name: String, allowed: Int, _ body: @escaping @Sendable () async throws -> PageResult
    ) {
        numbers += 1
        let number = numbers
        history.note("call \(number): \(name)")
        let ledger = ledger
        ledger.begin(number)
        calls[number] = Task {
            let result: Result<PageResult, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            ledger.end(number, result, allowed: allowed)
        }
    }

    private func cancelAny() async throws {
        let open = ledger.open.sorted()
        guard !open.isEmpty else { return }
        try await cancel(random.pick(open))
    }

    private func cancel(_ number: Int) async throws {
        history.note("cancel call \(number)")
        calls[number]?.cancel()
        await calls[number]?.value
    }

    private func cancelAll() async throws {
        for number in ledger.open.sorted() { try await cancel(number) }
        try await settle()
        while network.answerAny(&random) { try await settle() }  // cancelled requests
    }

    // MARK: Waiting

    /// Lets all tasks run until all calls wait, and all requests wait for an answer or for time to pass.
    private func settle() async throws {
        var turns = 0
        while true {
            let flights = await pager.flights
            let load = network.load
            let waiting = flights.values.reduce(0) { $0 + $1.waiting.count }
            if waiting == ledger.open.count, flights.count == load.live - load.forsaken,
                load.live == load.waiting + clock.sleeperCount
            {
                break
            }
            try Task.checkCancellation()
            turns += 1
            if turns == 20_000_000 {
                throw Failure(
                    description: "calls \(ledger.open) hang: \(flights.keys), \(load), "
                        + "\(clock.sleeperCount) sleep")
            }
            await Task.yield()
        }
        if let mistake = network.mistake { throw mistake }
        try network.locked {
            try history.look()
            try history.check()
        }
    }

    /// Every call ends, if only the network goes on and time passes.
    private func finish() async throws {
        for _ in 0..<2_000 {
            if ledger.open.isEmpty, network.load.live == 0 {
                let allowed = ledger.allowed + network.repetitions
                if network.asked > allowed {
                    throw Failure(description: "\(network.asked) requests, called for were \(allowed)")
                }
                return
            }
            let isAnswered = network.answerAny(&random)
            if isAnswered { try await settle() }  // who wakes must know what the answer said
            if !isAnswered || random.chance(0.3) { _ = clock.wakeFirst() }
            try await settle()
        }
        throw Failure(description: "calls that do not end: \(ledger.open)")
    }

    // MARK: Healing

    /// A quiet server and an obedient reader: the gaps close, the end is found, and the cache equals the
    /// server's list.
    private func heal() async throws {
        clock.letGo()
        network.isQuiet = true
        let mode = history.mode
        guard mode != .ranked else { return }  // it claims no completeness (Docs/rules.md, section 9)
        try await converge()
        guard !history.server.isEmpty else { return }  // an empty answer is never believed
        try directly {
            for id in history.view.pinned.sorted(by: { "\($0)" < "\($1)" }) { try history.feed.unpin(id) }
            try history.look()
            try history.feed.evict(Array(history.view.entries.dropFirst()))
            try history.look()
        }
        try await converge()
        if history.view.entries != history.server.ids || history.view.hasPlaceholders {
            throw Failure(description: "ended as \(history.view) against \(history.server.ids)")
        }
    }

    private func converge() async throws {
        let budget = 60 + 4 * (history.server.ids.count + history.view.entries.count)
        let firstSize = 6  // no session asks for more: what was deleted here only is to come back
        var size = firstSize
        var hasRefreshed = false
        var next: Place? = .head
        for _ in 0..<budget {
            guard let place = next else { return }
            let verdict = try await ask(place, size: size)
            if let mistake = network.mistake { throw mistake }
            switch verdict {
            case .emptyConfirm where history.server.isEmpty: return
            case nil, .contradiction, .discontinuity, .stale, .noProgress, .empty, .emptyConfirm, .error,
                .island:
                size = place == .head ? size * 2 : 10
                next = .head
            default:
                size = firstSize
                next = whatIsOpen
                if next == nil, !hasRefreshed {
                    hasRefreshed = true
                    next = .head
                }
            }
        }
        throw Failure(
            description: "not healed after \(budget) pages: \(history.view) of \(history.server.ids)")
    }

    private var whatIsOpen: Place? {
        if let gap = history.view.gaps.first { return .gap(gap) }
        if !history.view.headIsClosed { return .head }
        return !history.view.tailIsEnd || history.view.hasPlaceholders ? .tail : nil
    }

    private func ask(_ place: Place, size: Int) async throws -> Outcome.Verdict? {
        var options = PagerOptions()
        options.pageSize = size
        let pager = Self.pager(writer, network, clock, options, carrier)
        do {
            let result: PageResult =
                switch place {
                case .gap(let gap): try await pager.fill(gap)
                case .tail: try await pager.append()
                default: try await pager.refresh()
                }
            return result == .notModified ? .ok : result.verdict
        } catch PagerError.quotaSpent(let rest) {
            clock.advance(rest)
            return try await ask(place, size: size)
        }
    }
}

/// The calls that have not ended yet, and how many requests the others may have caused.
private final class Ledger: Sendable {
    private let state = Mutex((open: Set<Int>(), allowed: 0))

    var open: Set<Int> { state.withLock { $0.open } }
    var allowed: Int { state.withLock { $0.allowed } }

    func begin(_ number: Int) { state.withLock { _ = $0.open.insert(number) } }

    /// A call for one page that ends without having asked is allowed nothing.
    func end(_ number: Int, _ result: Result<PageResult, any Error>, allowed: Int) {
        var allowed = allowed
        if allowed == 1, case .success(let result) = result {
            switch result {
            case .fresh, .refused, .stopped: allowed = 0
            default: break
            }
        }
        state.withLock { state in
            state.open.remove(number)
            state.allowed += allowed
        }
    }
}
