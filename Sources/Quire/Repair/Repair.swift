extension Cache {
    /// Makes a damaged file a cache again, of what is sound in it, and keeps the damaged file beside it, as
    /// `<path>.corrupt-1` or the next free number. A sound file is left as it is.
    ///
    /// Posts are kept with their bodies, places and pins; fields, attributes, tombstones and gaps too. What
    /// is lost becomes a gap, or an open head or tail, with the best link that is left: a feed is complete
    /// afterwards only where nothing was lost. Requests under way become stale, and followers of changes are
    /// told to read the feeds anew. A feed whose own record is lost is lost, because its order class is
    /// unknown, and so is one that would not pass the test at the end. A file in which nothing can be read
    /// becomes an empty cache.
    ///
    /// The new file is built aside, tested by everything that ``verify(at:limit:)`` and ``check(limit:)``
    /// know, and put in place at once: whatever happens, the old file or the new one is there.
    /// - Parameters:
    ///   - path: The cache file.
    ///   - dryRun: Say what would be done; builds the new file, and removes it again.
    ///   - progress: Called with 0 to 1 now and then; what it throws stops the repair, which then has changed
    ///     nothing.
    /// - Throws: `.badArgument` if this process has the cache open, `.busy` if another process has it open,
    ///   `.notACache` and `.newerFormat` for files that are none, or not ours to change; `.diskFull`,
    ///   `.noPermission`.
    public static func repair(
        at path: String, dryRun: Bool = false, progress: (Double) throws -> Void = { _ in }
    ) throws -> RepairReport {
        try repair(at: path, dryRun: dryRun, Tuning(), progress: progress)
    }

    static func repair(
        at path: String, dryRun: Bool, _ tuning: Tuning, progress: (Double) throws -> Void
    ) throws -> RepairReport {
        let use = try ExclusiveUse(path)
        let draft = use.draft("repaired")
        defer { ExclusiveUse.remove(draft) }
        try progress(0)
        let findings = try damage(of: path, use) { try progress($0 * 0.1) }
        if findings.isEmpty {
            return RepairReport(findings: [], feeds: [], damagedRecords: 0, keptFile: nil, isEmptied: false)
        }
        let (feeds, damaged, isEmptied) = try withoutActuallyEscaping(progress) { progress in
            var recoveredFile = try RecoveredFile(Salvage(path)) { try progress(0.1 + $0 * 0.4) }
            try recoveredFile.requireOurs()
            // Damage that looks like something else cannot be believed: its feed is left out, or all of it.
            var leftOut: Set<String> = []
            while true {
                let feeds = try rebuild(recoveredFile, without: leftOut, at: draft, tuning) {
                    try progress(0.5 + $0 * 0.35)
                }
                let doubts = try use.findings(at: draft) { try progress(0.85 + $0 * 0.1) }
                if doubts.isEmpty { return (feeds, recoveredFile.damaged, false) }
                ExclusiveUse.remove(draft)
                let places = Set(doubts.map(\.location))
                let doubted = feeds.filter { !$0.isLost && places.contains("feed \($0.name)") }
                if doubted.isEmpty {
                    _ = try rebuild(nil, at: draft, tuning) { _ in }
                    return (feeds.map { RepairReport.Feed(lost: $0.name) }, recoveredFile.damaged, true)
                }
                leftOut.formUnion(doubted.map(\.name))
            }
        }
        try progress(0.95)
        var kept: String?
        if !dryRun {
            kept = try use.keep()
            try use.replace(with: draft)
        }
        return RepairReport(
            findings: findings, feeds: feeds, damagedRecords: damaged, keptFile: kept,
            isEmptied: isEmptied)
    }

    private static func damage(
        of path: String, _ use: borrowing ExclusiveUse, progress: (Double) throws -> Void
    ) throws -> [Finding] {
        do {
            return try use.findings(at: path, progress: progress)
        } catch let error as QuireError where [.notACache, .corrupt].contains(error.code) {
            return [Finding(code: .page, location: "file", message: error.message)]
        }
    }

    private static func rebuild(
        _ recoveredFile: RecoveredFile?, without leftOut: Set<String> = [], at draft: String,
        _ tuning: Tuning, progress: @escaping (Double) throws -> Void
    ) throws -> [RepairReport.Feed] {
        var options = CacheOptions(durability: .relaxed)
        options.tuning = tuning
        let cache = try Cache(at: draft, options: options)
        guard let recoveredFile else { return [] }
        var rebuilding = CacheRebuilder(recoveredFile, without: leftOut, into: cache, progress: progress)
        try rebuilding.run()
        return rebuilding.feeds
    }
}
