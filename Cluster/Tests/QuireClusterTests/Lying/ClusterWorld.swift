import ClusterTesting
import Foundation
@_spi(Unstable) import Quire
import QuireSimulator
@_spi(Unstable) import TestSupport

@testable import QuireCluster

/// What does not hold.
struct WorldFailure: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
}

/// A server, a log that lies, and three nodes of different tuning that follow it. Everything follows from the
/// seed.
actor ClusterWorld {
    struct Node {
        var shard: ClusterShard
        let folder: String
        let options: ClusterOptions
    }

    /// A request that was planned through a node, and its answer, which may have come already.
    struct Job {
        let ticket: Ticket
        let issuer: UInt64
        let target: Request.Target
        let limit: Int
        var answer: Answer?
    }

    /// A write that was acknowledged.
    struct Acknowledged: Hashable {
        let writer: UInt64
        let counter: UInt64
    }

    private var random: SplitMix64
    private let folder = ScratchFolder()
    let log: LyingLog
    private var server = SimulatedServer()
    private let options: FeedOptions
    private let hasCheckpoints: Bool
    private(set) var nodes: [Node] = []
    private var jobs: [Job] = []
    private var acknowledged: Set<Acknowledged> = []
    /// Writers that were closed. No report says what they lose.
    private var closed: Set<UInt64> = []
    /// What happened, for the reader of a failure.
    private(set) var story: [String] = []
    /// Tests look at what the random histories met.
    private(set) var counts = Counts()

    struct Counts {
        var accepted = 0, stale = 0, rebuilds = 0, lost = 0, forks = 0, divergences = 0, refused = 0
        var acknowledged = 0

        static func += (a: inout Counts, b: Counts) {
            a.accepted += b.accepted
            a.stale += b.stale
            a.rebuilds += b.rebuilds
            a.lost += b.lost
            a.forks += b.forks
            a.divergences += b.divergences
            a.refused += b.refused
            a.acknowledged += b.acknowledged
        }
    }

    init(seed: UInt64, faults: LyingLog.Faults = .some, order: OrderClass? = nil) throws {
        var random = SplitMix64(seed: seed)
        let drawn = random.pick([.keyless, .keyless, .stable, .appendOnly] as [OrderClass])
        options = FeedOptions(order: order ?? drawn)
        hasCheckpoints = random.chance(0.3)
        log = LyingLog(seed: random.next(), faults: faults, in: folder.path)
        var odd = Tuning()
        (odd.chunkLimit, odd.outerStride, odd.innerStride, odd.gapLimit) = (5, 64, 8, 1)
        for (i, tuning) in [Tuning(), .cramped, odd].enumerated() {
            var options = ClusterOptions()
            options.cache.tuning = tuning
            options.cache.mapSize = 64 << 20
            options.pause = { await Task.yield() }
            options.lossesBelieved = 2
            options.timeout = .milliseconds(300)
            options.margin = 4
            let folder = "\(folder.path)/node-\(i)"
            let shard = try ClusterShard("0", log.view(i), in: folder, options)
            nodes.append(Node(shard: shard, folder: folder, options: options))
        }
        for _ in 0..<random.number(in: 10...40) { server.insertOnTop() }
        self.random = random
    }

    func note(_ text: String) {
        story.append(text)
        if LyingHistoryTests.isTracing { print(text) }
    }

    // MARK: Steps

    func run(steps: Int) async throws {
        for _ in 0..<steps {
            try await step()
            for node in nodes.indices { try requireNoHole(node) }
        }
    }

    private func step() async throws {
        let node = random.below(nodes.count)
        switch random.below(20) {
        case 0, 1:
            for _ in 0..<random.pick([1, 2, 5]) { server.insertOnTop() }
        case 2 where options.order != .appendOnly:
            if !server.isEmpty { server.delete(random.pick(server.ids)) }
        case 3...9: try await request(through: node)
        case 10...12: try await late(through: node)
        case 13: try await evict(through: node)
        case 14:
            let value = UInt8(random.below(256))
            _ = try await write([.setAttribute("a", to: [value])], through: node)
        case 15: try await restart(node)
        case 16 where hasCheckpoints:
            note("\(node): checkpoint")
            try? await nodes[node].shard.checkpoint()
        case 17:
            note("foreign bytes")
            log.appendForeign((0..<9).map { _ in UInt8(random.below(256)) })
        case 18:
            let other = random.below(nodes.count)
            async let a: Void = request(through: node)
            async let b: Void = request(through: other)
            _ = try await (a, b)
        default:
            note("\(node): looks")
            _ = try? await nodes[node].shard.advance()
        }
    }

    private func restart(_ node: Int) async throws {
        note("\(node): restarts")
        await count(nodes[node].shard)
        closed.insert(nodes[node].shard.writer)
        let (log, folder, options) = (log.view(node), nodes[node].folder, nodes[node].options)
        // the files are locked until it is gone
        nodes[node].shard = try ClusterShard("none", log, in: folder + "-none", options)
        nodes[node].shard = try ClusterShard("0", log, in: folder, options)
    }

    private func count(_ shard: ClusterShard) async {
        let status = shard.status
        counts.rebuilds += status.rebuilds
        counts.lost += status.lost
        counts.refused += status.refused
    }

    // MARK: Writing

    func feed(of node: Int) throws -> Feed? {
        try nodes[node].shard.cache.existingFeed(named: "f")
    }

    /// Nil if it may not have happened.
    func write(
        _ operations: [CacheOperation], of feed: Feed? = nil, through node: Int
    ) async throws -> [CacheReply]? {
        let shard = nodes[node].shard
        do {
            let (replies, counter) = try await shard.submitAndCount(operations, of: feed)
            acknowledged.insert(Acknowledged(writer: shard.writer, counter: counter))
            return replies
        } catch let error as LogError {
            note("\(node): \(error)")
            return nil
        } catch let error as QuireError where error.isDeterministic {
            note("\(node): \(error)")
            return nil
        }
    }

    func opened(through node: Int) async throws -> Feed? {
        if let feed = try feed(of: node) { return feed }
        _ = try await write([.open(name: "f", options: options)], through: node)
        return try feed(of: node)
    }

    private func place(in feed: Feed) throws -> Place {
        let gaps = try Self.rows(of: feed).compactMap { row in
            if case .gap(let gap) = row { gap.id } else { nil }
        }
        switch random.below(6) {
        case 0, 1: return .head
        case 2, 3: return .tail
        default:
            guard !gaps.isEmpty else { return .tail }
            let gap = random.pick(gaps)
            return random.chance(0.5) ? .gap(gap) : .aboveGap(gap)
        }
    }

    func insert() { server.insertOnTop() }

    private func request(through node: Int) async throws {
        guard let feed = try await opened(through: node) else { return }
        let (place, limit) = (try place(in: feed), random.pick([1, 2, 3, 5, 8]))
        guard var job = try await plan(place, limit: limit, of: feed, through: node) else { return }
        if random.chance(0.5) { job.answer = answer(to: job) }
        if random.chance(0.4) { jobs.append(job) } else { try await deliver(job, through: node) }
    }

    func plan(_ place: Place, limit: Int, of feed: Feed, through node: Int) async throws -> Job? {
        let replies = try await write(
            [.feed(feed.number, .plan(place, limit: limit))], of: feed, through: node)
        guard case .plan(.request(let request), let issuer)? = replies?.first else { return nil }
        note("\(node): plans \(place), ticket \(request.ticket.number) of \(issuer): \(request.target)")
        return Job(ticket: request.ticket, issuer: issuer, target: request.target, limit: limit)
    }

    func answer(to job: Job) -> Answer? {
        server.reply(to: job.target, limit: job.limit, options: options)?.answer
    }

    private func late(through node: Int) async throws {
        guard !jobs.isEmpty else { return }
        try await deliver(jobs.remove(at: random.below(jobs.count)), through: node)
    }

    @discardableResult
    func deliver(_ job: Job, through node: Int) async throws -> Outcome? {
        guard let feed = try await opened(through: node) else { return nil }
        guard let answer = job.answer ?? answer(to: job) else { return nil }
        let operation = FeedOperation.ingest(answer, for: job.ticket, issuer: job.issuer)
        let replies = try await write([.feed(feed.number, operation)], of: feed, through: node)
        guard case .outcome(let outcome)? = replies?.first else { return nil }
        note("\(node): ticket \(job.ticket.number): \(answer.posts.map(\.id)) -> \(outcome.verdict)")
        if outcome.verdict == .stale { counts.stale += 1 } else { counts.accepted += 1 }
        return outcome
    }

    private func evict(through node: Int) async throws {
        guard let feed = try await opened(through: node) else { return }
        let ids = try Self.rows(of: feed).compactMap { $0.post?.id }
        guard ids.count > 4 else { return }
        let some = Array(ids[random.below(ids.count)...].prefix(random.pick([1, 2, 4])))
        note("\(node): evicts \(some)")
        _ = try await write([.feed(feed.number, .evict(some))], of: feed, through: node)
    }

    // MARK: Judging

    static func rows(of feed: Feed) throws -> [FeedRow] {
        try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
    }

    /// Posts arrive on top only. So between two neighbours that the server shows, it shows nothing else,
    /// ever.
    func requireNoHole(_ node: Int) throws {
        guard let feed = try feed(of: node) else { return }
        let rows = try Self.rows(of: feed)
        let cached = Set(rows.compactMap { $0.post?.id })
        for run in rows.split(whereSeparator: { $0.post == nil }) {
            let posts = run.compactMap(\.post).filter { !$0.isDetached && server.shows($0.id) }
            for (upper, lower) in zip(posts, posts.dropFirst()) where !lower.isUnverified {
                guard let high = server.position(of: upper.id), let low = server.position(of: lower.id) else {
                    continue
                }
                let missing = server.ids.first {
                    let place = server.position(of: $0)!
                    return low < place && place < high && !cached.contains($0)
                }
                if let missing {
                    throw WorldFailure("node \(node): a hole: \(missing) between \(upper.id) and \(lower.id)")
                }
            }
        }
    }

    /// Once the log is quiet, all nodes are equal to what a plain cache makes of it, and each write that was
    /// acknowledged took effect, or was reported as lost.
    func settle() async throws {
        log.settle()
        for node in nodes.indices {
            var isDone = false
            for _ in 0..<1000 where !isDone {
                // what is lost is not believed at once
                do { isDone = try await !nodes[node].shard.advance() } catch LogError.lost {}
            }
            if !isDone { throw WorldFailure("node \(node) does not reach the end of the log") }
        }
        for node in nodes { try await node.shard.audit() }
        let model = try await Model(of: log, in: folder.path)
        (counts.forks, counts.divergences) = (log.forks, log.divergences)
        counts.acknowledged = acknowledged.count
        for node in nodes.indices {
            let shard = nodes[node].shard
            if await shard.position != model.position {
                throw WorldFailure(
                    "node \(node) has another history than the log, which ends at \(model.position)"
                )
            }
            let cache = shard.cache
            let (mine, wanted) = (try Model.dump(cache), try Model.dump(model.cache))
            if mine != wanted { throw WorldFailure("node \(node) is not equal:\n\(mine)\nmodel:\n\(wanted)") }
            let findings = try cache.check()
            if !findings.isEmpty { throw WorldFailure("node \(node): \(findings)") }
            try requireNoHole(node)
            let lost = Set(await shard.lost)
            await count(shard)
            for write in acknowledged where write.writer == shard.writer && model.isWhole {
                if !model.applied.contains(write) && !lost.contains(write.counter) {
                    throw WorldFailure("node \(node): write \(write.counter) is lost, and no node says so")
                }
            }
        }
    }
}

extension FeedRow {
    var post: PostRow? { if case .post(let post) = self { post } else { nil } }
}

extension ClusterShard {
    var position: LogPosition { following.last.position }

    /// A write and its counter.
    func submitAndCount(
        _ operations: [CacheOperation], of feed: Feed?
    ) async throws -> (replies: [CacheReply], counter: UInt64) {
        let (replies, position) = try await submit(operations, of: feed)
        let counter = told.last { $0.position == position }!.counter
        return (replies, counter)
    }
}
