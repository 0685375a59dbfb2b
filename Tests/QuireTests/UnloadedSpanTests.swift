import QuireSimulator
import Testing

@testable import Quire

/// A rule that sees only part of a feed does exactly what it does when it sees all of it: it asks for
/// what it needs and never guesses. In random feeds only the posts in question are loaded, and the gaps next
/// to them.
@Suite struct UnloadedSpanTests {
    @Test func partsAreAsGoodAsTheWhole() {
        var needs = 0
        for seed in 0..<UInt64(Specification.number("QUIRE_SEEDS") ?? 40) * 100 {
            var world = UnloadedWorld(seed: seed)
            let operation = world.operation()
            let whole = world.run(operation)
            let part = world.runOnPart(operation)
            needs += part.needs
            if whole != part.text {
                let feed = world.feed.canonical([])
                Issue.record("seed \(seed): \(operation)\nof \(feed)\nwhole: \(whole)\npart:  \(part.text)")
                return
            }
        }
        #expect(needs > 1000)
    }

    /// Rules that expect a post beside a gap look past the next one, which an answer may have moved there.
    @Test func aGapInPlaceOfAPostRefusesTheAnswer() throws {
        var state = FeedState(options: FeedOptions(order: .bump))
        let gap = state.newGap(down: state.newEdge(.unknown), up: state.newEdge(.unknown))
        do throws(Interruption) {
            Issue.record("entry \(try state.entry(of: gap, from: .above))")
        } catch {
            if case .refused(.contradiction, _) = error { return }
            Issue.record("\(error)")
        }
    }
}

/// One random feed and what is done to it.
struct UnloadedWorld: ~Copyable {
    enum Operation {
        case delete(PostID)
        case evict([PostID])
        case ingest(TicketRecord, Answer)
    }

