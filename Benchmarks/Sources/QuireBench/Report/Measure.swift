/// A line of the table of absolute numbers.
struct Measure: Sendable {
    let title: String
    let value: @Sendable (SizeResult, EngineName) -> Double?

    private init(_ title: String, _ value: @escaping @Sendable (SizeResult, EngineName) -> Double?) {
        (self.title, self.value) = (title, value)
    }

    private init(_ title: String, _ operation: Operation, _ metric: String, divisor: Double = 1) {
        self.init(title) { size, engine in
            size.median(operation.rawValue, metric, engine).map { $0 / divisor }
        }
    }

    static let all: [Measure] = [
        Measure("bulk, thousand posts/s", .bulk, "rate", divisor: 1_000),
        Measure("bulk, last tenth, thousand posts/s", .bulk, "lastRate", divisor: 1_000),
        Measure("bulk, worst transaction, ms", .bulk, "worst", divisor: 1_000),
        Measure("bulk, bytes written / delivered", .bulk, "amplification"),
        Measure("bulk synced, thousand posts/s", .bulkSynced, "rate", divisor: 1_000),
        Measure("page read, µs", .read, "p50"),
        Measure("page read, p99", .read, "p99"),
        Measure("page read, hot, µs", .readHot, "p50"),
        Measure("page read, hot, p99", .readHot, "p99"),
        Measure("scroll of 50 pages, µs", .scroll, "p50"),
        Measure("scroll of 50 pages, p99", .scroll, "p99"),
        Measure("100 ids checked, µs", .contains, "p50"),
        Measure("100 ids checked, p99", .contains, "p99"),
        Measure("post by id, µs", .post, "p50"),
        Measure("post by id, p99", .post, "p99"),
        Measure("update, µs", .update, "p50"),
        Measure("update, p99", .update, "p99"),
        Measure("update synced, µs", .updateSynced, "p50"),
        Measure("page committed, µs", .commit, "p50"),
        Measure("page committed, p99", .commit, "p99"),
        Measure("page committed, bytes written / delivered") { size, engine in
            guard let written = size.median("commit", "written", engine),
                let delivered = size.median("commit", "delivered", engine)
            else { return nil }
            return written / delivered
        },
        Measure("page committed synced, µs", .commitSynced, "p50"),
        Measure("page committed synced, p99", .commitSynced, "p99"),
        Measure("refresh, 10-page feed, µs", .refreshShort, "p50"),
        Measure("refresh, medium feed, µs", .refreshMedium, "p50"),
        Measure("refresh, longest feed, µs", .refreshLong, "p50"),
        Measure("page read beside a writer, µs", .beside, "p50"),
        Measure("page read beside a writer, p99", .beside, "p99"),
        Measure("page committed beside readers, µs", .beside, "writeP50"),
        Measure("1 writer synced, commits/s", .group1, "rate"),
        Measure("8 writers synced, commits/s", .group8, "rate"),
        Measure("64 writers synced, commits/s", .group64, "rate"),
        Measure("open and first page, warm, µs", .openWarm, "first"),
        Measure("open and first page after the prunes, warm, µs", .openPruned, "first"),
        Measure("open and first page, cold, µs", .openCold, "first"),
        Measure("prune, medium feed, µs a page", .pruneMedium, "page"),
        Measure("prune, longest feed, µs a page", .pruneLong, "page"),
        Measure("file / bytes of distinct posts") { fileShare($0, $1, "distinct") },
        Measure("file / bytes of delivered pages") { fileShare($0, $1, "delivered") },
        Measure("heap in the bulk load, MB") { size, engine in
            size.median("footprint", "heap", engine).map { $0 / 1e6 }
        },
        Measure("heap in the end, MB") { size, engine in
            size.median("footprint-end", "heap", engine).map { $0 / 1e6 }
        },
        Measure("peak memory with mapped files, MB") { size, engine in
            size.median("footprint-end", "peak", engine).map { $0 / 1e6 }
        },
    ]

    /// The file after the bulk load.
    static func fileShare(_ size: SizeResult, _ engine: EngineName, _ of: String) -> Double? {
        guard let disk = size.median("footprint", "disk", engine),
            let bytes = size.median("footprint", of, engine), bytes > 0
        else { return nil }
        return disk / bytes
    }

    /// A row for each measure that at least one engine has.
    static func table(of size: SizeResult) -> Table {
        let engines = size.engines.map(\.engine)
        var table = Table(header: [""] + engines.map(\.rawValue))
        for measure in all {
            let values = engines.map { measure.value(size, $0) }
            if values.allSatisfy({ $0 == nil }) { continue }
            table.rows.append([measure.title] + values.map { $0.map { number($0) } ?? "" })
        }
        return table
    }
}
