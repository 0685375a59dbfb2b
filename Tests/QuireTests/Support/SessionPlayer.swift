import QuireSimulator

@_spi(Unstable) @testable import Quire

/// Plays a scenario's steps inside write sessions, however many make one commit. ``ScenarioRunner`` makes
/// the feeds as the scenario has them at its start.
final class SessionPlayer {
    let storage: TemporaryCache
    private let firstFeed: String
    private var feeds: [String: Feed] = [:]
    private var tickets: [String: Ticket?] = [:]
    private var runs: [String: Crawl] = [:]
    /// What each step returned.
    private(set) var results: [String] = []

    init(_ scenario: JSON, tuning: Tuning) throws {
        storage = try ScenarioRunner(scenario, tuning: tuning).storage
        let names = scenario["feeds"]?.object?.keys.sorted() ?? ["main"]
        firstFeed = names.contains("main") ? "main" : names[0]
        for name in names { feeds[name] = try storage.cache.feed(named: name) }
    }

    func play(_ step: JSON, _ session: WriteSession) throws {
        let feed = feeds[step["feed"]?.text ?? firstFeed]!
        let operation = step["op"]!.text!
        switch operation {
        case "refresh", "append", "fill", "prepend", "around", "bodies", "verify", "delta":
            let plan = try plan(operation, step, feed, session)
            results.append("\(plan)")
            if let request = plan.request { try answer(step, request.ticket, feed, session) }
        case "plan":
            let plan = try plan(step["request"]!.text!, step, feed, session)
            results.append("\(plan)")
            if let label = step["as"]?.text { tickets[label] = plan.request?.ticket }
        case "answer": try answer(step, tickets[step["ticket"]!.text!]!!, feed, session)
        case "cancel":
            if let ticket = tickets[step["ticket"]!.text!]! {
                try session.cancel(ticket, in: feed.number)
            }
        case "record":
            if step["missing"]?.bool == true || step["error"] != nil { return }
            let name = feed.name + "/" + (step["run"]?.text ?? "")
            var run = runs[name] ?? Crawl(startingAt: .head(page: feed.options.firstPage))
            let (outcome, recorded) = try session.ingest(
                Answer(step), page: step["page"]!.int!, of: run, in: feed.number)
            run.note(recorded)
            results.append("\(outcome)")
            runs[name] = run
        case "push":
            if feed.options.paging == .ids { return }
            let outcome = try session.push(
                Answer(step), number: step["number"]?.int.map(UInt64.init),
                follows: step["follows"]?.text.flatMap { PostID($0) }, in: feed.number)
            results.append("\(outcome)")
        case "live", "offline":
            try session.setLive(
                operation == "live", after: step["number"]?.int.map(UInt64.init), in: feed.number)
        default: results.append(try change(operation, step, feed.number, session))
        }
    }

    private func change(
        _ operation: String, _ step: JSON, _ feed: UInt32, _ session: WriteSession
    ) throws -> String {
        let id = step["id"]?.text.flatMap { PostID($0) }
        switch operation {
        case "delete": try session.delete(id!, in: feed)
        case "evict": return "\(try session.evict(Self.ids(step["ids"]), in: feed))"
        case "evict_page":
            try session.storeRanks(of: feed)
            let reader = RowReader(transaction: session.transaction, feed: feed)
            let page = try reader.pages(from: step["rank"]!.int!, limit: 1)[0]
            return "\(try session.evict(try reader.rows(of: page).map(\.id), in: feed))"
        case "prune", "prune_out_of_sequence":
            var policy = PrunePolicy()
            policy.visible = Set(Self.ids(step["visible"]))
            policy.dropsOutOfSequence = operation == "prune_out_of_sequence"
            policy.maximumPosts = step["max_entries"]?.int
            policy.maximumAge = step["ttl"]?.int.map { Int64($0) }
            policy.now = Int64(step["now"]?.int ?? 0)
            if let budget = step["budget"]?.int { policy.budget = budget }
            return "\(try session.prune(feed, policy))"
        case "update":
            let fields = step["fields"]!.object!.mapValues { Array("\($0)".utf8) }
            return "\(try session.update(id!, fields: fields, version: Int64(step["version"]!.int!)))"
        case "pin", "unpin": return "\(try session.setPinned(id!, operation == "pin", in: feed))"
        case "insert_local": return "\(try session.insertLocal(id!, body: [], in: feed))"
        case "confirm_local":
            guard let server = step["as"]?.text.flatMap({ PostID($0) }) else {
                return "\(try session.removeLocal(id!, in: feed))"
            }
            return "\(try session.confirmLocal(id!, as: server, in: feed))"
        case "alias": return "\(try session.unite(id!, with: PostID(step["as"]!.text!)!, in: ""))"
        case "reset": try session.reset(feed)
        case "look": break
        default: throw ScenarioRunner.Unknown(word: operation)
        }
        return operation
    }

