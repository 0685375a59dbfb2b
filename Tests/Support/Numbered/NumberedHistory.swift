@_spi(Unstable) import Quire
import QuireSimulator

/// A client that scrolls, refreshes, fills gaps, verifies and deletes, before a server that pages by position
/// and changes between the requests. It knows none of the rules: it judges by the server's list and the
/// answers.
public final class NumberedHistory {
    /// What a client pays, and what it may not know.
    public struct Figures: Sendable, Equatable {
        /// Requests that were sent.
        public var requests = 0
        /// Posts that answers brought and the cache did not have.
        public var new = 0
        /// Unverified joins in the end.
        public var unverified = 0
        /// Joins that were unverified at some time.
        public var claims = 0
        /// Posts of the server that an unverified join hides in the end.
        public var hidden = 0
        /// Ends that were concluded although posts follow.
        public var falseEnds = 0
        /// The largest size that a request named.
        public var largest = 0
        /// Operations of the engine.
        public var operations = 0

        /// All zero.
        public init() {}

        /// Adds the figures of another history; `largest` is the larger one.
        public static func += (a: inout Figures, b: Figures) {
            a.requests += b.requests
            a.new += b.new
            a.unverified += b.unverified
            a.claims += b.claims
            a.hidden += b.hidden
            a.falseEnds += b.falseEnds
            a.largest = max(a.largest, b.largest)
            a.operations += b.operations
        }
    }

    /// An answer on its way.
    private struct Flight {
        let request: Request
        let reply: SimulatedReply?
    }

    let setting: NumberedServer
    let subject: NumberedSubject
    private(set) var server: SimulatedServer
    private(set) var judge = NumberedJudge()
    /// What the history has cost so far.
    public private(set) var figures = Figures()
    /// What happened, for the reader of a failure.
    public private(set) var log: [String] = []
    private var random: SplitMix64
    /// Nil: another one each time.
    private let limit: Int?
    private var limits: ClosedRange<Int> { setting.kind.filter == .nothing ? 2...9 : 4...9 }
    private var flights: [Flight] = []

    /// - Parameter posts: How many the server has at first; nil: a few, at random.
    public init(
        _ setting: NumberedServer, order: OrderClass = .keyless, seed: UInt64, posts: Int? = nil,
        limit: Int? = nil
    ) throws {
        (self.setting, self.limit) = (setting, limit)
        random = SplitMix64(seed: seed)
        server = SimulatedServer(kind: setting.kind)
        subject = try NumberedSubject(
            setting, order: order, limit: limit ?? 5, tuning: seed % 2 == 0 ? Tuning() : .cramped)
        for _ in 0..<(posts ?? random.below(31)) { server.insertOnTop() }
    }

    private var feed: Feed {
        figures.operations += 1
        return subject.engine.feed
    }

    // MARK: Requests

    /// Asks at a place; the answer is made now, and comes now or later. What became of it, or why nothing was
    /// asked.
    @discardableResult
    private func ask(_ place: Place, isLate: Bool = false) throws -> String {
        let limit = min(limit ?? random.number(in: limits), setting.mostAskable)
        guard let request = try plan(place, limit) else { return "refused" }
        let size = NumberedSubject.size(in: request.target)
        if let size, size > limit {
            throw OracleFailure(.cover, "\(request.target) asks for more than \(limit)")
        }
        figures.requests += 1
        figures.largest = max(figures.largest, size ?? 0)
        let options = subject.engine.feed.options
        let flight = Flight(
            request: request, reply: server.reply(to: request.target, limit: limit, options: options))
        if isLate {
            flights.append(flight)
            return "late"
        }
        return try land(flight)
    }

    private func plan(_ place: Place, _ limit: Int) throws -> Request? {
        switch try feed.plan(place, limit: limit) {
        case .request(let request):
            log.append("\(place), limit \(limit): \(request.target)")
            return request
        case .refused(let refusal):
            log.append("\(place): \(refusal.rawValue)")
            return nil
        }
    }

    private func land(_ flight: Flight) throws -> String {
        guard let reply = flight.reply else {
            log.append("    refused by the server")
            return try feed.fail(flight.request.ticket, reason: "refused").verdict.rawValue
        }
        let before = try subject.rows()
        let outcome = try feed.ingest(reply.answer, for: flight.request.ticket)
        let after = try subject.rows()
        log.append(
            "    \(reply.shown) \(reply.answer.next): \(outcome.verdict.rawValue), \(Self.picture(after))")
        figures.new += outcome.new.count
        figures.claims += max(0, after.count(where: \.isUnverified) - before.count(where: \.isUnverified))
        if outcome.verdict != .stale {
            try judge.hear(reply, outcome, rows: after, isEnd: subject.engine.tailIsEnd())
        }
        return outcome.verdict.rawValue
    }

