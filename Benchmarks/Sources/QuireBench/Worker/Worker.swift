import CSync
import Foundation

/// Runs one engine in a process of its own, as told line by line.
final class Worker {
    let engineName: EngineName
    let folder: String
    let durability: Durability
    let stream: PageStream
    private var opened: (any Engine)?
    /// Anonymous memory before the engine was opened.
    private let memoryAtStart: UInt64
    private var peakAnonymous: UInt64 = 0

    /// Opens the engine. If it holds the workload's first page already, that is read, and both are timed.
    static func start(
        _ name: EngineName, in folder: String, _ workload: Workload, _ durability: Durability,
        isSyncing: Bool, loaded: Int
    ) throws -> (worker: Worker, opening: Reply) {
        let stream = PageStream(workload)
        syncing_set(isSyncing)
        try name.load()
        heap_release_free()
        let memory = ProcessMeters.anonymousMemory
        let feed = Self.firstPageFeed(stream)
        var reply = Reply()
        let start = nanoseconds()
        let engine = try name.open(in: folder, durability: durability)
        let opened = nanoseconds()
        if loaded > 0 {
            let total = try engine.firstPage(of: feed)
            let end = nanoseconds()
            reply.metrics = [
                "open": Double(opened - start) / 1_000, "first": Double(end - start) / 1_000,
            ]
            reply.checks = Self.checks(total)
        }
        let worker = Worker(name, folder, durability, stream, engine, memory)
        return (worker, reply)
    }

    private init(
        _ name: EngineName, _ folder: String, _ durability: Durability, _ stream: PageStream,
        _ engine: any Engine, _ memory: UInt64
    ) {
        (engineName, self.folder, self.durability) = (name, folder, durability)
        (self.stream, opened, memoryAtStart) = (stream, engine, memory)
    }

    var engine: any Engine {
        guard let opened else { preconditionFailure("the engine is open but while it is reopened") }
        return opened
    }

    var greeting: Greeting {
        Greeting(version: engine.version, about: engine.about, reply: Reply())
    }

    /// The feed whose first page is read after opening: one that no refresh changes.
    private static func firstPageFeed(_ stream: PageStream) -> Int { stream.plan.sizes.count - 1 }

    func perform(_ command: Command) throws -> Reply {
        let before = ProcessMeters.now()
        var reply = try run(command)
        let after = ProcessMeters.now()
        reply.metrics["written"] = Double(after.written - before.written)
        reply.metrics["syncs"] = Double(after.syncsMade - before.syncsMade)
        reply.metrics["syncsAsked"] = Double(after.syncsAsked - before.syncsAsked)
        if let opened {
            // What was staged is the benchmark's, not the engine's.
            try opened.stage(reads: [], pages: 1)
            heap_release_free()
        }
        notePeak()
        return reply
    }

    private func run(_ command: Command) throws -> Reply {
        switch command.work {
        case .load: return try load(command)
        case .verify: return try verify()
        case .commit: return try commit(command)
        case .read: return try read(command, hot: nil, pages: 1)
        case .readHot: return try read(command, hot: 64, pages: 1)
        case .scroll: return try read(command, hot: nil, pages: 50)
        case .contains: return try contains(command)
        case .post: return try post(command)
        case .update: return try update(command)
        case .refresh: return try refresh(command)
        case .prune: return try prune(command)
        case .beside: return try beside(command)
        case .group: return try group(command)
        case .close: return closeEngine()
        case .reopen: return try reopen(command)
        case .footprint: return try footprint()
        case .stop: return closeEngine()
        }
    }

    private func closeEngine() -> Reply {
        opened?.close()
        opened = nil  // Quire closes its file with the last reference.
        return Reply()
    }

    private func reopen(_ command: Command) throws -> Reply {
        _ = closeEngine()
        syncing_set(command.isSyncing)
        opened = try engineName.open(in: folder, durability: durability)
        return Reply()
    }

    // MARK: Footprint

    func notePeak() { peakAnonymous = max(peakAnonymous, ProcessMeters.anonymousMemory) }

    /// The files are those of a program that has ended: logs are folded in, as far as the engine does it.
    private func footprint() throws -> Reply {
        let heap = Double(peakAnonymous) - Double(memoryAtStart)
        let peak = Double(ProcessMeters.peakMemory)
        // Some fold their log in when they are opened next.
        _ = closeEngine()
        opened = try engineName.open(in: folder, durability: durability)
        _ = closeEngine()
        let disk = Double(diskUse(of: folder))
        opened = try engineName.open(in: folder, durability: durability)
        return Reply(metrics: [
            "disk": disk, "distinct": Double(stream.distinctBytes),
            "delivered": Double(stream.deliveredBytes), "heap": max(0, heap), "peak": peak,
            "posts": Double(stream.serials),
        ])
    }

    static func checks(_ total: ReadTotal) -> [String: String] {
        ["sum": String(total.sum), "posts": String(total.posts), "bytes": String(total.bytes)]
    }
}
