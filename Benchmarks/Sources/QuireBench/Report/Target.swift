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

    private func best(
        of engines: [EngineName], _ operation: Operation, _ metric: String, _ better: Better
    ) -> Double? {
        let values = engines.compactMap { size.median(operation.rawValue, metric, $0) }
        return better == .lower ? values.min() : values.max()
    }

    /// Times compared: how many times the time of C, how many times faster than SQLite: with any layout, with
    /// a page in a row, and with a post in one and covering indexes.
    private func time(
        _ title: String, _ operation: Operation, _ metric: String, c: Double, sqlite: Double? = nil,
        blobs: Double? = nil, normalised: Double? = nil
    ) -> [Target] {
        let quire = value(operation, metric)
        var targets = [
            Target(
                operation: title, against: "C on LMDB, times its time", bound: .atMost(c),
                measured: ratio(quire, size.median(operation.rawValue, metric, .lmdbC)))
        ]
        for (bound, engines, name) in [
            (sqlite, Self.sqlite, "SQLite"), (blobs, [.sqliteBlob], "SQLite with blobs"),
            (normalised, [.sqliteNorm], "SQLite, normalised"),
        ] {
            guard let bound else { continue }
            targets.append(
                Target(
                    operation: title, against: "\(name), times faster", bound: .atLeast(bound),
                    measured: ratio(best(of: engines, operation, metric, .lower), quire)))
        }
        return targets
    }

    /// Rates compared.
    private func rate(
        _ title: String, _ operation: Operation, c: Double?, sqlite: Double, normalised: Double? = nil
    ) -> [Target] {
        let quire = value(operation, "rate")
        return [
            (c, [.lmdbC], "C on LMDB"), (sqlite, Self.sqlite, "SQLite"),
            (normalised, [.sqliteNorm], "SQLite, normalised"),
        ].compactMap { (bound: Double?, engines: [EngineName], name: String) in
            guard let bound else { return nil }
            return Target(
                operation: title, against: "\(name), times its rate", bound: .atLeast(bound),
                measured: ratio(quire, best(of: engines, operation, "rate", .higher)))
        }
    }

    private func ratio(_ a: Double?, _ b: Double?) -> Double? {
        guard let a, let b, b > 0 else { return nil }
        return a / b
    }

    var all: [Target] {
        rate("bulk ingest", .bulk, c: 0.8, sqlite: 5, normalised: 15)
            + time("page committed, not synced", .commit, "p50", c: 1.3, sqlite: 5)
            + time("page committed, synced", .commitSynced, "p50", c: 1.2, sqlite: 1)
            + rate("8 writers, synced", .group8, c: nil, sqlite: 4)
            + time("page read, p50", .read, "p50", c: 1.3, blobs: 2.2, normalised: 14)
            + time("page read, p99", .read, "p99", c: 1.3, blobs: 2.2, normalised: 14)
            + [throughC]
            + time("50 pages scrolled", .scroll, "p50", c: 1.1, blobs: 1.5)
            + time("100 ids checked", .contains, "p50", c: 1, sqlite: 8)
            + time("post updated, not synced", .update, "p50", c: 1.2, sqlite: 0.6)
            + [refresh] + time("prune, a page", .pruneLong, "page", c: 3, sqlite: 50)
            + opening + space
    }

    private var throughC: Target {
        let read = Operation.read.rawValue
        return Target(
            operation: "page read through the C API, p50", against: "C on LMDB, times its time",
            bound: .atMost(1.5),
            measured: ratio(size.median(read, "p50", .quireC), size.median(read, "p50", .lmdbC)))
    }

    private var refresh: Target {
        Target(
            operation: "refresh, longest feed", against: "10-page feed, times its time",
            bound: .atMost(1.2),
            measured: ratio(value(.refreshLong, "p50"), value(.refreshShort, "p50")))
    }

    private var opening: [Target] {
        [("warm", Operation.openWarm), ("warm, pruned", .openPruned), ("cold", .openCold)].map {
            title, operation in
            Target(
                operation: "open and first page, \(title)", against: "ms",
                bound: .atMost(operation == .openCold ? 1 : 0.5),
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
                operation: "file size", against: "bytes of delivered pages", bound: .atMost(1.1),
                measured: share),
            Target(
                operation: "file size", against: "SQLite, times its size", bound: .atMost(1.05),
                measured: ratio(share, others)),
            Target(
                operation: "heap", against: "MiB", bound: .atMost(32),
                measured: heap.map { $0 / 1_048_576 }),
        ]
    }
}
