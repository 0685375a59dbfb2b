import Foundation
import Synchronization

extension Worker {
    /// Two threads read random pages as long as a third commits pages. What they read was written before
    /// and must not change.
    func beside(_ command: Command) throws -> Reply {
        var random = SplitMix64(seed: command.seed)
        let addresses = (0..<256).map { _ in stream.drawPage(&random) }
        try engine.stage(reads: addresses, pages: 1)
        let expected = try addresses.indices.map { try engine.readStaged($0) }
        let isWriting = Atomic(true)
        let jobs = try (0..<2).map { number in
            let reader = try engine.makeReader()
            try reader.stage(reads: addresses, pages: 1)
            return ReaderJob(reader, expected, seed: command.seed + UInt64(number))
        }
        let threads = jobs.map { job in
            RunningThread { job.run(while: { isWriting.load(ordering: .acquiring) }) }
        }
        let writing = Result { try commit(command) }
        isWriting.store(false, ordering: .releasing)
        for thread in threads { thread.wait() }
        for job in jobs { job.reader.close() }
        var reply = try writing.get()
        var reads = Timings(expecting: 0)
        for job in jobs {
            if let failure = job.failure { throw failure }
            reads.add(job.timings)
        }
        let write = Timings(samples: reply.samples ?? []).metrics
        reply.samples = nil
        reply.metrics = reads.metrics
        reply.metrics["writeP50"] = write["p50"]
        reply.metrics["writeP99"] = write["p99"]
        return reply
    }

    /// Several threads commit single pages, each to a feed of its own.
    func group(_ command: Command) throws -> Reply {
        let jobs = try (0..<command.threads).map { _ in
            let feed = stream.addFeed()
            try engine.stage([stream.nextPage(of: feed)])
            _ = try engine.appendStaged()
            let pages = (0..<command.count).map { _ in stream.nextPage(of: feed) }
            return WriterJob(try engine.makeWriter(), pages)
        }
        let start = nanoseconds()
        let threads = jobs.map { job in RunningThread { job.run() } }
        for thread in threads { thread.wait() }
        let seconds = Double(nanoseconds() - start) / 1e9
        var timings = Timings(expecting: 0)
        for job in jobs {
            if let failure = job.failure { throw failure }
            timings.add(job.timings)
        }
        var metrics = timings.metrics
        metrics["rate"] = Double(command.threads * command.count) / seconds
        return Reply(metrics: metrics, checks: ["duplicates": String(jobs.reduce(0) { $0 + $1.duplicates })])
    }
}