    private(set) var feed: FeedState
    /// Some posts of the feed have no key.
    private let lacksKeys: Bool
    /// Feeds with many gaps and many local posts have posts that are alone between two gaps.
    private let gapChance, localChance: Double
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let order = random.pick([OrderClass.keyless, .stable, .bump, .appendOnly, .ranked])
        lacksKeys = random.chance(0.50) && order == .bump
        gapChance = random.pick([0.30, 0.60])
        localChance = random.pick([0.15, 0.40])
        feed = FeedState(options: FeedOptions(order: order))
        let count = random.number(in: 3...24)
        var page: UInt64 = 0
        for i in 0..<count {
            if i > 0 && random.chance(gapChance) { addGap() }
            if page == 0 || random.chance(0.30) { page = newPage() }
            addEntry(i, key: Int64(1000 - 10 * i), page: page)
        }
        feed.head = feed.newEdge(random.chance(0.70) ? .end : .token("h"))
        feed.tail = feed.newEdge(random.chance(0.70) ? .token("t") : .end)
        feed.clock = 100
    }

    private mutating func addGap() {
        guard let last = feed.rows.last(where: { !feed.isDetached($0) }), !last.isGap else { return }
        feed.gapNumbers += 1
        let link = random.chance(0.50) ? Link.token("d\(feed.gapNumbers)") : .unknown
        let down = feed.newEdge(link, after: random.chance(0.30) ? random.pick(feed.index.ids) : nil)
        let up = feed.newEdge(random.chance(0.30) ? .token("u\(feed.gapNumbers)") : .unknown)
        feed.rows.append(feed.newGap(Gap(id: GapID(feed.gapNumbers), down: down, up: up)))
    }

    private mutating func newPage() -> UInt64 {
        feed.pageNumbers += 1
        var page = StoredPage(number: feed.pageNumbers, own: .token("page=\(feed.pageNumbers)"))
        page.next = random.chance(0.70) ? .token("page=\(feed.pageNumbers + 1)") : .unknown
        feed.pages[page.number] = page
        return page.number
    }

    private mutating func addEntry(_ i: Int, key: Int64, page: UInt64) {
        let id = PostID("e\(i)")!
        var entry = Entry()
        if feed.options.order.hasKeys && !(lacksKeys && random.chance(0.05)) { entry.key = key }
        entry.confirmed = UInt64(random.number(in: 1...90))
        let isLast = feed.rows.last?.isGap ?? true
        entry.isDetached = !isLast && random.chance(localChance)
        entry.isPinned = random.chance(0.10)
        if !isLast && !entry.isDetached && random.chance(0.20) { entry.claim = Claim() }
        if !entry.isDetached {
            entry.page = page
            if feed.pages[page]!.first == nil { feed.pages[page]!.first = id }
            feed.pages[page]!.last = id
        }
        feed.rows.append(.entry(feed.entries.count))
        feed.append(id, entry)
    }

    // MARK: What is done

    mutating func operation() -> Operation {
        let ids = feed.index.ids
        if random.chance(0.20) { return .delete(random.pick(ids)) }
        if random.chance(0.20) { return .evict(ids.filter { _ in random.chance(0.25) }) }
        return ingest()
    }

    private mutating func ingest() -> Operation {
        let kind = random.pick([TicketRecord.Operation.refresh, .down, .up, .around, .recorded])
        var ticket = TicketRecord(
            number: 1, operation: kind, resets: 0, issued: UInt64(random.number(in: 50...100)))
        ticket.own = .token("page=\(random.number(in: 1...6))")
        ticket.isOverlapping = random.chance(0.40)
        let gaps = feed.gapRows.map { feed.gaps[$0] }
        switch kind {
        case .refresh: ticket.edges = [feed.head.number]
        case .down: ticket.edges = [random.pick(gaps.map(\.down.number) + [feed.tail.number])]
        case .up: ticket.edges = [random.pick(gaps.map(\.up.number) + [feed.head.number])]
        case .recorded:
            ticket.isAtHead = random.chance(0.20)
            ticket.after = random.pick(feed.index.ids)
        default: break
        }
        if ticket.isOverlapping { ticket.after = random.pick(feed.index.ids) }
        let isNew = kind == .around && random.chance(0.40)
        return .ingest(ticket, answer(isNew: isNew))
    }

    /// A span of the feed with some posts missing, some new or all of them, some in another place.
    private mutating func answer(isNew: Bool) -> Answer {
        var keys: [(id: PostID, key: Int64)] = []
        let start = random.number(in: 0...feed.entries.count - 1)
        for i in start..<min(feed.entries.count, start + random.number(in: 1...8)) {
            if random.chance(0.25) { keys.append((PostID("n\(i)")!, Int64(1005 - 10 * i))) }
            if !isNew && random.chance(0.75) {
                let rise: Int64 = feed.options.order == .bump && random.chance(0.20) ? 500 : 0
                keys.append((feed.id(of: i), Int64(1000 - 10 * i) + rise))
            }
        }
        if random.chance(0.20) { random.shuffle(&keys) } else { keys.sort { $0.key > $1.key } }
        var answer = Answer(
            next: random.pick([Link.end, .unknown, .token("page=5"), .token("x")]),
            previous: random.pick([Link.end, .unknown, .token("y")]))
        for (id, key) in keys {
            answer.append(id: id, key: feed.options.order.hasKeys ? key : nil)
        }
        return answer
    }

    // MARK: Doing it

    func run(_ operation: Operation) -> String {
        var state = feed.copy()
        switch Self.apply(operation, to: &state) {
        case .success(let text): return text + state.canonical([])
        case .failure(let need): return "\(need)"
        }
    }

    private static func apply(_ operation: Operation, to state: inout FeedState) -> Result<String, Need> {
        let old = state.copy()
        do throws(Interruption) {
            var text = ""
            switch operation {
            case .delete(let id): try state.delete(id)
            case .evict(let ids): try state.evict(ids)
            case .ingest(let ticket, let answer):
                let judged = try state.ingest(answer, ticket)
                text = "\(judged.outcome) "
            }
            try state.requireSameNeighbours(since: old)
            return .success(text)
        } catch {
            if case .needs(let need) = error { return .failure(need) }
            preconditionFailure("a refusal is an outcome")
        }
    }

    /// The same with nothing loaded but the posts in question, and what the rule asks for.
    mutating func runOnPart(_ operation: Operation) -> (text: String, needs: Int) {
        var loaded = Set(wanted(operation).compactMap { feed.index[$0] })
        if case .ingest(let ticket, _) = operation { loaded.formUnion(feed.entries(below: ticket.edges)) }
        for entry in feed.entries.indices where random.chance(0.15) { loaded.insert(entry) }
        var shown = Set(feed.gapRows.filter { _ in random.chance(0.10) })
        var needs = 0
        while true {
            var runs: [[Row]] = []
            var state = feed.part(loaded, gaps: shown, &runs)
            switch Self.apply(operation, to: &state) {
            case .success(let text):
                let order = state.rows.compactMap { if case .unloaded(let run) = $0 { run } else { nil } }
                #expect(order == order.sorted(), "spans that are not loaded keep their order")
                let spans = runs.map { run in run.flatMap { feed.text(of: $0) } }
                return (text + state.canonical(spans), needs)
            case .failure(let need):
                needs += 1
                let entries = runs[need.run].compactMap(\.entry)
                let server = entries.filter { !feed.entries[$0].isDetached }
                switch need {
                case _ where server.isEmpty: loaded.formUnion(entries)
                case .gaps: shown.formUnion(runs[need.run].compactMap(\.gap))
                case .top: loaded.insert(server.first!)
                case .bottom: loaded.insert(server.last!)
                case .all, .key, .counts, .sought: loaded.formUnion(server)
                }
            }
        }
    }

    private func wanted(_ operation: Operation) -> [PostID] {
        switch operation {
        case .delete(let id): [id]
        case .evict(let ids): ids
        case .ingest(let ticket, let answer):
            answer.posts.map(\.id) + [ticket.after].compactMap(\.self)
        }
    }
}

