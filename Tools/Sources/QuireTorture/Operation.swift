@_spi(Unstable) import Quire
import QuireSimulator

/// Every kind of write that a program can request of a cache. The state of a history decides which one is
/// next, and each has what it needs: a gap is opened before one is filled.
enum Operation: String, CaseIterable {
    case refresh, update, append, pin, jump, fields, delete, enlarge, shrink, reclaim, local, run, fill, batch
    case evict, attribute, ticket, prune, feed, copy, reset

    /// The operation that leads to this state.
    init(leadingTo state: UInt64) {
        self = Self.allCases[Int((state - 1) % UInt64(Self.allCases.count))]
    }
}

/// An operation of a history had nothing to do, or was refused, so the history would prove nothing.
struct Unexpected: Error {
    let what: String
    init(_ what: String) { self.what = what }
}

/// One operation of a history, in the commit that leads to a state.
struct Step {
    let history: CommitHistory
    let state: UInt64
    /// The posts of the history's feed, top first, and its first gap.
    let posts: [PostRow]
    let gap: GapRow?
    private var random: SplitMix64

    init(_ history: CommitHistory, to state: UInt64) throws {
        (self.history, self.state) = (history, state)
        random = SplitMix64(seed: state)
        let rows = try history.cache.withSnapshot { try $0.rows(of: history.feed, limit: .max) }
        posts = rows.compactMap(\.post)
        gap = rows.compactMap(\.gap).first
    }

    /// Makes separate commits first. A history that is interrupted after them makes them again.
    func prelude(_ operation: Operation) throws {
        switch operation {
        case .feed: _ = try history.cache.feed(named: "feed \(state)")
        case .reclaim: _ = try history.cache.reclaim()
        case .copy: try history.copy()
        default: break
        }
    }

    mutating func perform(_ operation: Operation, in batch: borrowing Batch) throws {
        let feed = history.feed
        switch operation {
        case .refresh: try refresh(batch, by: 10, joining: 2, size: 700)
        case .jump: try refresh(batch, by: 40, joining: -30, size: 700)
        case .enlarge: try refresh(batch, by: 8, joining: 2, size: 7_000)
        case .append: try take(batch, at: .tail)
        case .fill:
            guard let gap else { throw Unexpected("no gap") }
            try take(batch, at: .gap(gap.id))
        case .batch:
            try refresh(batch, by: 10, joining: 2, size: 300)
            try mirror(batch)
            try take(batch, at: .tail)
        case .run: try record(batch)
        case .update: try update(batch, [random.pick(posts)], size: 900)
        // Most of what `enlarge` stored, so that little of its record remains in use.
        case .shrink: try update(batch, Array(serverPosts.prefix(7)), size: 30)
        case .fields:
            let value = (0..<random.below(60)).map { _ in UInt8(random.below(256)) }
            try expect(
                try batch.update(random.pick(posts).id, fields: ["likes": value], version: Int64(state))
                    == .changed)
        case .delete: try batch[feed].delete(random.pick(serverPosts).id)
        case .evict:
            let start = random.below(posts.count - 4)
            let ids = posts[start..<start + 4].map(\.id)
            try expect(try batch[feed].evict(ids) > 0)
        case .prune:
            var policy = PrunePolicy()
            (policy.maximumPosts, policy.dropsOutOfSequence) = (50, state.isMultiple(of: 2))
            try expect(try batch[feed].prune(policy).posts > 0)
        case .pin:
            if let pinned = posts.first(where: \.isPinned) {
                try expect(try batch[feed].unpin(pinned.id))
            } else {
                try expect(try batch[feed].pin(random.pick(serverPosts).id))
            }
        case .local:
            if let local = posts.first(where: { $0.key == nil }) {
                try expect(try batch[feed].removeLocal(local.id))
            } else {
                try expect(try batch[feed].insertLocal(PostID(1 << 40 + state), body: bytes(800)))
            }
        case .attribute: try batch[feed].setAttribute("note", to: bytes(2_000))
        case .ticket:
            guard let abandoned = try batch[feed].plan(.tail).request,
                try batch[feed].plan(.head).request != nil
            else { throw Unexpected("no ticket") }
            try batch[feed].cancel(abandoned.ticket)
        case .reset: try batch[history.mirror].reset()
        case .feed, .reclaim, .copy: break
        }
    }

