import ArgumentParser
import Foundation
@_spi(Unstable) import Quire

/// One of several processes that change a cache. It reads operations, one on each line, carries them out and
/// prints the results. `Tests/Processes` has the same program in C and in Python, and the one that gives the
/// orders.
struct TurnTaking: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "turns", abstract: "Carry out the operations on standard input.",
        shouldDisplay: false)

    @Argument var path: String

    func run() throws {
        let turns = Turns(
            cache: try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 18)))
        while let line = readLine() {
            let reply = try JSONSerialization.data(withJSONObject: try turns.take(Order(line)))
            FileHandle.standardOutput.write(reply + Data("\n".utf8))
        }
    }
}

/// An operation, as flat as the lines of conformance.json.
private struct Order {
    let members: [String: Any]

    init(_ line: String) throws {
        members = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }

    func text(_ name: String) -> String { members[name] as? String ?? "" }
    func number(_ name: String) -> Int { members[name] as? Int ?? 0 }
    func list(_ name: String) -> [String] { members[name] as? [String] ?? [] }
    var id: PostID { PostID(text("id"))! }
    func ids(_ name: String) -> [PostID] { list(name).map { PostID($0)! } }

    func link(_ name: String) -> Link {
        switch text(name) {
        case "", "?": .unknown
        case "end": .end
        case "more": .more
        case let word: .token(word)
        }
    }

    var answer: Answer {
        var answer = Answer(next: link("next"), previous: link("previous"))
        let keys = list("keys")
        for (i, id) in ids("posts").enumerated() {
            answer.append(id: id, key: keys.isEmpty ? nil : Int64(keys[i]), body: Array("body of \(id)".utf8))
        }
        return answer
    }

    var options: FeedOptions {
        var options = FeedOptions()
        options.order = OrderClass(rawValue: text("order"))!
        options.paging = Paging(rawValue: text("paging"))!
        return options
    }
}

private struct Turns {
    let cache: Cache

    func take(_ order: Order) throws -> [String: Any] {
        let name = order.text("feed")
        switch order.text("op") {
        case "feed":
            _ = try cache.feed(named: name, options: order.options)
            return [:]
        case "check": return ["findings": try cache.check().map { "\($0)" }]
        case "look": return try look(at: try cache.feed(named: name))
        default: return try commit(order, try cache.feed(named: name))
        }
    }

    /// Makes exactly one commit: what happened is marked even if nothing else changed. A snapshot inside of a
    /// batch sees the commit before it.
    private func commit(_ order: Order, _ feed: Feed) throws -> [String: Any] {
        try cache.batch { batch in
            let before = try OpenSnapshot(cache)
            var reply = try change(order, feed, batch, before)
            reply["base"] = try before.read { try $0.generation }
            try batch[feed].setAttribute("turn", to: Array(order.text("turn").utf8))
            return reply
        }
    }

    private func change(
        _ order: Order, _ feed: Feed, _ batch: borrowing Batch, _ before: OpenSnapshot
    ) throws -> [String: Any] {
        let ticket = Ticket(UInt64(order.number("ticket")))
        switch order.text("op") {
        case "plan": return try plan(order, feed, batch, before)
        case "ingest": return describe(try batch[feed].ingest(order.answer, for: ticket))
        case "cancel": try batch[feed].cancel(ticket)
        case "delete": try batch[feed].delete(order.id)
        case "evict": return ["count": try batch[feed].evict(order.ids("posts"))]
        case "evict-page": return try evictPage(order.number("index"), feed, batch, before)
        case "pin", "unpin":
            let pinned = order.text("op") == "pin"
            return ["done": (try pinned ? batch[feed].pin(order.id) : batch[feed].unpin(order.id)) ? 1 : 0]
        case "insert-local": return ["done": try batch[feed].insertLocal(order.id, body: []) ? 1 : 0]
        case "remove-local": return ["done": try batch[feed].removeLocal(order.id) ? 1 : 0]
        case "update":
            let values = order.list("values").map { Array($0.utf8) }
            let fields = Dictionary(uniqueKeysWithValues: zip(order.list("names"), values))
            let version = Int64(order.number("version"))
            return ["result": try batch.update(order.id, fields: fields, version: version).rawValue]
        case "prune":
            var policy = PrunePolicy()
            policy.dropsOutOfSequence = order.number("out_of_sequence") != 0
            policy.maximumPosts = order.members["maximum_posts"] as? Int
            policy.visible = Set(order.ids("visible"))
            policy.budget = order.number("budget")
            return ["done": try batch[feed].prune(policy).isDone ? 1 : 0]
        case "reset": try batch[feed].reset()
        case let other: preconditionFailure("unknown operation \(other)")
        }
        return [:]
    }

