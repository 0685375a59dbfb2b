import Testing

@_spi(Unstable) @testable import Quire

/// Replays one conformance case through a real cache; the meaning of every step, in code.
final class ScenarioRunner {
    let storage: TemporaryCache
    private let feedOptions: [String: FeedOptions]
    private let firstFeed: String
    private var tickets: [String: Ticket?] = [:]
    private var runs: [String: Crawl] = [:]
    private var mirror = Mirror()

    init(_ scenario: JSON, tuning: Tuning) throws {
        storage = try TemporaryCache(tuning)
        let feeds = scenario["feeds"]?.object ?? ["main": scenario]
        var options: [String: FeedOptions] = [:]
        firstFeed = feeds.keys.contains("main") ? "main" : feeds.keys.sorted()[0]
        for (name, spec) in feeds {
            options[name] = try Self.options(spec["options"])
            let feed = try storage.cache.feed(named: name, options: options[name])
            let pages = spec["pages"]?.list?.map { page in
                Picture.Page(
                    ids: page["ids"]!.list!.map { $0.text! },
                    own: Picture.link(page["own"]?.text ?? "?"),
                    next: Picture.link(page["next"]?.text ?? "?"),
                    previous: Picture.link(page["prev"]?.text ?? "?"),
                    fetchedAt: Int64(page["fetched_at"]?.int ?? 0))
            }
            var values: [String: Int64] = [:]
            for (id, key) in spec["keys"]?.object ?? [:] { values[id] = Keys.value(key) }
            try Picture.load(spec["start"]?.text ?? "[] |?", into: feed, pages: pages, keys: values)
        }
        feedOptions = options
    }

    /// What to call in the middle of a history: nothing may depend on the open file.
    func reopen() throws { try storage.reopen() }

    /// A word of the specification's cases that this runner, or the engine, does not have.
    struct Unknown: Error { let word: String }

    private static let optionNames: Set = [
        "order", "paging", "trust_end", "limit", "min_run", "first_page", "strict", "sticky",
        "sizes",
    ]

    static func options(_ spec: JSON?) throws -> FeedOptions {
        if let word = spec?.object?.keys.first(where: { !optionNames.contains($0) }) {
            throw Unknown(word: word)
        }
        var options = FeedOptions()
        let (order, paging) = (spec?["order"]?.text ?? "keyless", spec?["paging"]?.text ?? "cursor")
        guard let order = OrderClass(rawValue: order) else { throw Unknown(word: order) }
        guard let paging = Paging(rawValue: paging) else { throw Unknown(word: paging) }
        (options.order, options.paging) = (order, paging)
        options.trustsEnd = spec?["trust_end"]?.bool ?? false
        options.pageSize = spec?["limit"]?.int ?? 20
        options.minimumRun = spec?["min_run"]?.int ?? 2
        options.firstPage = spec?["first_page"]?.int ?? 1
        options.isStrict = spec?["strict"]?.bool ?? false
        options.sizes =
            switch spec?["sizes"] {
            case .text("free")?: .free
            case nil, .text("unknown")?: .unknown
            case let size?: .fixed(size.int!)
            }
        options.sticky = Set((spec?["sticky"]?.list ?? []).map { PostID($0.text!)! })
        return options
    }

    private func feed(_ step: JSON) throws -> Feed {
        try storage.cache.feed(named: step["feed"]?.text ?? firstFeed)
    }

    // MARK: Steps

    /// Executes one step and returns everything a case may expect.
    func step(_ step: JSON) throws -> [String: JSON] {
        let feed = try feed(step)
        var seen: [String: JSON] = [:]
        let operation = step["op"]!.text!
        switch operation {
        case "refresh", "append", "fill", "prepend", "around", "bodies", "verify", "delta":
            let plan = try plan(operation, step, feed)
            describe(plan, into: &seen)
            if let request = plan.request {
                describe(try answer(step, request.ticket, feed), into: &seen)
            }
        case "plan":
            let plan = try plan(step["request"]!.text!, step, feed)
            describe(plan, into: &seen)
            if let label = step["as"]?.text { tickets[label] = plan.request?.ticket }
        case "answer":
            describe(try answer(step, tickets[step["ticket"]!.text!]!!, feed), into: &seen)
        case "cancel":
            if let ticket = tickets[step["ticket"]!.text!]! { try feed.cancel(ticket) }
        case "drop-link":
            describe(try feed.dropLink(of: tickets[step["ticket"]!.text!]!!), into: &seen)
        case "record": try record(step, feed, &seen)
        case "push": try push(step, feed, &seen)
        case "live": try feed.beginLive(after: step["number"]?.int.map(UInt64.init))
        case "offline": try feed.endLive()
        default: try change(operation, step, feed, &seen)
        }
        let findings = try storage.cache.check()
        if !findings.isEmpty { throw Unsound(findings: findings) }
        try mirror.follow(storage.cache)
        try observe(feed, &seen)
        return seen
    }