extension FeedState {
    /// The first entry below each gap that has one of these edges.
    fileprivate func entries(below edges: [UInt64]) -> [Int] {
        rows.indices.filter { at in edges.contains { owns(rows[at], edge: $0) } }
            .compactMap { rows[$0...].lazy.compactMap(\.entry).first }
    }

    /// This state with only these entries and gaps loaded, and the rows of each unloaded span. The first gap,
    /// the last and those next to what is loaded are there always.
    fileprivate func part(_ loaded: Set<Int>, gaps: Set<Int>, _ runs: inout [[Row]]) -> FeedState {
        var (shownRows, shownEntries, spans): ([Row], [Int], [UnloadedSpan]) = ([], [], [])
        var open: [Row] = []
        func add(_ row: Row) {
            guard case .entry(let entry) = row else { return shownRows.append(row) }
            shownRows.append(.entry(shownEntries.count))
            shownEntries.append(entry)
        }
        func closeDetached() {
            let detached = open.prefix { isDetached($0) }
            guard let first = detached.first?.entry, detached.count == open.count || first % 2 == 0 else {
                return
            }
            let position = UInt64(runs.count)
            spans.append(
                UnloadedSpan(count: 0, unkeyed: 0, chunks: position...position, isDetached: true))
            shownRows.append(.unloaded(runs.count))
            runs.append(Array(detached))
            open.removeFirst(detached.count)
        }
        func close() {
            closeDetached()
            let lowest = open.reversed().prefix { !$0.isGap }.reversed().compactMap(\.entry).filter {
                !entries[$0].isDetached
            }
            if lowest.isEmpty {
                open.forEach(add)
            } else {
                let position = UInt64(runs.count)
                spans.append(
                    UnloadedSpan(
                        count: lowest.count, unkeyed: lowest.count { entries[$0].key == nil },
                        chunks: position...position, hidesGaps: open.contains(where: \.isGap)))
                shownRows.append(.unloaded(runs.count))
                runs.append(open)
            }
            open = []
        }
        let shown = gaps.union(self.gaps(nextTo: loaded))
        for row in rows {
            if row.entry.map({ !loaded.contains($0) }) ?? !shown.contains(row.gap!) {
                open.append(row)
            } else {
                close()
                add(row)
            }
        }
        close()
        var part = copy()
        (part.rows, part.entries, part.index, part.unloaded) = (shownRows, [], EntryIndex(), spans)
        for entry in shownEntries { part.append(id(of: entry), entries[entry]) }
        return part
    }

    /// The gaps that end a partly loaded segment, the first gap and the last.
    private func gaps(nextTo loaded: Set<Int>) -> Set<Int> {
        var shown = Set([gapRows.first, gapRows.last].compactMap(\.self))
        for (at, row) in rows.enumerated() where row.entry.map(loaded.contains) ?? false {
            if let above = rows[..<at].last(where: \.isGap)?.gap { shown.insert(above) }
            if let below = rows[at...].first(where: \.isGap)?.gap { shown.insert(below) }
        }
        return shown
    }

    /// Everything that matters, as text. `spans` has the text of the rows in each unloaded span.
    fileprivate func canonical(_ spans: [[String]]) -> String {
        var parts = [text(of: head)]
        for row in rows {
            if case .unloaded(let run) = row { parts += spans[run] } else { parts += text(of: row) }
        }
        return (parts + [text(of: tail)]).joined(separator: " ")
    }

    private func text(of edge: Edge) -> String { "\(edge.link)@\(edge.after?.description ?? "")" }

    fileprivate func text(of row: Row) -> [String] {
        switch row {
        case .entry(let number):
            let entry = entries[number]
            let flags = [entry.isDetached, entry.isPinned, entry.isPlaceholder, entry.isUnverified]
                .map { $0 ? "1" : "0" }.joined()
            return ["\(id(of: number)):\(entry.key ?? -1):\(entry.page):\(flags)"]
        case .gap(let gap): return ["~\(text(of: gaps[gap].down))^\(text(of: gaps[gap].up))~"]
        case .unloaded: return []
        }
    }
}
