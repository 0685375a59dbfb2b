import Foundation

/// Measures all engines at one number of posts.
struct SizeRun {
    let workload: Workload
    let engines: [EngineName]
    let operations: Set<Operation>
    let rounds: Int
    let durability: Durability
    let folder: String
    private var result: SizeResult
    private var workers: [WorkerProcess] = []

    /// Pages to a transaction of the bulk load.
    private static let batch = 32
    private static let slices = 10
    /// A synced bulk load takes long and does not change with the size.
    private static let syncedPosts = 200_000
    /// How often files are opened at least: once in each process.
    private static let openings = 5

    init(
        _ workload: Workload, engines: [EngineName], operations: Set<Operation>, rounds: Int,
        durability: Durability, folder: String
    ) {
        (self.workload, self.engines, self.operations) = (workload, engines, operations)
        (self.rounds, self.durability, self.folder) = (rounds, durability, folder)
        result = SizeResult(workload: workload, durability: durability, rounds: rounds, engines: [])
    }

    mutating func run() throws -> SizeResult {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try loadRounds()
        try record(Command(work: .footprint), as: "footprint")
        try record(Command(work: .verify), as: "verify")
        try measure { !$0.isSynced && !$0.destroys }
        if operations.contains(where: { $0.isSynced && $0 != .bulkSynced }) {
            try all(Command(work: .reopen, isSyncing: true))
            // No engine's first commit may wait for data that an earlier step left unsynced.
            for engine in engines { forEachFile(in: path(engine)) { fsync($0) } }
            try measure(\.isSynced)
            try all(Command(work: .reopen, isSyncing: false))
        }
        if operations.contains(.openWarm) { try measureOpening(.openWarm) }
        try measure(\.destroys)
        try record(Command(work: .footprint), as: "footprint-end")
        // Last: files that have been cold are slow to write for a while.
        for operation in [Operation.openPruned, .openCold] where operations.contains(operation) {
            try measureOpening(operation)
        }
        try stop()
        if operations.contains(.bulkSynced) { try loadSynced() }
        return result
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    private func path(_ engine: EngineName) -> String { folder + "/" + engine.rawValue }

    // MARK: Workers

    private mutating func start(_ workload: Workload, isSyncing: Bool) throws {
        for engine in engines {
            try? FileManager.default.removeItem(atPath: path(engine))
            workers.append(
                try WorkerProcess(
                    engine, in: path(engine), workload, durability, isSyncing: isSyncing))
        }
        if result.engines.isEmpty {
            result.engines = workers.map {
                EngineInfo(engine: $0.engine, version: $0.greeting.version, about: $0.greeting.about)
            }
        }
    }

    private mutating func stop() throws {
        for worker in workers { try worker.stop() }
        workers = []
        for engine in engines { try? FileManager.default.removeItem(atPath: path(engine)) }
    }

    /// One command for all, one worker after the other; each round another one begins. What must be
    /// equal is compared.
    @discardableResult
    private func all(_ command: Command) throws -> [EngineName: Reply] {
        var replies: [EngineName: Reply] = [:]
        for i in workers.indices {
            let worker = workers[(i + command.round + command.turn) % workers.count]
            replies[worker.engine] = try worker.perform(command)
        }
        try compare(replies, "\(command.work), round \(command.round)")
        return replies
    }

    private func compare(_ replies: [EngineName: Reply], _ what: String) throws {
        for check in Set(replies.values.flatMap(\.checks.keys)).sorted() {
            let values = engines.map { ($0, replies[$0]?.checks[check] ?? "nothing") }
            if Set(values.map(\.1)).count > 1 {
                let list = values.map { "  \($0.0.rawValue): \($0.1)" }.joined(separator: "\n")
                throw RunFailure("\(what): the engines disagree about \(check):\n\(list)")
            }
        }
    }

    private mutating func record(_ command: Command, as name: String) throws {
        for (engine, reply) in try all(command) { result.add(reply.metrics, to: name, of: engine) }
    }

    // MARK: Rounds

    private mutating func measure(_ isMeant: (Operation) -> Bool) throws {
        for operation in Operation.allCases where operations.contains(operation) && isMeant(operation) {
            guard operation.command(round: 0) != nil else { continue }
            note("  \(operation.rawValue)")
            for round in 0..<(operation.destroys ? 1 : rounds) {
                var pooled: [EngineName: Reply] = [:]
                for turn in 0..<operation.turns {
                    for (engine, reply) in try all(operation.command(round: round, turn: turn)!) {
                        pooled[engine, default: Reply()].pool(reply)
                    }
                }
                for (engine, reply) in pooled {
                    result.add(reply.metrics, to: operation.rawValue, of: engine)
                }
            }
        }
    }

    private mutating func measureOpening(_ operation: Operation) throws {
        note("  \(operation.rawValue)")
        try all(Command(work: .close))
        for round in 0..<max(rounds, Self.openings) {
            var replies: [EngineName: Reply] = [:]
            for i in engines.indices {
                let engine = engines[(i + round) % engines.count]
                if operation == .openCold { forgetFiles(in: path(engine)) }
                let opener = try WorkerProcess(
                    engine, in: path(engine), workload, durability, loaded: workload.pages)
                try opener.stop()
                replies[engine] = opener.greeting.reply
                result.add(opener.greeting.reply.metrics, to: operation.rawValue, of: engine)
            }
            try compare(replies, "\(operation.rawValue), round \(round)")
        }
        try all(Command(work: .reopen))
    }

    // MARK: Bulk loads

    /// Small sizes are loaded several times, each time by new processes into new files; the last stay.
    private mutating func loadRounds() throws {
        let loads = operations.contains(.bulk) ? max(1, min(rounds, 1_000_000 / workload.posts)) : 1
        for round in 0..<loads {
            if round > 0 { try stop() }
            try start(workload, isSyncing: false)
            note("  bulk, \(round + 1) of \(loads)")
            try load(workload.pages, round: round, as: "bulk")
        }
    }

    private mutating func loadSynced() throws {
        var workload = workload
        workload.posts = min(workload.posts, Self.syncedPosts)
        try start(workload, isSyncing: true)
        note("  bulk-synced")
        try load(workload.pages, round: 0, as: "bulk-synced")
        try stop()
    }

    /// The engines take turns with tenths of the load.
    private mutating func load(_ pages: Int, round: Int, as name: String) throws {
        var loaded: [EngineName: [[String: Double]]] = [:]
        for slice in 0..<Self.slices {
            let count = pages * (slice + 1) / Self.slices - pages * slice / Self.slices
            let command = Command(work: .load, count: count, round: round + slice, batch: Self.batch)
            for (engine, reply) in try all(command) { loaded[engine, default: []].append(reply.metrics) }
        }
        for (engine, slices) in loaded {
            func total(_ metric: String) -> Double { slices.reduce(0) { $0 + $1[metric]! } }
            let last = slices[slices.count - 1]
            result.add(
                [
                    "rate": total("posts") / total("seconds"),
                    "lastRate": last["posts"]! / last["seconds"]!,
                    "worst": slices.map { $0["worst"]! }.max()!,
                    "amplification": total("written") / total("delivered"),
                    "syncs": total("syncs"), "posts": total("posts"),
                ], to: name, of: engine)
        }
    }
}

extension Reply {
    /// Adds the reply of another turn of the same round.
    fileprivate mutating func pool(_ other: Reply) {
        guard let more = other.samples else {
            self = other
            return
        }
        var sums = metrics.filter { Self.countedMetrics.contains($0.key) }
        sums.merge(other.metrics) { $0 + $1 }
        samples = (samples ?? []) + more
        metrics = Timings(samples: samples!).metrics.merging(sums) { _, sum in sum }
    }

    /// Those that add up over turns.
    private static let countedMetrics: Set = ["written", "delivered", "syncs", "syncsAsked"]
}

/// Makes the kernel forget what it has read of these files.
private func forgetFiles(in folder: String) {
    forEachFile(in: folder) { file in
        fsync(file)  // only clean pages can be forgotten
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
    }
}

private func forEachFile(in folder: String, _ body: (Int32) -> Void) {
    guard let paths = FileManager.default.enumerator(atPath: folder) else { return }
    for case let path as String in paths {
        let file = open(folder + "/" + path, O_RDONLY)
        if file < 0 { continue }
        body(file)
        close(file)
    }
}
