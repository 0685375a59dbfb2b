import Foundation

/// Nanoseconds of a clock that only runs forward.
func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How long single calls took.
struct Timings {
    private(set) var samples: [UInt64] = []

    init(expecting count: Int) { samples.reserveCapacity(count) }

    init(samples: [UInt64]) { self.samples = samples }

    mutating func measure<R>(_ body: () throws -> R) rethrows -> R {
        let start = nanoseconds()
        let result = try body()
        samples.append(nanoseconds() - start)
        return result
    }

    mutating func add(_ other: Timings) { samples += other.samples }

    /// Median and 99th percentile in microseconds, and calls for each second spent in them.
    var metrics: [String: Double] {
        if samples.isEmpty { return [:] }
        let sorted = samples.sorted()
        func percentile(_ part: Double) -> Double {
            Double(sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]) / 1_000
        }
        let total = Double(sorted.reduce(0, +))
        return [
            "p50": percentile(0.5), "p99": percentile(0.99), "max": percentile(1),
            "mean": total / Double(sorted.count) / 1_000, "rate": Double(sorted.count) / total * 1e9,
            "samples": Double(sorted.count),
        ]
    }
}
