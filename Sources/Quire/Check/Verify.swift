extension Cache {
    /// Opens a cache from somebody else, whose bytes could otherwise crash the process: first tests the whole
    /// file, as ``verify(at:limit:progress:)`` does. It reads all of it. A cache that this process has open
    /// already is not tested again.
    /// - Throws: `.corrupt` with the first finding; else as ``init(at:options:)``.
    public convenience init(verifying path: String, options: CacheOptions = CacheOptions()) throws(QuireError)
    {
        if try !FileCheck.isMissing(path) {
            if try !Environment.isOpen(path), let finding = try Self.verify(at: path, limit: 1).first {
                throw QuireError(.corrupt, "\(path): is damaged: \(finding)")
            }
        }
        try self.init(at: path, options: options)
    }

    /// Tests a file that no program uses, without trust in any byte of it. Returns at most `limit` findings;
    /// a file without findings can be opened and used.
    /// - Throws: as ``verify(at:limit:progress:)``.
    public static func verify(at path: String, limit: Int = 100) throws(QuireError) -> [Finding] {
        try verify(at: path, limit: limit) { _ in true }.findings
    }

    /// Tests a file that no program uses, without trust in any byte of it: first without LMDB, that its meta
    /// pages, trees and free pages are what LMDB writes and agree with the file, and that every record is of
    /// a table we know, has its checksum and is as the engine writes it. If so, LMDB can read the file, and
    /// what holds between the records is tested as ``check(_:limit:progress:)`` does. Changes nothing in the
    /// file; LMDB's lock file may appear beside it.
    ///
    /// It needs 4 MiB, a bit for each LMDB page, and what ``check(_:limit:progress:)``
    /// needs.
    /// - Parameters:
    ///   - path: The cache file.
    ///   - limit: Stop after this many findings, at least 1.
    ///   - progress: Called now and then on the calling thread; false stops.
    /// - Throws: `.notACache` and `.newerFormat` for files that are no caches of this format, `.badArgument`
    ///   if this process has the cache open, `.io` if others go on writing to it.
    public static func verify(
        at path: String, limit: Int = 100, progress: (CheckProgress) -> Bool
    ) throws(QuireError) -> CheckReport {
        if try Environment.isOpen(path) {
            throw QuireError(.badArgument, "\(path): is open in this process")
        }
        return try verify(at: path, limit: limit, isAlone: false, progress: progress)
    }

    /// - Parameter isAlone: no other process can have the file open, and none needs to be kept from it.
    static func verify(
        at path: String, limit: Int = 100, isAlone: Bool, progress: (CheckProgress) -> Bool
    ) throws(QuireError) -> CheckReport {
        do {
            return try withoutActuallyEscaping(progress) { progress in
                for _ in 0..<5 {
                    let context = CheckContext(limit: limit, report: progress)
                    if try Verification.run(path, context, isAlone) { return context.result }
                    if context.isAbandoned { return CheckReport(findings: [], isComplete: false) }
                }
                throw QuireError(.io, "\(path): is being written; use check instead")
            }
        } catch {
            throw error as? QuireError ?? QuireError(.io, "\(path): \(error)")
        }
    }
}

private enum Verification {
    /// False if another process has committed meanwhile.
    static func run(_ path: String, _ context: CheckContext, _ isAlone: Bool) throws -> Bool {
        let file = try LMDBFile(path)
        let before = try file.metaPages()
        let meta: MetaPage
        do throws(QuireError) {
            meta = try file.soundMeta()
        } catch {
            if error.code != .corrupt { throw error }
            context.find(.page, "meta pages", error.message)
            return try file.metaPages() == before
        }
        let isEachTested = try testRecords(file, meta, context)
        if try file.metaPages() != before { return false }
        if !context.result.findings.isEmpty || context.isStopped { return true }
        return try Environment.withTested(path, isAlone: isAlone) { transaction in
            // Another commit than the one that was tested.
            if transaction.number != meta.transaction { return false }
            var check = Check(transaction, context)
            try check.run(isEachTested: isEachTested)
            return true
        }
    }

    /// False if records were left out that are longer than memory is set aside for: they are tested when LMDB
    /// can map them.
    private static func testRecords(
        _ file: LMDBFile, _ meta: MetaPage, _ context: CheckContext
    ) throws -> Bool {
        var records = RecordCheck(context)
        let pageCount = try file.pageCount()
        context.expect(pageCount)
        context.reserve(pageCount)  // what holds between the records takes about as long
        let walk = TreeWalk(file: file, meta: meta, pageCount: pageCount, context)
        try walk.run { records.test($0, $1) }
        if let version = records.version, version > 0, version != CacheFile.formatVersion {
            throw CacheFile.foreign(file.path, version)
        }
        if context.isStopped { return true }
        if context.result.findings.isEmpty && records.version != CacheFile.formatVersion {
            throw QuireError(.notACache, "\(file.path): is an LMDB file, but not a Quire cache")
        }
        if records.version == nil { context.find(.header, "format", "there is none") }
        if !records.hasCounters { context.find(.missing, "counters", "there are none") }
        return !walk.hasUnread
    }
}

extension ExclusiveUse {
    /// Everything that ``Cache/verify(at:limit:)`` finds about this file, or about a draft.
    /// - Parameter progress: Called with 0 to 1 now and then; throws what it throws.
    func findings(at path: String, progress: (Double) throws -> Void) throws -> [Finding] {
        var reason: (any Error)?
        let report = try Cache.verify(at: path, isAlone: true) {
            do { try progress($0.fraction) } catch { reason = error }
            return reason == nil
        }
        if let reason { throw reason }
        return report.findings
    }
}
