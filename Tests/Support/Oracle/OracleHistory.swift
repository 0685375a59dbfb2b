@_spi(Unstable) import Quire
import QuireSimulator

/// A request on its way.
struct OracleJob {
    enum Operation {
        case refresh, down, up, around, snapshot, bodies
    }

    let place: Place
    let request: Request
    let limit: Int
    var seed: UInt64
    /// Down: the entry the answer continues below. Up: the entry it ends above. It follows the changes
    /// of the feed while the answer is under way.
    var border: PostID?
    /// What the server answered, if it answered before now: a nil reply is a failed request.
    var arrived: SimulatedReply??

    /// What the request means, by its target alone where that is enough.
    var operation: Operation {
        switch request.target {
        case .snapshot: .snapshot
        case .bodies, .delta: .bodies
        case .around: .around
        case .link(.head): .refresh
        case .link, .position, .page:
            switch place {
            case .head, .around, .page, .join: .refresh
            case .tail, .gap: .down
            case .aboveGap, .openHead: .up
            case .bodies, .delta: .bodies
            }
        }
    }

    /// The answer may start above the border.
    var isOverlapping: Bool {
        switch request.target {
        case .position, .page: true
        default: request.isOverlapping
        }
    }
}

/// Executes events against a simulated server and the engine, and checks the invariants after each.
final class OracleHistory {
    let mode: OracleMode
    let subject: OracleSubject
    var server = SimulatedServer()
    var knowledge = Knowledge()
    var view: OracleView
    var pending: [OracleJob] = []
    var diary = OracleDiary()
    /// The server has claimed an end. If posts are cached below, a second claim is believed (R11): it must be
    /// true.
    var hasClaimedEnd = false
    /// The list of ids that the engine accepted last (R21).
    var lastSnapshot: [PostID] = []
    /// What happened, for the reader of a failure.
    private(set) var log: [String] = []
    /// What was asked of the engine, besides being read.
    private(set) var operations = 0
    private var locals = 0

    init(mode: OracleMode, tuning: Tuning = Tuning()) throws {
        self.mode = mode
        subject = try OracleSubject(options: mode.options, tuning: tuning)
        view = try OracleView(of: subject)
    }

    /// Each use is one operation.
    var feed: Feed {
        operations += 1
        return subject.feed
    }

    func note(_ text: String) {
        log.append(text)
        if OracleSettings.isTracing { print(text) }
    }

    func run(_ events: [OracleEvent]) throws {
        for event in events {
            var random = SplitMix64(seed: event.seed)
            try execute(event.kind, &random)
            try look()
            try check()
        }
    }

    /// Reads the feed again and lets everything that depends on it follow.
    func look(moved: [PostID] = []) throws {
        let old = view
        view = try OracleView(of: subject)
        if old == view { return }
        note("    \(view)")
        for at in pending.indices { follow(&pending[at], from: old, moved: Set(moved)) }
        knowledge.notice(view)
        knowledge.forgive(falseClaimsOf: view, on: server)
        knowledge.forgetOpenRanges(of: view, on: server)
    }

    func check() throws {
        try view.requireSoundStructure()
        if mode == .ids {
            let rank = Dictionary(uniqueKeysWithValues: lastSnapshot.enumerated().map { ($1, $0) })
            let ranks = view.entries.compactMap { rank[$0] }
            if ranks != ranks.sorted() {
                throw OracleFailure(.order, "\(view) against the list \(lastSnapshot)")
            }
        }
        guard mode.isSound else { return }
        try knowledge.requireOrder(in: view, on: server, everywhere: mode.hasKeys)
        try knowledge.requireNoHole(in: view, on: server, mode)
    }

    /// A border that left hands its part to the entry that now ends its segment on that side. If the
    /// engine gave up the edge instead, the answer is stale and the border does not matter.
    private func follow(_ job: inout OracleJob, from old: OracleView, moved: Set<PostID>) {
        guard let border = job.border, let at = old.places[border] else { return }
        let isDown = job.operation == .down
        let side = isDown ? Array(old.lines[...at].reversed()) : Array(old.lines[at...])
        let survivor = side.lazy.compactMap { $0.entry?.id }.first { id in
            self.view.places[id] != nil && !moved.contains(id)
        }
        let segment = survivor.map(view.segment) ?? []
        job.border = isDown ? segment.last : segment.first
    }

    private func execute(_ kind: OracleEvent.Kind, _ random: inout SplitMix64) throws {
        switch kind {
        case .serverInsert, .serverBackdate, .serverDelete, .serverBump, .serverShuffle:
            changeServer(kind, &random)
        case .request: try request(&random)
        case .late: try late(&random)
        case .clientDelete: try clientDelete(&random)
        case .clientEvict: try giveUp { try clientEvict(&random) }
        case .clientEvictPage: try giveUp { try clientEvictPage(&random) }
        case .clientPrune: try giveUp { try clientPrune(&random) }
        case .clientLocal: try clientLocal(&random)
        case .clientPin: try clientPin(&random)
        case .clientReset: try clientReset(&random)
        case .reopen:
            let before = view
            try subject.reopen()
            note("reopen")
            let after = try OracleView(of: subject)
            if before != after {
                throw OracleFailure(.internal, "reopening changed \(before) to \(after)")
            }
        }
    }
}

