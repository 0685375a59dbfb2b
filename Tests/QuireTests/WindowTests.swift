@_spi(Unstable) import Quire
import QuireSimulator
import Testing

@testable import TestSupport

/// A window, against the slice of all rows that it says to be.
@Suite struct WindowTests {
    private let storage: TemporaryCache
    private let feed: Feed

    init() throws {
        storage = try TemporaryCache()
        feed = try storage.cache.feed(named: "f", options: FeedOptions(order: .stable, pageSize: 3))
    }

    /// Takes in a page: the ids are the keys.
    private func take(_ place: Place, _ ids: [UInt64], next: Link) throws {
        var answer = Answer(next: next)
        for id in ids { answer.append(id: PostID(id), key: Int64(id), body: [UInt8(truncatingIfNeeded: id)]) }
        let request = try #require(try feed.plan(place).request)
        _ = try feed.ingest(answer, for: request.ticket)
    }

    /// 20 19 18 ~ 12 11 10 9 8 7
    private func takeTwoSegments() throws {
        try take(.head, [12, 11, 10], next: .token("a"))
        try take(.tail, [9, 8, 7], next: .token("b"))
        try take(.head, [20, 19, 18], next: .token("c"))
    }

    private func window(
        _ start: FeedWindow.Start, above: Int = 2, below: Int = 2
    ) throws -> FeedWindow {
        try storage.cache.withSnapshot { try $0.window(of: feed, at: start, above: above, below: below) }
    }

    private func picture(_ window: FeedWindow) -> String {
        window.rows.enumerated().map { index, row in
            let name = row.post.map { "\($0.id)" } ?? "~"
            return index == window.anchorIndex && window.anchor != nil ? "(\(name))" : name
        }.joined(separator: " ")
    }

    private func update(_ window: inout FeedWindow) throws -> FeedWindow.Difference {
        try storage.cache.withSnapshot { try window.update(to: $0) }
    }

    @Test func opensAnywhere() throws {
        #expect(try picture(window(.head)) == "")
        #expect(try picture(window(.rank(5))) == "")
        #expect(try picture(window(.nearest([1]))) == "")
        #expect(try picture(window(.key(1))) == "")
        #expect(throws: QuireError.self) { try window(.post(1)) }
        try takeTwoSegments()
        #expect(try picture(window(.head)) == "20 19 18")
        #expect(try picture(window(.post(11))) == "~ 12 (11) 10 9")
        #expect(try picture(window(.nearest([1, 8, 20]))) == "10 9 (8) 7")
        #expect(try picture(window(.nearest([1, 2]))) == "20 19 18")
        #expect(try picture(window(.key(15))) == "18 ~ (12) 11 10")
        #expect(try picture(window(.key(1))) == "9 8 (7)")
        #expect(try picture(window(.key(99))) == "(20) 19 18")
        #expect(try picture(window(.rank(3))) == "19 18 (~) 12 11")
        #expect(try picture(window(.rank(.max))) == "9 8 (7)")
        #expect(try picture(window(.rank(.min))) == "(20) 19 18")
        #expect(try picture(window(.rank(4), above: -1, below: .min)) == "(12)")
        #expect(try window(.rank(4), above: .max, below: .max).rows.count == 10)
        let open = try window(.post(10))
        #expect(open.rank == 4 && open.rowCount == 10 && !open.isAtHead && !open.isAtTail)
        #expect(open.nearestPosts == [10, 9, 11, 8, 12])
    }