    private func evictPage(
        _ index: Int, _ feed: Feed, _ batch: borrowing Batch, _ before: OpenSnapshot
    ) throws -> [String: Any] {
        let ids = try before.read { snapshot in
            try snapshot.pages(of: feed, from: index, limit: 1).flatMap { page in
                try snapshot.posts(of: page, in: feed).map(\.id)
            }
        }
        return ["count": try batch[feed].evict(ids)]
    }

    private func plan(
        _ order: Order, _ feed: Feed, _ batch: borrowing Batch, _ before: OpenSnapshot
    ) throws -> [String: Any] {
        let gaps = try before.read { try $0.gaps(of: feed).map(\.id) }
        let gap = order.number("gap") < gaps.count ? gaps[order.number("gap")] : GapID(.max)
        let place: Place =
            switch order.text("place") {
            case "head": .head
            case "tail": .tail
            case "gap": .gap(gap)
            case "above-gap": .aboveGap(gap)
            case "open-head": .openHead
            default: .around(PostID(order.text("target"))!)
            }
        switch try batch[feed].plan(
            place, limit: order.number("limit"), isBounded: order.number("bounded") != 0)
        {
        case .refused(let refusal): return ["refusal": refusal.rawValue]
        case .request(let request):
            var reply: [String: Any] = ["ticket": request.ticket.number]
            switch request.target {
            case .link(let link): (reply["request"], reply["link"]) = ("link", link.description)
            case .position(let offset, let limit):
                (reply["request"], reply["position"], reply["limit"]) = ("position", offset, limit)
            case .page(let number, let limit):
                (reply["request"], reply["position"], reply["limit"]) = ("page", number, limit)
            case .around(let target): (reply["request"], reply["link"]) = ("around", target.description)
            case .delta(let since): (reply["request"], reply["link"]) = ("delta", since)
            case .snapshot: reply["request"] = "snapshot"
            case .bodies(let ids): (reply["request"], reply["ids"]) = ("bodies", ids.map(\.description))
            }
            reply["overlapping"] = request.isOverlapping ? 1 : 0
            reply["until"] = request.until?.description
            return reply
        }
    }

    private func describe(_ outcome: Outcome) -> [String: Any] {
        [
            "outcome": outcome.verdict.rawValue, "reason": outcome.reason,
            "added": outcome.new.map(\.description), "duplicates": outcome.duplicates.map(\.description),
            "moved": outcome.moved.map(\.description), "removed": outcome.removed.map(\.description),
        ]
    }

    // MARK: Reading

    private func look(at feed: Feed) throws -> [String: Any] {
        let open = try OpenSnapshot(cache)
        let overlaps = try open.overlaps(of: feed)
        return try open.read { snapshot in
            var facts: [String] = []
            for row in try snapshot.rows(of: feed, limit: .max) {
                guard let id = row.post?.id, let post = try snapshot.post(id) else { continue }
                facts.append("\(id) \(post.feeds)")
                for (name, value) in post.fields.sorted(by: { $0.key < $1.key }) {
                    facts.append("\(id) \(name)=\(String(decoding: value, as: UTF8.self))")
                }
            }
            return [
                "generation": try snapshot.generation, "facts": facts,
                "picture": try Self.picture(of: feed, snapshot, overlaps),
            ]
        }
    }

    /// Returns the one-line picture of a feed that conformance.json compares with (Bindings/README.md).
    private static func picture(
        of feed: Feed, _ snapshot: borrowing Snapshot, _ overlaps: (head: Bool, tail: Bool)
    ) throws -> String {
        func word(_ link: Link, _ isOverlapping: Bool) -> String {
            (isOverlapping ? "@" : "") + link.description
        }
        let info = try snapshot.info(of: feed)
        var parts = info.head == .end ? [] : [word(info.head, overlaps.head) + "|"]
        var run: [String] = []
        for row in try snapshot.rows(of: feed, limit: .max) {
            switch row {
            case .post(let post):
                run.append(
                    (post.isDetached ? "+" : "") + (post.isPlaceholder ? "?" : "") + post.id.description)
            case .gap(let gap):
                let up = gap.up == .unknown ? "" : "^" + word(gap.up, gap.isUpOverlapping)
                parts += [
                    "[\(run.joined(separator: " "))]", "~\(word(gap.down, gap.isDownOverlapping))\(up)~",
                ]
                run = []
            }
        }
        return (parts + ["[\(run.joined(separator: " "))]", "|" + word(info.tail, overlaps.tail)])
            .joined(separator: " ")
    }
}
