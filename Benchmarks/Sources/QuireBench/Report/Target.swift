/// A target of the design, and what was measured.
struct Target {
    let operation: String
    let against: String
    let bound: Bound
    let measured: Double?

    enum Bound {
        case atLeast(Double)
        case atMost(Double)

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atLeast(let bound): value >= bound
            case .atMost(let bound): value <= bound
            }
        }

        var text: String {
            switch self {
            case .atLeast(let bound): "≥ \(number(bound))"
            case .atMost(let bound): "≤ \(number(bound))"
            }
        }
    }

    var row: [String] {
        let verdict = measured.map { bound.isMet(by: $0) ? "met" : "missed" } ?? "not measured"
        return [operation, against, bound.text, measured.map { number($0) } ?? "", verdict]
    }

    static func table(_ targets: [Target]) -> Table {
        Table(header: ["operation", "against", "target", "measured", ""], rows: targets.map(\.row))
    }
}

/// The targets at one number of posts. SQLite stands for the best of its layouts, each time anew.
struct Targets {
    let size: SizeResult

    private static let sqlite: [EngineName] = [.sqliteNorm, .sqliteBlob, .sqliteArticle, .grdb]

    private enum Better { case lower, higher }

    private func value(_ operation: Operation, _ metric: String) -> Double? {
        size.median(operation.rawValue, metric, .quire)
    }

    private func sqlite(_ operation: Operation, _ metric: String, _ better: Better) -> Double? {
        let values = Self.sqlite.compactMap { size.median(operation.rawValue, metric, $0) }
        return better == .lower ? values.min() : values.max()
    }

    private func c(_ operation: Operation, _ metric: String) -> Double? {
        size.median(operation.rawValue, metric, .lmdbC)
    }

    /// Times compared: how many times faster than SQLite, how many times the time of C.
    private func time(
        _ title: String, _ operation: Operation, _ metric: String, sqlite: Double, c: Double
    ) -> [Target] {
        let quire = value(operation, metric)
        return [
            Target(
                operation: title, against: "SQLite, times faster", bound: .atLeast(sqlite),
                measured: ratio(self.sqlite(operation, metric, .lower), quire)),
            Target(
                operation: title, against: "C on LMDB, times its time", bound: .atMost(c),
                measured: ratio(quire, self.c(operation, metric))),
        ]
    }

    /// Rates compared.
    private func rate(_ title: String, _ operation: Operation, sqlite: Double, c: Double?) -> [Target] {
        let quire = value(operation, "rate")
        var targets = [
            Target(
                operation: title, against: "SQLite, times its rate", bound: .atLeast(sqlite),
                measured: ratio(quire, self.sqlite(operation, "rate", .higher)))
        ]
        if let c {
            targets.append(
                Target(
                    operation: title, against: "C on LMDB, times its rate", bound: .atLeast(c),
                    measured: ratio(quire, self.c(operation, "rate"))))
        }
        return targets
    }

    private func ratio(_ a: Double?, _ b: Double?) -> Double? {
        guard let a, let b, b > 0 else { return nil }
        return a / b
    }

    var all: [Target] {
        rate("bulk ingest", .bulk, sqlite: 5, c: 0.7)
            + time("page committed, not synced", .commit, "p50", sqlite: 5, c: 1.5)
            + time("page committed, synced", .commitSynced, "p50", sqlite: 1, c: 1.2)
            + rate("8 writers, synced", .group8, sqlite: 3, c: nil)
            + time("page read, p50", .read, "p50", sqlite: 15, c: 1.3)
            + time("page read, p99", .read, "p99", sqlite: 15, c: 1.3)
            + time("100 ids checked", .contains, "p50", sqlite: 5, c: 1.5)
            + time("post updated, not synced", .update, "p50", sqlite: 1, c: 1.5)
            + [refresh] + time("prune, a page", .pruneLong, "page", sqlite: 50, c: 3)
            + opening + space
    }

    private var refresh: Target {
        Target(
            operation: "refresh, longest feed", against: "10-page feed, times its time",
            bound: .atMost(1.3),
            measured: ratio(value(.refreshLong, "p50"), value(.refreshShort, "p50")))
    }

    private var opening: [Target] {
        [("warm", Operation.openWarm), ("warm, pruned", .openPruned), ("cold", .openCold)].map {
            title, operation in
            Target(
                operation: "open and first page, \(title)", against: "ms", bound: .atMost(1),
                measured: value(operation, "first").map { $0 / 1_000 })
        }
    }

    private var space: [Target] {
        let share = Measure.fileShare(size, .quire, "delivered")
        let others = Self.sqlite.compactMap { Measure.fileShare(size, $0, "delivered") }.min()
        let heap = ["footprint", "footprint-end"]
            .compactMap { size.median($0, "heap", .quire) }.max()
        return [
            Target(
                operation: "file size", against: "bytes of delivered pages", bound: .atMost(1.2),
                measured: share),
            Target(
                operation: "file size", against: "SQLite, times its size", bound: .atMost(1.1),
                measured: ratio(share, others)),
            Target(
                operation: "heap", against: "MiB", bound: .atMost(64),
                measured: heap.map { $0 / 1_048_576 }),
        ]
    }
}