    @Test func aDateNeedsKeys() throws {
        let feed = try storage.cache.feed(named: "ranked", options: FeedOptions(order: .ranked))
        let failure = #expect(throws: QuireError.self) {
            try storage.cache.withSnapshot { try $0.window(of: feed, at: .key(1), above: 1, below: 1) }
        }
        #expect(failure?.code == .badArgument)
    }

    @Test func keepsItsPlace() throws {
        try takeTwoSegments()
        var window = try self.window(.post(10))
        #expect(try update(&window).isEmpty)
        try take(.head, [40, 39, 38], next: .token("d"))
        #expect(try update(&window).isEmpty && picture(window) == "12 11 (10) 9 8" && window.rank == 8)
        try feed.delete(11)
        #expect(try update(&window).removed == [1] && picture(window) == "~ 12 (10) 9 8")
        for id in [10, 9] as [PostID] { try feed.delete(id) }
        let difference = try update(&window)
        #expect(picture(window) == "18 ~ (12) 8 7" && difference.removed == [2, 3])
        #expect(difference.inserted == [0, 4])
        _ = try storage.cache.update(12, body: [1, 2])
        #expect(try update(&window).updated == [2])
        _ = try storage.cache.update(12, body: [2, 1])
        #expect(try update(&window).updated == [2], "another body of the same size")
        try feed.reset()
        #expect(
            try update(&window).removed == [0, 1, 2, 3, 4] && picture(window) == "" && window.anchor == nil)
    }

    @Test func followsTheHeadUntilItIsLookedAt() throws {
        try takeTwoSegments()
        var window = try self.window(.head, above: 2, below: 3)
        #expect(picture(window) == "20 19 18 ~")
        _ = try feed.insertLocal("draft", body: [])
        let difference = try update(&window)
        #expect(
            picture(window) == "draft 20 19 18" && difference.inserted == [0] && difference.removed == [3])
        window.look(at: .post(99))
        #expect(try update(&window).isEmpty)
        window.look(at: .post(19))
        #expect(try update(&window).inserted == [4, 5] && picture(window) == "draft 20 (19) 18 ~ 12")
        window.look(at: window.rows[4].name, above: 1, below: 1)
        #expect(try update(&window).removed == [0, 1, 2] && picture(window) == "18 (~) 12")
        window.look(at: nil)
        _ = try update(&window)
        #expect(picture(window) == "draft 20")
    }

    /// A post that the server moves to the top does not take the reader along, also when the log has ended.
    @Test(arguments: [0, 1_100]) func anAnchorThatMovesHandsOn(commits: Int) throws {
        let feed = try storage.cache.feed(named: "bump", options: FeedOptions(order: .bump, pageSize: 3))
        func take(_ place: Place, _ posts: [(PostID, Int64)], next: Link) throws {
            var answer = Answer(next: next)
            for (id, key) in posts { answer.append(id: id, key: key, body: []) }
            _ = try feed.ingest(answer, for: try #require(try feed.plan(place).request).ticket)
        }
        try take(.head, [(5, 50), (4, 40), (3, 30), (2, 20), (1, 10)], next: .end)
        var window = try storage.cache.withSnapshot {
            try $0.window(of: feed, at: .post(3), above: 2, below: 2)
        }
        #expect(picture(window) == "5 4 (3) 2 1")
        try take(.head, [(3, 60), (5, 50), (4, 40)], next: .token("b"))
        for _ in 0..<commits { try feed.setAttribute("n", to: []) }
        #expect(try update(&window).removed == [2] && picture(window) == "5 4 (2) 1")
    }

    /// The log no longer reaches back: the rows and the place are right all the same.
    @Test func survivesALogThatEnded() throws {
        try takeTwoSegments()
        var window = try self.window(.post(10))
        try feed.delete(11)
        for number in 0..<1_100 { try feed.setAttribute("n", to: [UInt8(truncatingIfNeeded: number)]) }
        try take(.head, [40, 39, 38], next: .token("d"))
        let difference = try update(&window)
        #expect(picture(window) == "~ 12 (10) 9 8" && difference.removed == [1] && difference.inserted == [0])
        #expect(difference.updated == [1, 2, 3, 4], "nothing says what changed")
    }

    /// `[12 11 10]`, then 11 leaves and comes back with another body, between two looks.
    @Test(arguments: [false, true]) func drawsAPostAnewThatLeftAndCameBack(inOneCommit: Bool) throws {
        try take(.head, [12, 11, 10], next: .end)
        var window = try self.window(.head)
        var answer = Answer(next: .end)
        for id in [12, 11, 10] as [UInt64] {
            answer.append(id: PostID(id), key: Int64(id), body: [UInt8(id == 11 ? 99 : id)])
        }
        if inOneCommit {
            try storage.cache.batch { batch in
                _ = try batch[feed].evict([11])
                let request = try #require(try batch[feed].plan(.head).request)
                _ = try batch[feed].ingest(answer, for: request.ticket)
            }
        } else {
            _ = try feed.evict([11])
            _ = try feed.ingest(answer, for: try #require(try feed.plan(.head).request).ticket)
        }
        let difference = try update(&window)
        #expect(difference.updated == [1] && difference.removed.isEmpty && difference.inserted.isEmpty)
    }

    /// `[9 8 7] ~ [3 2 1]`: once its link is dropped, the gap is asked from 8 on and not from 7. So its link
    /// overlaps, and has the same words.
    @Test func drawsAGapAnewThatIsAskedInAnotherWay() throws {
        let feed = try storage.cache.feed(
            named: "keys", options: FeedOptions(order: .stable, paging: .keyset, pageSize: 3))
        for ids in [[3, 2, 1], [9, 8, 7]] as [[UInt64]] {
            var answer = Answer(next: ids[0] == 3 ? .end : .unknown)
            for id in ids { answer.append(id: PostID(id), key: Int64(id), body: []) }
            _ = try feed.ingest(answer, for: try #require(try feed.plan(.head).request).ticket)
        }
        var window = try storage.cache.withSnapshot {
            try $0.window(of: feed, at: .head, above: 0, below: 9)
        }
        let gap = try #require(window.rows[3].gap)
        _ = try feed.dropLink(of: try #require(try feed.plan(.gap(gap.id)).request).ticket)
        #expect(try update(&window).updated == [3])
        let now = try #require(window.rows[3].gap)
        #expect(now.down == gap.down && now.isDownOverlapping && !gap.isDownOverlapping)
    }

    // MARK: Random histories

    /// A screen: a list that applies differences, with the row that the reader looks at.
    private struct Screen {
        var window: FeedWindow
        var list: [String]

        init(_ window: FeedWindow, in snapshot: borrowing Snapshot) throws {
            self.window = window
            list = try window.rows.map { try Screen.text($0, in: snapshot) }
        }

        /// All that a list shows of a row.
        static func text(_ row: FeedRow, in snapshot: borrowing Snapshot) throws -> String {
            guard let post = row.post else {
                let gap = row.gap!
                return "gap \(gap.id) \(gap.down) \(gap.isDownOverlapping) \(gap.up) \(gap.isUpOverlapping)"
            }
            let body = try snapshot.body(of: post).withUnsafeBytes { Array($0) }
            return
                "\(post.id) \(body) \(post.isPlaceholder) \(post.isPinned) \(post.isDetached) \(post.key ?? 0)"
        }

        /// Follows the feed, and judges the window by all rows of the feed.
        mutating func follow(_ snapshot: borrowing Snapshot, _ what: String) throws {
            let before = window
            let difference = try window.update(to: snapshot)
            let all = try snapshot.rows(of: window.feed, limit: .max)
            let texts = try window.rows.map { try Screen.text($0, in: snapshot) }
            list = difference.applied(to: list) { texts[$0] }
            try #require(list == texts, "\(what): the differences give other rows")
            let center = window.anchor.flatMap { name in all.firstIndex { $0.name == name } }
            try #require((center == nil) == (window.anchor == nil), "\(what): the anchor is no row")
            let first = max(0, (center ?? 0) - (center == nil ? 0 : window.above))
            let last = min(all.count, (center ?? 0) + 1 + window.below)
            try #require(window.rows == Array(all[first..<max(first, last)]), "\(what): not the slice")
            try #require(window.rank == first && window.rowCount == all.count, "\(what): numbers")
            try requireNoJump(from: before, all.map(\.name), difference, what)
        }

        /// The row that the reader saw is still the anchor, unless it left or moved against its neighbours;
        /// then the anchor is another row that the reader had.
        private func requireNoJump(
            from before: FeedWindow, _ all: [RowID], _ difference: FeedWindow.Difference, _ what: String
        ) throws {
            guard let anchor = before.anchor else { return try #require(window.anchor == nil, "\(what)") }
            let held = before.rows.map(\.name).filter(all.contains)
            guard let now = window.anchor else {
                return try #require(held.isEmpty, "\(what): the place is lost")
            }
            try #require(held.contains(now), "\(what): jumps to \(now)")
            if now == anchor { return }
            let order = held.map { all.firstIndex(of: $0)! }
            let isInOrder = order == order.sorted()
            let isCloseUp = zip(order, order.dropFirst()).allSatisfy { $1 == $0 + 1 }
            let hasMoved = !isInOrder || !isCloseUp || order.count < before.rows.count
            try #require(!held.contains(anchor) || hasMoved, "\(what): leaves \(anchor) for \(now)")
        }
    }

    @Test(arguments: OracleMode.allCases) func isTheSliceAfterEachChange(mode: OracleMode) throws {
        for seed in 0..<UInt64(Specification.number("QUIRE_SEEDS") ?? 12) {
            var tuning = Tuning()
            if seed % 2 == 1 { tuning.chunkLimit = 3 }
            let history = try OracleHistory(mode: mode, tuning: tuning)
            var random = SplitMix64(seed: seed &+ 77)
            var screen: Screen?
            for (step, event) in OracleEvent.history(seed: seed, steps: 90).enumerated() {
                let what = "\(mode), seed \(seed), step \(step), \(event.kind)"
                if event.kind == .reopen {
                    try restart(&screen, history, event, what)
                    continue
                }
                try history.run([event])
                if random.chance(0.3) { continue }  // several commits at once
                try history.feed.cache.withSnapshot { snapshot in
                    try scroll(&screen, history.feed, &random, snapshot)
                    try screen!.follow(snapshot, what)
                }
            }
        }
    }

    /// Opens the screen, or moves the reader's eyes.
    private func scroll(
        _ screen: inout Screen?, _ feed: Feed, _ random: inout SplitMix64, _ snapshot: borrowing Snapshot
    ) throws {
        guard screen != nil else {
            let count = try snapshot.rowCount(of: feed)
            let start = random.chance(0.3) ? .head : FeedWindow.Start.rank(random.below(max(1, count)))
            let window = try snapshot.window(
                of: feed, at: start, above: random.below(4), below: random.below(5))
            return screen = try Screen(window, in: snapshot)
        }
        let rows = screen!.window.rows
        if rows.isEmpty || random.chance(0.6) { return }
        let row = random.chance(0.1) ? nil : random.pick(rows).name
        screen!.window.look(at: row, above: random.below(5), below: random.below(6))
    }

    /// The program ends and begins again: only the saved place is left.
    private func restart(
        _ screen: inout Screen?, _ history: OracleHistory, _ event: OracleEvent, _ what: String
    ) throws {
        let place = screen.map { screen in
            (screen.window.anchor, screen.window.nearestPosts, screen.window.above, screen.window.below)
        }
        screen = nil  // it keeps the cache open
        try history.run([event])
        guard let (anchor, saved, above, below) = place else { return }
        try history.feed.cache.withSnapshot { snapshot in
            // what was committed since the last look may have taken the anchor away
            let isHeld = try snapshot.rows(of: history.feed, limit: .max).contains { $0.name == anchor }
            let start = anchor == nil ? FeedWindow.Start.head : .nearest(saved)
            let window = try snapshot.window(of: history.feed, at: start, above: above, below: below)
            if case .post? = anchor, isHeld {
                try #require(window.anchor == anchor, "\(what): another place after the restart")
            }
            screen = try Screen(window, in: snapshot)
            try screen!.follow(snapshot, what)
        }
    }
}