    private func plan(_ request: String, _ step: JSON, _ feed: Feed, _ session: WriteSession) throws -> Plan {
        let place: Place
        switch request {
        case "refresh": place = .head
        case "append": place = .tail
        case "prepend": place = .openHead
        case "delta": place = .delta
        case "around": place = ScenarioRunner.jump(to: step["target"]?.text ?? "?", feed)
        case "verify":
            let joins = try RowReader(transaction: session.transaction, feed: feed.number).unverifiedPosts()
            let at = step["gap"]?.int ?? 0
            place = .join(above: at < joins.count ? joins[at] : "?")
        case "bodies": place = .bodies(Self.ids(step["ids"]))
        default:
            let gaps = try KnownGaps(session.transaction, feed: feed.number).all.map(\.record.gap.id)
            let at = step["gap"]?.int ?? .max
            let gap = at < gaps.count ? gaps[at] : GapID(.max)
            place = step["direction"]?.text == "up" ? .aboveGap(gap) : .gap(gap)
        }
        return try session.plan(
            place, limit: step["limit"]?.int, isBounded: step["bounded"]?.bool ?? false,
            link: step["link"]?.text.map(Picture.link), in: feed.number)
    }

    private func answer(_ step: JSON, _ ticket: Ticket, _ feed: Feed, _ session: WriteSession) throws {
        if step["error"] != nil { return try session.cancel(ticket, in: feed.number) }
        results.append("\(try session.ingest(Answer(step), for: ticket, in: feed.number))")
    }

    private static func ids(_ list: JSON?) -> [PostID] {
        (list?.list ?? []).map { PostID($0.text!)! }
    }
}

/// Everything that can be read from a cache, but not where it stands on disk: two caches with the same
/// history have the same contents, however its steps were put into commits.
struct CacheContents: Equatable {
    private(set) var lines: [String] = []

    init(_ cache: Cache) throws {
        for feed in try cache.feeds() {
            lines.append(try Picture.show(feed))
            try cache.environment.read { try addFeed(feed, $0) }
        }
        try cache.environment.read { transaction in
            var counters = try WriteSession.counters(transaction)
            (counters.generation, counters.bodyRecords) = (0, 0)
            lines.append("\(counters)")
            let exact = ["names", "tombstones", "tickets", "attributes", "fields"]
            try transaction.forEachRecord { key, value in
                let (table, _) = Table.owner(of: key)!
                if exact.contains(table.name.description) {
                    lines.append("\(table.name) \(Array(key)): \(Array(value))")
                }
            }
        }
    }

    private mutating func addFeed(_ feed: Feed, _ transaction: Transaction) throws {
        let reader = RowReader(transaction: transaction, feed: feed.number)
        var record = try reader.record()
        record.options.sticky = []
        record.counts.chunks = 0
        let shifts = record.shifts
        record.shifts = PositionShifts()
        lines.append("\(record)")
        for known in try KnownGaps(transaction, feed: feed.number).all { lines.append("\(known.record)") }
        let bodies = BodyStore(transaction: transaction)
        var pages: Set<UInt64> = []
        try reader.chunks.eachChunk(from: 0) { position, chunk in
            var chunk = chunk
            if let epoch = chunk.epoch {
                shifts.apply(to: &chunk.entries, chunk.entries.indices, since: epoch, at: position)
            }
            for (id, var entry) in zip(chunk.ids, chunk.entries) {
                let body = Array(try bodies.bytes(entry.body))
                entry.body = BodyReference()
                lines.append("\(id) \(entry) \(body)")
                if entry.page != 0 { pages.insert(entry.page) }
            }
            return true
        }
        for number in pages.sorted() {
            var page = try transaction.page(number, of: feed.number)
            page.start = 0
            lines.append("\(page) \(try reader.rows(ofPage: number).map(\.id))")
        }
    }

    /// The first line that differs.
    func difference(from other: CacheContents) -> String? {
        if self == other { return nil }
        for (a, b) in zip(lines, other.lines) where a != b { return "\(a)\n   instead of\n\(b)" }
        return "\(lines.count) instead of \(other.lines.count) lines"
    }
}

extension RowReader {
    /// Posts that only the server's numbering joins to the one above, top first.
    fileprivate func unverifiedPosts() throws -> [PostID] {
        var found: [PostID] = []
        try chunks.eachChunk(from: 0) { _, chunk in
            found += zip(chunk.ids, chunk.entries).filter(\.1.isUnverified).map(\.0)
            return true
        }
        return found
    }
}
