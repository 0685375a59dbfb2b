import CSync
import Foundation

extension Worker {
    /// Reads every page of every feed and compares the sum with that of what was generated.
    func verify() throws -> Reply {
        var total = ReadTotal()
        var pages = 0
        let start = nanoseconds()
        for feed in 0..<stream.feedCount where stream.pageCount(feed) > 0 {
            let count = stream.pageCount(feed)
            try expect(try engine.pageCount(feed), count, "pages of feed \(feed)")
            pages += count
            let step = 200
            let starts = stride(from: 0, to: count, by: step).map {
                PageAddress(feed: feed, index: $0)
            }
            try engine.stage(reads: starts, pages: step)
            for i in starts.indices { total += try engine.readStaged(i) }
        }
        let seconds = Double(nanoseconds() - start) / 1e9
        try expect(total.posts, stream.heldPosts, "posts in \(pages) pages")
        guard total.sum == stream.heldSum else {
            throw EngineFailure("\(engine.name): the bodies read are not those written")
        }
        return Reply(metrics: ["seconds": seconds], checks: Self.checks(total))
    }

    /// Reads pages, each call a snapshot: random ones, or a few again and again.
    func read(_ command: Command, hot: Int?, pages: Int) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        let distinct = hot ?? command.count
        let addresses = (0..<distinct).map { _ in
            pages == 1
                ? stream.drawPage(&random)
                : PageAddress(feed: 0, index: random.below(max(1, stream.pageCount(0) - pages)))
        }
        try engine.stage(reads: addresses, pages: pages)
        heap_release_free()  // what staging left behind is not the engine's
        if hot != nil { for i in addresses.indices { _ = try engine.readStaged(i) } }
        var timings = Timings(expecting: command.count)
        var total = ReadTotal()
        for i in 0..<command.count {
            total += try timings.measure { try engine.readStaged(i % distinct) }
        }
        var metrics = timings.metrics
        metrics["bytes"] = Double(total.bytes) / Double(command.count)
        return Reply(metrics: metrics, checks: Self.checks(total))
    }

    /// Asks a feed for 100 ids at a time; it holds every other one.
    func contains(_ command: Command) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        var timings = Timings(expecting: command.count)
        let expected = (0..<100).map { $0 % 2 == 0 }
        for _ in 0..<command.count {
            let feed = stream.feed(of: stream.drawSerial(&random))
            let ids = expected.map { isHeld in
                let serial =
                    isHeld
                    ? stream.drawSerial(of: feed, &random)
                    : PostFactory.unusedSerials + UInt64(random.below(1 << 30))
                return stream.factory.id(serial)
            }
            try engine.stage(ids: ids, in: feed)
            try timings.measure { try engine.lookUpStaged() }
            guard engine.found == expected else {
                throw EngineFailure("\(engine.name): contains gives a wrong answer in feed \(feed)")
            }
        }
        return Reply(metrics: timings.metrics)
    }

    /// Reads random posts by their ids.
    func post(_ command: Command) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        var timings = Timings(expecting: command.count)
        var total = ReadTotal()
        for _ in 0..<command.count {
            let id = stream.factory.id(stream.drawSerial(&random))
            total += try timings.measure { try engine.post(id) }
        }
        try expect(total.posts, command.count, "posts read by id")
        return Reply(metrics: timings.metrics, checks: Self.checks(total))
    }
}