    // MARK: Random histories

    /// Plays this many random steps.
    /// - Throws: the first fault that the judge found.
    public func run(steps: Int) throws {
        for _ in 0..<steps {
            try step()
            try check()
        }
    }

    private func step() throws {
        let rows = try subject.rows()
        let joins = rows.filter(\.isUnverified).compactMap(\.id)
        switch random.below(100) {
        case ..<35: change()
        case ..<45: try ask(.head, isLate: random.chance(0.2))
        case ..<70: try ask(.tail, isLate: random.chance(0.15))
        case ..<85:
            let gaps = rows.compactMap(\.gap)
            if !gaps.isEmpty { try ask(.gap(random.pick(gaps)), isLate: random.chance(0.15)) }
        case ..<92:
            if !joins.isEmpty { try ask(NumberedSubject.verifying(random.pick(joins))) }
        case ..<96:
            if !flights.isEmpty { _ = try land(flights.remove(at: random.below(flights.count))) }
        default:
            guard let id = rows.compactMap(\.id).randomPick(&random) else { return }
            log.append("delete \(id) everywhere")
            server.delete(id)
            try feed.delete(id)
            judge.forgive(id)
        }
    }

    private func change() {
        for _ in 0..<random.pick([0, 0, 1, 1, 3, 6]) {
            switch random.below(20) {
            case ..<10: server.insertOnTop()
            case ..<13 where !server.isEmpty: server.insert(at: random.number(in: 1...server.ids.count))
            default: if !server.isEmpty { server.delete(random.pick(server.ids)) }
            }
        }
        log.append("server: \(server.ids)")
    }

    private func check() throws {
        try judge.check(
            subject.rows(), isEnd: subject.engine.tailIsEnd(), isAssumed: subject.tailIsAssumed(), server)
    }

    // MARK: A quiet server

    /// The server is quiet now: the client scrolls to the end and fills all gaps, topmost first.
    public func settle() throws {
        flights = []
        let bound = try bound()
        let before = figures.requests
        var failures = 0
        if !server.ids.contains(where: server.shows) { return }  // an empty list is never believed (I8)
        var verdict = try ask(.head)
        while let place = try openPlace(), failures < 13 {
            if figures.requests - before > bound {
                throw OracleFailure(.heal, "more than \(bound) requests: \(Self.picture(try subject.rows()))")
            }
            verdict = try ask(place)
            try check()
            if verdict == "error" { failures += 5 }  // nothing else will be known beyond the last page
            if ["no-progress", "empty", "contradiction", "refused"].contains(verdict) {
                failures += 1
                try ask(.head)
            }
        }
        if failures > 12, verdict != "error" {
            throw OracleFailure(
                .heal, "stuck, \(verdict): \(Self.picture(try subject.rows())) against \(server.ids)")
        }
        let cached = Set(try subject.rows().compactMap(\.id))
        figures.unverified = try subject.rows().count(where: \.isUnverified)
        figures.hidden = server.ids.count {
            server.shows($0) && !cached.contains($0) && !judge.forgiven.contains($0)
        }
        figures.falseEnds = judge.falseEnds.count
    }

    private func openPlace() throws -> Place? {
        let rows = try subject.rows()
        if let gap = rows.lazy.compactMap(\.gap).first { return .gap(gap) }
        return try rows.isEmpty || subject.engine.tailIsEnd() ? nil : .tail
    }

    /// Requests that a client may need for all this.
    private func bound() throws -> Int {
        let rows = try subject.rows()
        let unit = max(1, setting.granted(limit ?? limits.lowerBound) - 1)
        return 40 + 4 * (server.ids.count / unit + 1) + 8 * rows.count { $0.id == nil } + 2 * rows.count
    }

    static func picture(_ rows: [NumberedSubject.Row]) -> String {
        let words = rows.map { row in
            switch row {
            case .gap: "] ~ ["
            case .post(let id, _, let isUnverified): (isUnverified ? "=" : "") + "\(id)"
            }
        }
        return "[" + words.joined(separator: " ") + "]"
    }
}

extension NumberedSubject.Row {
    var id: PostID? { if case .post(let id, _, _) = self { id } else { nil } }
    var gap: GapID? { if case .gap(let gap) = self { gap } else { nil } }
    var isUnverified: Bool { if case .post(_, _, true) = self { true } else { false } }
}

extension Array {
    fileprivate func randomPick(_ random: inout SplitMix64) -> Element? { isEmpty ? nil : random.pick(self) }
}
