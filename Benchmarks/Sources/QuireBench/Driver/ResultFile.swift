import Foundation

/// The results of a run, as written to a file.
struct ResultFile: Codable {
    var machine: Machine
    var date: String
    var sizes: [SizeResult]
}

/// The results at one number of posts.
struct SizeResult: Codable {
    var workload: Workload
    var durability: Durability
    var rounds: Int
    var engines: [EngineInfo]
    var series: [Series] = []

    /// The metrics of an operation, one element for each round; empty if it was not measured.
    func rounds(_ operation: String, _ engine: EngineName) -> [[String: Double]] {
        series.first { $0.operation == operation && $0.engine == engine }?.rounds ?? []
    }

    /// The median over the rounds.
    func median(_ operation: String, _ metric: String, _ engine: EngineName) -> Double? {
        let values = rounds(operation, engine).compactMap { $0[metric] }.sorted()
        if values.isEmpty { return nil }
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }

    mutating func add(_ metrics: [String: Double], to operation: String, of engine: EngineName) {
        let at = series.firstIndex { $0.operation == operation && $0.engine == engine }
        if let at {
            series[at].rounds.append(metrics)
        } else {
            series.append(Series(operation: operation, engine: engine, rounds: [metrics]))
        }
    }
}

struct EngineInfo: Codable {
    var engine: EngineName
    var version: String
    var about: String
}

struct Series: Codable {
    var operation: String
    var engine: EngineName
    var rounds: [[String: Double]]
}