// MARK: The server

extension OracleHistory {
    private func changeServer(_ kind: OracleEvent.Kind, _ random: inout SplitMix64) {
        switch kind {
        case .serverInsert:
            for _ in 0..<random.pick([1, 1, 2, 3, 9]) { server.insertOnTop() }
        case .serverBackdate where !server.isEmpty && mode.serverDeletes:
            server.insert(at: random.number(in: 1...server.ids.count))
        case .serverDelete where mode.serverDeletes:
            for _ in 0..<random.pick([1, 1, 3]) where !server.isEmpty {
                server.delete(random.pick(server.ids))
            }
        case .serverBump where !server.isEmpty && mode.serverBumps:
            server.bump(random.pick(server.ids))
        case .serverShuffle where mode.serverShuffles:
            server.shuffle(using: &random)
        default:
            return
        }
        note("\(kind.rawValue) -> \(server.ids)")
    }
}

// MARK: The client

extension OracleHistory {
    /// A post is deleted by its author, here and on the server, or only hidden here.
    private func clientDelete(_ random: inout SplitMix64) throws {
        guard !view.entries.isEmpty, mode.serverDeletes else { return }
        let id = random.pick(view.entries)
        let isEverywhere = random.chance(0.5) && server.shows(id)
        note("delete \(id)\(isEverywhere ? " everywhere" : "")")
        try feed.delete(id)
        diary.noteDeletion(id)
        if isEverywhere { server.delete(id) } else { knowledge.hide(id, in: view) }
        try look()
    }

    private func giveUp(_ posts: () throws -> Void) throws {
        let old = view
        try posts()
        try look()
        knowledge.forgetPlaces(givenUpFrom: old, to: view, on: server)
    }

    private func clientEvict(_ random: inout SplitMix64) throws {
        let entries = view.entries
        guard entries.count > 4 else { return }
        let ids = Array(entries[random.below(entries.count)...].prefix(random.pick([1, 2, 4])))
        note("evict \(ids)")
        try feed.evict(ids)
    }

    private func clientEvictPage(_ random: inout SplitMix64) throws {
        guard view.pageCount > 0 else { return }
        let rank = random.below(view.pageCount)
        note("evict page \(rank)")
        try feed.evictPage(at: rank)
    }

    private func clientPrune(_ random: inout SplitMix64) throws {
        let visible = Set(random.chance(0.5) ? view.posts.prefix(2) : [])
        if random.chance(0.5) {
            note("prune out of sequence, keeping \(visible.sorted { "\($0)" < "\($1)" })")
            try subject.pruneOutOfSequence(keeping: visible)
        } else {
            let (maximum, budget) = (random.number(in: 3...12), random.pick([1, 5, 99]))
            note("prune to \(maximum), budget \(budget)")
            try subject.prune(maximumPosts: maximum, keeping: visible, budget: budget)
        }
        let after = try OracleView(of: subject)
        if !visible.union(view.pinned).isSubset(of: after.posts) {
            throw OracleFailure(.noWipe, "pruning removed visible or pinned posts of \(view)")
        }
        try requireTopKept(after, visible)
    }

    /// Pruning comes to the first page last: while another page may go, the first one stays. A page whose
    /// last entries are detached entries may not go.
    private func requireTopKept(_ after: OracleView, _ visible: Set<PostID>) throws {
        let top = view.posts.lazy.compactMap { self.view.pages[$0] }.first
        guard let top, !after.pages.values.contains(top) else { return }
        let protected = visible.union(view.pinned).compactMap { view.pages[$0] }
        if !Set(after.entries.compactMap { after.pages[$0] }).isSubset(of: protected) {
            throw OracleFailure(.noWipe, "pruning took the first page of \(view), left \(after)")
        }
    }

    /// An optimistic post appears, or is withdrawn because the server has it now.
    private func clientLocal(_ random: inout SplitMix64) throws {
        let detached = view.detached.filter { $0.description.hasPrefix("L") }
        if !detached.isEmpty && random.chance(0.6) {
            let id = random.pick(detached)
            note("remove local \(id)")
            try feed.removeLocal(id)
        } else {
            locals += 1
            guard let id = PostID("L\(locals)") else { return }
            note("insert local \(id)")
            try feed.insertLocal(id, body: Array(#"{"draft":\#(locals)}"#.utf8))
        }
    }

    private func clientPin(_ random: inout SplitMix64) throws {
        let ids = view.posts.filter { !$0.description.hasPrefix("L") }
        guard !ids.isEmpty else { return }
        let id = random.pick(ids)
        let isPinned = view.pinned.contains(id)
        note("\(isPinned ? "unpin" : "pin") \(id)")
        if isPinned { try feed.unpin(id) } else { try feed.pin(id) }
    }

    private func clientReset(_ random: inout SplitMix64) throws {
        guard random.chance(0.3) else { return }
        note("reset")
        try feed.reset()
        knowledge.reset()
        lastSnapshot = []
    }
}
