import CCounts

/// Measures calls one by one. What is prepared between two calls is neither timed nor counted.
struct GrowthMeter {
    private var timings = Timings(expecting: 4_096)
    private var reads: UInt64 = 0
    private var writes: UInt64 = 0
    private var allocations: UInt64 = 0
    private var allocated: UInt64 = 0
    private var written: UInt64 = 0
    private let isWriting: Bool
    /// How many units one call takes, where a call does many.
    private var units = 0

    /// The bytes written are read only if there are any: that takes longer than a read of Quire, and empties
    /// the processor's caches.
    init(isWriting: Bool = true) { self.isWriting = isWriting }

    /// Measures a call. `body` returns how many units it did; costs are those of a unit.
    mutating func measureUnits(_ body: () throws -> Int) rethrows {
        let files = isWriting ? ProcessMeters.now().written : 0
        let before = call_counts_now()
        let start = nanoseconds()
        let count = try body()
        let time = nanoseconds() - start
        let after = call_counts_now()
        if isWriting { written += ProcessMeters.now().written - files }
        timings.add(Timings(samples: [time / UInt64(max(1, count))]))
        reads += after.reads - before.reads
        writes += after.writes - before.writes
        allocations += after.allocations - before.allocations
        allocated += after.allocated - before.allocated
        units += count
    }

    mutating func measure<R>(_ body: () throws -> R) rethrows -> R {
        var result: R?
        try measureUnits {
            result = try body()
            return 1
        }
        return result!
    }

    var cost: GrowthCost {
        let (metrics, units) = (timings.metrics, Double(max(1, units)))
        return GrowthCost(
            samples: timings.samples.count, p50: metrics["p50"] ?? 0, p99: metrics["p99"] ?? 0,
            reads: Double(reads) / units, writes: Double(writes) / units,
            allocations: Double(allocations) / units, allocated: Double(allocated) / units,
            written: Double(written) / units)
    }
}
