import Foundation

extension Worker {
    /// Loads the next pages of the workload. Making them is not timed.
    func load(_ command: Command) throws -> Reply {
        var timings = Timings(expecting: command.count / command.batch + 1)
        var (posts, delivered, duplicates) = (0, 0, 0)
        var left = command.count
        while left > 0 {
            var pages: [FeedPage] = []
            while pages.count < min(command.batch, left), let page = stream.nextPage() {
                pages.append(page)
            }
            if pages.isEmpty { break }
            left -= pages.count
            try engine.stage(pages)
            let found = try timings.measure { try engine.appendStaged() }
            let expected = pages.reduce(0) { $0 + $1.duplicates }
            try expect(found, expected, "duplicates in \(pages.count) pages")
            posts += pages.reduce(0) { $0 + $1.posts.count }
            delivered += pages.reduce(0) { $0 + $1.bytes.count }
            duplicates += found
            notePeak()
        }
        return Reply(
            metrics: [
                "seconds": Double(timings.samples.reduce(0, +)) / 1e9, "posts": Double(posts),
                "delivered": Double(delivered), "worst": timings.metrics["max"] ?? 0,
            ],
            checks: ["duplicates": String(duplicates), "posts": String(posts)])
    }

    /// Commits single pages at the tail of random feeds.
    func commit(_ command: Command) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        var timings = Timings(expecting: command.count)
        var (duplicates, delivered) = (0, 0)
        for _ in 0..<command.count {
            let page = stream.nextPage(of: stream.feed(of: stream.drawSerial(&random)))
            try engine.stage([page])
            let found = try timings.measure { try engine.appendStaged() }
            try expect(found, page.duplicates, "duplicates in a page of feed \(page.feed)")
            duplicates += found
            delivered += page.bytes.count
        }
        return Reply(
            metrics: ["delivered": Double(delivered)], samples: timings.samples,
            checks: ["duplicates": String(duplicates)])
    }

    /// Puts pages on top of one feed, or of all short ones in turn so that they stay short.
    func refresh(_ command: Command) throws -> Reply {
        let feeds = try feeds(command.feed)
        var timings = Timings(expecting: command.count)
        var touched: Set<Int> = []
        for i in 0..<command.count {
            let feed = feeds[(command.turn * command.count + i) % feeds.count]
            let page = stream.nextTopPage(of: feed)
            try engine.stage([page])
            let found = try timings.measure { try engine.prependStaged() }
            try expect(found, 1, "duplicates in a page on top of feed \(feed)")
            touched.insert(feed)
        }
        // The post that two pages share may lie in either: pages are compared together, down to one of
        // the bulk load, which shares none with the page below.
        var (total, pages) = (ReadTotal(), 0)
        for feed in touched.sorted() {
            let top = PageAddress(feed: feed, index: 0)
            try engine.stage(reads: [top], pages: stream.pagesOnTop(feed) + 1)
            total += try engine.readStaged(0)
            pages += try engine.pageCount(feed)
        }
        var checks = Self.checks(total)
        checks["pages"] = String(pages)
        return Reply(samples: timings.samples, checks: checks)
    }

    /// Changes the score in the body of random posts, a commit each.
    func update(_ command: Command) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        var timings = Timings(expecting: command.count)
        var total = ReadTotal()
        for _ in 0..<command.count {
            let serial = stream.drawSerial(&random)
            let id = stream.factory.id(serial)
            let body = stream.bodyWithNewScore(serial)
            try timings.measure { try engine.update(id, body: body) }
            var expected = ReadTotal()
            body.withUnsafeBytes { expected.add($0) }
            let read = try engine.post(id)
            guard read == expected else {
                throw EngineFailure("post \(id) reads as \(read) after its update, not \(expected)")
            }
            total += read
        }
        return Reply(samples: timings.samples, checks: Self.checks(total))
    }

    /// Forgets all pages of a feed but the first.
    func prune(_ command: Command) throws -> Reply {
        let feed = try feeds(command.feed)[0]
        let pages = stream.pageCount(feed)
        var random = SplitMix64(seed: command.seed)
        // The topmost post of the bulk load may have moved to the page that stays.
        let serials = (0..<200).map { _ in stream.drawSerial(of: feed, &random) }
            .filter { $0 > 0 && stream.feed(of: $0 - 1) == feed }
        var timings = Timings(expecting: 1)
        try timings.measure { try engine.prune(feed) }
        try expect(try engine.pageCount(feed), 1, "pages after pruning feed \(feed)")
        let ids = serials.map(stream.factory.id)
        try engine.stage(ids: ids, in: feed)
        try engine.lookUpStaged()
        var others = ReadTotal()
        for id in ids { others += try engine.post(id) }
        var checks = Self.checks(others)
        checks["held"] = engine.found.map { $0 ? "1" : "0" }.joined()
        return Reply(
            metrics: [
                "page": timings.metrics["p50"]! / Double(max(1, pages - 1)), "pages": Double(pages),
                "total": timings.metrics["p50"]!,
            ], checks: checks)
    }

    /// Feeds of the bulk load by size: all short ones except the last, which is never refreshed.
    func feeds(_ size: FeedSize) throws -> [Int] {
        let sizes = stream.plan.sizes
        switch size {
        case .long: return [0]
        case .medium: return [1]
        case .short:
            let feeds = sizes.indices.dropLast().filter { sizes[$0] == ArrivalPlan.smallFeed }
            if feeds.isEmpty { throw EngineFailure("the workload has no short feed; take more posts") }
            return Array(feeds)
        }
    }

    func expect(_ found: Int, _ expected: Int, _ what: String) throws {
        guard found == expected else {
            throw EngineFailure("\(engine.name): \(what): \(found), expected \(expected)")
        }
    }
}
