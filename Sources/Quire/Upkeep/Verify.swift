extension Cache {
    /// Tests a file that no program uses, without LMDB and without trust in any byte of it: that its meta
    /// pages, trees and free pages are what LMDB writes and agree with the file, and that every record is of
    /// a table we know, has its checksum and decodes. A file without findings can be opened; then
    /// ``check(limit:)`` tests what holds between the records. Changes nothing.
    ///
    /// It reads the file once and needs memory for the largest record and a bit for each page.
    /// - Returns: at most `limit` findings.
    /// - Throws: `.notACache` and `.newerFormat` for files that are no caches of this format, `.badArgument`
    ///   if this process has the cache open, `.io` if others go on writing to it.
    public static func verify(at path: String, limit: Int = 100) throws(QuireError) -> [Finding] {
        try Environment.requireUnopened(path)
        let file = try LMDBFile(path)
        for _ in 0..<5 {
            let before = try file.metaPages()
            var findings: [Finding] = []
            do throws(QuireError) {
                var verification = try Verification(file, limit: limit)
                findings = try verification.run()
            } catch {
                if error.code != .corrupt { throw error }
                findings = [Finding(code: .page, place: "meta pages", message: error.message)]
            }
            if try file.metaPages() == before { return findings }
        }
        throw QuireError(.io, "\(path): is being written; use check instead")
    }
}

/// The records of a file, met in the order of their keys.
private struct Verification {
    private let walk: TreeWalk
    private var feeds: Set<UInt32> = []
    private var version: UInt64?
    private var hasCounters = false

    init(_ file: LMDBFile, limit: Int) throws(QuireError) {
        let meta = try file.soundMeta()
        walk = TreeWalk(file: file, meta: meta, pageCount: try file.pageCount(), limit: limit)
    }

    mutating func run() throws(QuireError) -> [Finding] {
        let path = walk.file.path
        try walk.run { test($0, $1) }
        if let version, version > CacheFile.formatVersion { throw CacheFile.newer(path, version) }
        if walk.findings.isEmpty && version != CacheFile.formatVersion {
            throw QuireError(.notACache, "\(path): is an LMDB file, but not a Quire cache")
        }
        if !hasCounters { walk.find(.missing, "counters", "there are none") }
        return walk.findings
    }

    private mutating func test(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let name = key.prefix(24).map { String($0, radix: 16) }.joined(separator: " ")
        guard let (table, feed) = Table.owner(of: key), let rest = table.key(key) else {
            return walk.find(.orphan, "key \(name)", "a record of no table")
        }
        if !ByteReader.isSealed(value) {
            return walk.find(.checksum, table.name.description, "key \(name)")
        }
        if let feed, !feeds.contains(feed) {
            walk.find(.orphan, table.name.description, "key \(name): of no feed")
        }
        do throws(QuireError) {
            try read(table, rest, value)
        } catch {
            walk.find(.unreadable, table.name.description, "key \(name)")
        }
    }

    /// Throws if the key or the value does not decode.
    private mutating func read(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        let name = table.name.description
        let keySize: ClosedRange<Int> =
            switch name {
            case "format", "counters", "feeds": 0...0
            case "names", "attributes": 1...255
            case "fields", "tombstones": 2...255
            default: 8...8
            }
        if !(keySize ~= key.count) { throw ByteReader.damage }
        switch name {
        case "format":
            version = try CacheFile.format(value).version
        case "names":
            feeds.insert(UInt32(truncatingIfNeeded: try ByteReader.number(value, name)))
        case "counters":
            _ = try Counters(value, name)
            hasCounters = true
        case "feeds": _ = try FeedRecord(value, name)
        case "pieces": _ = try PieceRecord(value, name)
        case "gaps": _ = try GapRecord(value, name)
        case "tickets": _ = try TicketRecord(value, name)
        case "pages": _ = try PageRecord(value, name)
        case "fields": _ = try FieldsRecord(value, name)
        case "body-use": _ = try BodyUse(value, name)
        case "tombstones": _ = try ByteReader.number(value, name)
        case "log": _ = try ChangeLog.entries(value, name)
        case "locations": if SortedRun(value) == nil { throw ByteReader.damage }
        case "bodies": if BodyStore.contents(value) == nil { throw ByteReader.damage }
        default:
            try ByteReader.read(value, name) { reader throws(QuireError) in _ = try reader.blob() }
        }
    }
}