    struct Unsound: Error { let findings: [Finding] }

    private func change(
        _ operation: String, _ step: JSON, _ feed: Feed, _ seen: inout [String: JSON]
    ) throws {
        let id = step["id"]?.text.flatMap { PostID($0) }
        switch operation {
        case "delete": try feed.delete(id!)
        case "evict": try feed.evict(Self.ids(step["ids"]))
        case "evict_page": try feed.evictPage(at: step["rank"]!.int!)
        case "prune", "prune_out_of_sequence":
            var policy = PrunePolicy()
            policy.visible = Set(Self.ids(step["visible"]))
            policy.dropsOutOfSequence = operation == "prune_out_of_sequence"
            policy.maximumPosts = step["max_entries"]?.int
            policy.maximumAge = step["ttl"]?.int.map { Int64($0) }
            policy.now = Int64(step["now"]?.int ?? 0)
            if let budget = step["budget"]?.int { policy.budget = budget }
            seen["done"] = .bool(try feed.prune(policy).isDone)
        case "update":
            var fields: [String: [UInt8]] = [:]
            for (name, value) in step["fields"]!.object! { fields[name] = Self.bytes(value) }
            let version = Int64(step["version"]!.int!)
            let result = try storage.cache.update(id!, fields: fields, version: version)
            seen["result"] = .text(result.rawValue)
        case "pin": try feed.pin(id!)
        case "unpin": try feed.unpin(id!)
        case "insert_local": try feed.insertLocal(id!, body: [])
        case "confirm_local":
            guard let server = step["as"]?.text.flatMap({ PostID($0) }) else {
                try feed.removeLocal(id!)
                return
            }
            seen["result"] = .text(try feed.confirmLocal(id!, as: server).rawValue)
        case "alias":
            let name = PostID(step["as"]!.text!)!
            seen["result"] = .text(try storage.cache.addAlias(id!, of: name).rawValue)
        case "reset": try feed.reset()
        case "look": break
        default: throw Unknown(word: operation)
        }
    }

    /// The place that a request names by its word. Joins and gaps are looked up only if it names one of them.
    static func place(
        _ request: String, _ step: JSON, _ feed: Feed, joins: () throws -> [PostID],
        gaps: () throws -> [GapID]
    ) throws -> Place {
        switch request {
        case "refresh": return .head
        case "append": return .tail
        case "prepend": return .openHead
        case "delta": return .delta
        case "around": return jump(to: step["target"]?.text ?? "?", feed)
        case "verify":
            let joins = try joins()
            let at = step["gap"]?.int ?? 0
            return .join(above: at < joins.count ? joins[at] : "?")
        case "bodies": return .bodies(ids(step["ids"]))
        default:
            let gaps = try gaps()
            let at = step["gap"]?.int ?? .max
            let gap = at < gaps.count ? gaps[at] : GapID(.max)
            return step["direction"]?.text == "up" ? .aboveGap(gap) : .gap(gap)
        }
    }

