import Foundation

/// How the cost of operations grows, as written to a file.
struct GrowthResult: Codable {
    var machine: Machine
    var date: String
    var series: [GrowthSeries] = []

    /// Adds a point to the series of an operation.
    mutating func add(_ cost: GrowthCost, to operation: String, by unit: GrowthUnit, at size: Int) {
        let point = GrowthPoint(size: size, cost: cost)
        if let at = series.firstIndex(where: { $0.operation == operation && $0.unit == unit }) {
            series[at].points.append(point)
        } else {
            series.append(GrowthSeries(operation: operation, unit: unit, points: [point]))
        }
    }
}

/// What there is more and more of.
enum GrowthUnit: String, Codable {
    /// Posts in the cache, half of them in each of two feeds.
    case posts
    /// Local posts in one feed.
    case locals = "local posts"
    /// Gaps in one feed.
    case gaps
    /// Operations in one batch, all on one feed.
    case batch = "in a batch"
}

struct GrowthSeries: Codable {
    var operation: String
    var unit: GrowthUnit
    var points: [GrowthPoint]
}

struct GrowthPoint: Codable {
    var size: Int
    var cost: GrowthCost
}

/// What one operation costs.
struct GrowthCost: Codable {
    var samples: Int
    /// Microseconds.
    var p50: Double
    var p99: Double
    /// Means over the samples: calls of LMDB that read or write a record, allocations and their bytes, and
    /// bytes handed to write calls.
    var reads: Double
    var writes: Double
    var allocations: Double
    var allocated: Double
    var written: Double
}
