import QuireSimulator

@_spi(Unstable) @testable import Quire

/// Makes the steps of a scenario operations. ``ScenarioRunner`` makes the feeds as the scenario has them at
/// its start.
final class ScenarioPlayer {
    let storage: TemporaryCache
    private let firstFeed: String
    private var feeds: [String: Feed] = [:]
    private var tickets: [String: Ticket?] = [:]
    private var runs: [String: Crawl] = [:]
    /// What each operation returned.
    private(set) var results: [CacheReply] = []

    init(_ scenario: JSON, tuning: Tuning) throws {
        storage = try ScenarioRunner(scenario, tuning: tuning).storage
        let names = scenario["feeds"]?.object?.keys.sorted() ?? ["main"]
        firstFeed = names.contains("main") ? "main" : names[0]
        for name in names { feeds[name] = try storage.cache.feed(named: name) }
    }

    func play(_ step: JSON, _ target: some OperationTarget) throws {
        let feed = feeds[step["feed"]?.text ?? firstFeed]!
        let operation = step["op"]!.text!
        switch operation {
        case "refresh", "append", "fill", "prepend", "around", "bodies", "verify", "delta":
            let plan = try plan(operation, step, feed, target)
            if let request = plan.request { try answer(step, request.ticket, feed, target) }
        case "plan":
            let plan = try plan(step["request"]!.text!, step, feed, target)
            if let label = step["as"]?.text { tickets[label] = plan.request?.ticket }
        case "answer": try answer(step, tickets[step["ticket"]!.text!]!!, feed, target)
        case "cancel":
            if let ticket = tickets[step["ticket"]!.text!]! { try write(.cancel(ticket), feed, target) }
        case "drop-link": try write(.dropLink(of: tickets[step["ticket"]!.text!]!!), feed, target)
        case "record":
            if step["missing"]?.bool == true || step["error"] != nil || feed.options.paging == .ids { return }
            let name = feed.name + "/" + (step["run"]?.text ?? "")
            let run = runs[name] ?? Crawl(startingAt: .head(page: feed.options.firstPage))
            let reply = try write(.crawl(Answer(step), page: step["page"]!.int!, of: run), feed, target)
            if case .crawled(_, let run) = reply { runs[name] = run }
        case "push":
            if feed.options.paging == .ids { return }
            let push = FeedOperation.push(
                Answer(step), number: step["number"]?.int.map(UInt64.init),
                follows: step["follows"]?.text.flatMap { PostID($0) })
            try write(push, feed, target)
        case "live": try write(.beginLive(after: step["number"]?.int.map(UInt64.init)), feed, target)
        case "offline": try write(.endLive, feed, target)
        case "update":
            let fields = step["fields"]!.object!.mapValues(ScenarioRunner.bytes)
            let (id, version) = (PostID(step["id"]!.text!)!, Int64(step["version"]!.int!))
            try write(.updateFields(id, fields, version: version), target)
        case "alias":
            try write(.addAlias(PostID(step["id"]!.text!)!, of: PostID(step["as"]!.text!)!), target)
        case "look": break
        default: try write(try change(operation, step), feed, target)
        }
    }

    @discardableResult
    private func write(_ operation: CacheOperation, _ target: some OperationTarget) throws -> CacheReply {
        let reply = try target.apply(operation, issuer: 0)
        results.append(reply)
        return reply
    }

    @discardableResult
    private func write(
        _ operation: FeedOperation, _ feed: Feed, _ target: some OperationTarget
    ) throws -> CacheReply {
        try write(.feed(feed.number, operation), target)
    }

    private func change(_ operation: String, _ step: JSON) throws -> FeedOperation {
        let id = step["id"]?.text.flatMap { PostID($0) }
        switch operation {
        case "delete": return .delete(id!)
        case "evict": return .evict(ScenarioRunner.ids(step["ids"]))
        case "evict_page": return .evictPage(at: step["rank"]!.int!)
        case "prune", "prune_out_of_sequence":
            var policy = PrunePolicy()
            policy.visible = Set(ScenarioRunner.ids(step["visible"]))
            policy.dropsOutOfSequence = operation == "prune_out_of_sequence"
            policy.maximumPosts = step["max_entries"]?.int
            policy.maximumAge = step["ttl"]?.int.map { Int64($0) }
            policy.now = Int64(step["now"]?.int ?? 0)
            if let budget = step["budget"]?.int { policy.budget = budget }
            return .prune(policy)
        case "pin": return .pin(id!)
        case "unpin": return .unpin(id!)
        case "insert_local": return .insertLocal(id!, body: [])
        case "confirm_local":
            guard let server = step["as"]?.text.flatMap({ PostID($0) }) else { return .removeLocal(id!) }
            return .confirmLocal(id!, as: server)
        case "reset": return .reset
        default: throw ScenarioRunner.Unknown(word: operation)
        }
    }

    private func plan(
        _ request: String, _ step: JSON, _ feed: Feed, _ target: some OperationTarget
    ) throws -> Plan {
        let place = try ScenarioRunner.place(
            request, step, feed,
            joins: {
                try target.read { try RowReader(transaction: $0, feed: feed.number).unverifiedPosts() }
            },
            gaps: {
                try target.read { try KnownGaps($0, feed: feed.number).all.map(\.record.gap.id) }
            })
        let operation = FeedOperation.plan(
            place, limit: step["limit"]?.int, isBounded: step["bounded"]?.bool ?? false,
            link: step["link"]?.text.map(Picture.link))
        guard case .plan(let plan, _) = try write(operation, feed, target) else {
            throw ScenarioRunner.Unknown(word: request)
        }
        return plan
    }

    private func answer(
        _ step: JSON, _ ticket: Ticket, _ feed: Feed, _ target: some OperationTarget
    ) throws {
        let operation: FeedOperation =
            step["error"] != nil ? .cancel(ticket) : .ingest(Answer(step), for: ticket)
        try write(operation, feed, target)
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