    private func plan(_ request: String, _ step: JSON, _ feed: Feed) throws -> Plan {
        let place = try Self.place(
            request, step, feed,
            joins: {
                Self.unverifiedJoins(try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) })
                    .map { PostID($0.list![1].text!)! }
            }, gaps: { try feed.cache.withSnapshot { try $0.gaps(of: feed) }.map(\.id) })
        return try feed.plan(
            place, limit: step["limit"]?.int, isBounded: step["bounded"]?.bool ?? false,
            link: step["link"]?.text.map(Picture.link))
    }

    private func push(_ step: JSON, _ feed: Feed, _ seen: inout [String: JSON]) throws {
        if feed.options.paging == .ids {
            return expectRefusal(&seen) { _ = try feed.push(Answer(step)) }
        }
        let outcome = try feed.push(
            Answer(step), number: step["number"]?.int.map(UInt64.init),
            follows: step["follows"]?.text.flatMap { PostID($0) })
        describe(outcome, into: &seen)
    }

    /// A call that a feed of ids refuses with an error, which says what the model says.
    private func expectRefusal(_ seen: inout [String: JSON], _ call: () throws -> Void) {
        (seen["outcome"], seen["reason"]) = (.text("refused"), .text("unsupported"))
        seen["help"] = .text("check-options")
        let error = #expect(throws: QuireError.self, performing: call)
        #expect(error?.code == .badArgument && error?.message.contains("a feed of ids takes no") == true)
    }

    /// Where pages have a size of the server's choosing, a target can be one of them.
    static func jump(to target: String, _ feed: Feed) -> Place {
        let isNumbered = feed.options.paging == .page && feed.options.sizes != .free
        if isNumbered, target.hasPrefix("page="), let number = Int(target.dropFirst(5)) {
            return .page(number)
        }
        return .around(PostID(target)!)
    }

    private func answer(_ step: JSON, _ ticket: Ticket, _ feed: Feed) throws -> Outcome {
        if let error = step["error"]?.text { return try feed.fail(ticket, reason: error) }
        return try feed.ingest(Answer(step), for: ticket)
    }

    private func record(_ step: JSON, _ feed: Feed, _ seen: inout [String: JSON]) throws {
        let name = feed.name + "/" + (step["run"]?.text ?? "")
        var run = runs[name] ?? Crawl(startingAt: .head(page: feed.options.firstPage))
        if step["missing"]?.bool == true || step["error"] != nil {
            seen["outcome"] = .text("error")
        } else if feed.options.paging == .ids {
            expectRefusal(&seen) { _ = try feed.ingest(Answer(step), page: step["page"]!.int!, of: &run) }
            #expect(run == Crawl(startingAt: run.start))
        } else {
            let page = step["page"]!.int!
            describe(try feed.ingest(Answer(step), page: page, of: &run), into: &seen)
        }
        runs[name] = run
    }

    static func ids(_ list: JSON?) -> [PostID] { (list?.list ?? []).map { PostID($0.text!)! } }

    static func bytes(_ value: JSON) -> [UInt8] {
        switch value {
        case .text(let text): Array("\"\(text)\"".utf8)
        case .number(let number): Array("\(number)".utf8)
        case .bool(let bool): Array("\(bool)".utf8)
        default: []
        }
    }

    // MARK: What can be expected

    private func describe(_ plan: Plan, into seen: inout [String: JSON]) {
        switch plan {
        case .refused(let refusal):
            seen["plan"] = .object(["refused": .text(refusal.rawValue)])
            seen["outcome"] = .text("refused")
            seen["reason"] = .text(refusal.rawValue)
            seen["help"] = .text(refusal.help.rawValue)
            seen["ticket"] = .null
        case .request(let request):
            var plan: [String: JSON] = [:]
            switch request.target {
            case .link(let link): plan["link"] = .text(link.description)
            case .position(let offset, let limit):
                plan["offset"] = .number(Double(offset))
                if let limit { plan["limit"] = .number(Double(limit)) }
            case .page(let number, let limit):
                plan["page"] = .number(Double(number))
                if let limit { plan["limit"] = .number(Double(limit)) }
            case .around(let target): plan["around"] = .text(target.description)
            case .delta(let since): plan["since"] = .text(since)
            case .snapshot: plan["snapshot"] = .bool(true)
            case .bodies(let ids): plan["ids"] = .list(ids.map { .text($0.description) })
            }
            if request.isOverlapping {
                if case .link = request.target { plan["overlapping"] = .bool(true) }
            }
            if let until = request.until { plan["until"] = .text(until.description) }
            seen["plan"] = .object(plan)
            seen["ticket"] = .number(Double(request.ticket.number % (1 << 28)))  // in its feed
        }
    }

    private func describe(_ outcome: Outcome, into seen: inout [String: JSON]) {
        func list(_ ids: [PostID]) -> JSON { .list(ids.map { .text($0.description) }) }
        func count(_ number: Int) -> JSON { .number(Double(number)) }
        seen["outcome"] = .text(outcome.verdict.rawValue)
        seen["reason"] = .text(outcome.reason)
        seen["help"] = .text(outcome.help?.rawValue ?? "")
        seen["new"] = list(outcome.new)
        seen["duplicates"] = list(outcome.duplicates)
        seen["in_page_duplicates"] = count(outcome.duplicatesInPage)
        seen["moved"] = list(outcome.moved)
        seen["removed"] = list(outcome.removed)
        seen["kept"] = list(outcome.kept)
        seen["displaced"] = list(outcome.displaced)
        seen["ignored"] = list(outcome.ignored)
        seen["disorder"] = list(outcome.disorder)
        seen["unplaced"] = list(outcome.unplaced)
        seen["disproved"] = Self.policy(outcome.disprovedSizes)
        seen["opaque"] = count(outcome.opaqueRows)
        seen["sticky"] = list(outcome.sticky)
        seen["closed_gaps"] = count(outcome.gapsClosed)
        seen["opened_gaps"] = count(outcome.gapsOpened)
        seen["page"] = outcome.page.map { .number(Double($0)) } ?? .null
    }

    private static func policy(_ sizes: SizePolicy?) -> JSON {
        switch sizes {
        case nil: .null
        case .free: .text("free")
        case .unknown: .text("unknown")
        case .fixed(let size): .number(Double(size))
        }
    }

    private func observe(_ feed: Feed, _ seen: inout [String: JSON]) throws {
        seen["picture"] = .text(try Picture.show(feed))
        try feed.cache.withSnapshot { snapshot in
            let info = try snapshot.info(of: feed)
            seen["in_sequence"] = .bool(info.isInSequence)
            seen["assumed_end"] = .bool(info.isEndAssumed)
            seen["against_order"] = .number(Double(info.answersAgainstOrder))
            seen["policy"] = Self.policy(info.sizes)
            seen["size"] = info.rowsPerPage.map { .number(Double($0)) } ?? .null
            let rows = try snapshot.rows(of: feed, limit: .max)
            seen["unverified"] = .list(Self.unverifiedJoins(rows))
            seen["why"] = .list(rows.compactMap(\.gap).map { .text($0.why.rawValue) })
            seen["since"] = .list(rows.compactMap(\.gap).map { .number(Double($0.since)) })
            seen["joins"] = .list(rows.compactMap(\.post?.doubt).map { .text($0.rawValue) })
            let checked = Set(rows.compactMap(\.post).filter(\.isChecked).map(\.id.description))
            seen["checked"] = .list(Self.unverifiedJoins(rows).filter { checked.contains($0.list![1].text!) })
            seen["pages"] = .list(
                try snapshot.pages(of: feed, limit: .max).map { page in
                    Self.describe(page, try snapshot.posts(of: page, in: feed).map(\.id))
                })
            var posts: [String: JSON] = [:]
            var references: [String: JSON] = [:]
            for feed in try feed.cache.feeds() {
                for id in try snapshot.rows(of: feed, limit: .max).compactMap(\.post?.id) {
                    let post = try snapshot.post(id)!
                    posts[id.description] = .object(try post.fields.mapValues { try JSON(.init($0)) })
                    references[id.description] = .number(Double(post.feeds))
                }
            }
            (seen["posts"], seen["references"]) = (.object(posts), .object(references))
        }
    }

    private static func unverifiedJoins(_ rows: [FeedRow]) -> [JSON] {
        let posts = rows.compactMap(\.post).filter { !$0.isDetached }
        return zip(posts, posts.dropFirst()).filter { $1.isUnverified }.map {
            .list([.text($0.id.description), .text($1.id.description)])
        }
    }

    private static func describe(_ page: PageInfo, _ ids: [PostID]) -> JSON {
        func count(_ number: Int) -> JSON { .number(Double(number)) }
        return .object([
            "number": .number(Double(page.number)), "rank": count(page.index),
            "own": .text(page.own.description), "next": .text(page.next.description),
            "prev": .text(page.previous.description), "received": count(page.received),
            "new": count(page.new), "duplicates": count(page.duplicates),
            "in_page_duplicates": count(page.duplicatesInPage), "is_full": .bool(page.isFull),
            "fetched_at": .number(Double(page.fetchedAt)),
            "ids": .list(ids.map { .text($0.description) }),
        ])
    }
}

/// The oracle's keys are fractions, and only their order matters: the bits of a positive double sort
/// as it does, those of a negative one the other way round.
enum Keys {
    static func value(_ key: JSON) -> Int64 {
        let bits = Int64(bitPattern: key.number!.bitPattern)
        return bits < 0 ? Int64.min - bits : bits
    }
}

extension Answer {
    /// What the server answers in a step of a scenario.
    init(_ step: JSON) {
        self.init(
            next: Picture.link(step["next"]?.text ?? "?"),
            previous: Picture.link(step["prev"]?.text ?? "?"),
            total: step["total"]?.int, fetchedAt: Int64(step["at"]?.int ?? 0))
        since = step["since"]?.text
        deleted = (step["deleted"]?.list ?? []).compactMap { $0.text.flatMap { PostID($0) } }
        for item in step["items"]?.list ?? [] {
            guard let text = item.text, let id = PostID(text) else {
                opaqueRows += 1
                continue
            }
            let key = step["keys"]?[text].map(Keys.value)
            append(id: id, key: key, body: Array("{\"id\":\"\(text)\"}".utf8))
        }
    }
}