    private func expect(_ isDone: Bool) throws {
        if !isDone { throw Unexpected("\(Operation(leadingTo: state)) had nothing to do") }
    }

    // MARK: The server's answers

    /// The posts with a key, which optimistic posts lack.
    private var serverPosts: [PostRow] { posts.filter { $0.key != nil } }

    /// Refreshes with `new` posts on top. The page ends with `joining` known ones, or above them if that is
    /// negative.
    private mutating func refresh(
        _ batch: borrowing Batch, by new: UInt64, joining: Int64, size: Int
    ) throws {
        let top = serverPosts.first?.id.number ?? 100_000
        let answer = page(from: top + new, downTo: UInt64(Int64(top) - joining + 1), size: size)
        try take(answer, batch, at: .head, of: history.feed)
    }

    /// Takes in the page at a link.
    private mutating func take(_ batch: borrowing Batch, at place: Place) throws {
        guard case .link(.token(let token)) = try batch[history.feed].plan(place).request?.target,
            let border = UInt64(token.dropFirst("below ".count))
        else { throw Unexpected("no link at \(place)") }
        try take(page(from: border - 1, downTo: border - 10, size: 500), batch, at: place, of: history.feed)
    }

    /// Ingests posts of the history that another feed shows too.
    private mutating func mirror(_ batch: borrowing Batch) throws {
        let top = serverPosts.first?.id.number ?? 100_000
        try take(page(from: top, downTo: top - 9, size: 300), batch, at: .head, of: history.mirror)
    }

    private func take(_ answer: Answer, _ batch: borrowing Batch, at place: Place, of feed: Feed) throws {
        guard let request = try batch[feed].plan(place).request else { throw Unexpected("no request") }
        let outcome = try batch[feed].ingest(answer, for: request.ticket)
        if ![.ok, .gap].contains(outcome.verdict) { throw Unexpected("\(place): \(outcome)") }
    }

    private mutating func page(from top: UInt64, downTo bottom: UInt64, size: Int) -> Answer {
        var answer = Answer(next: .token("below \(bottom)"), fetchedAt: Int64(state) * 1_000)
        for id in (bottom...top).reversed() {
            answer.append(id: PostID(id), key: Int64(id), body: bytes(size))
        }
        return answer
    }

    /// Records two pages of a crawl that another process can continue at any time.
    private mutating func record(_ batch: borrowing Batch) throws {
        let feed = history.crawl
        var run =
            try batch[feed].attribute("run").map { try Crawl(checkpoint: $0) }
            ?? Crawl(startingAt: .head(page: 1))
        let first = try batch[feed].attribute("page").map { Int($0[0]) } ?? 1
        for number in first..<first + 2 {
            var answer = Answer(next: .more)
            for id in 0..<8 as Range<UInt64> {
                answer.append(id: PostID(900_000 + UInt64(number) * 8 + id), body: bytes(400))
            }
            let outcome = try batch[feed].ingest(answer, page: number, of: &run)
            if ![.ok, .gap].contains(outcome.verdict) { throw Unexpected("recorded: \(outcome)") }
        }
        try batch[feed].setAttribute("run", to: run.checkpoint)
        try batch[feed].setAttribute("page", to: [UInt8(first + 2)])
    }

    private mutating func update(_ batch: borrowing Batch, _ rows: [PostRow], size: Int) throws {
        for row in rows { try expect(try batch.update(row.id, body: bytes(size)) == .changed) }
    }

    private mutating func bytes(_ limit: Int) -> [UInt8] {
        let first = random.next()
        return (0..<UInt64(limit / 3 + random.below(limit * 2 / 3))).map {
            UInt8(truncatingIfNeeded: (first &+ $0) &* 0x9E37_79B9_7F4A_7C15 >> 56)
        }
    }
}
