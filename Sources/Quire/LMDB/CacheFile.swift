import CLMDB

/// The constants of an open cache file. It is a class because every operation passes it on.
final class CacheFile: Sendable {
    /// The path of the cache, used in messages.
    let path: String
    /// The cache's secret for distributing ids in the index, so that a server cannot choose ids that collide.
    let seed: UInt64
    /// True if only the one who follows a log may write.
    let isReplica: Bool

    /// Raised when an older program could misread the file.
    static let formatVersion: UInt64 = 8

    private init(path: String, seed: UInt64, isReplica: Bool) {
        (self.path, self.seed, self.isReplica) = (path, seed, isReplica)
    }

    /// Writes an empty cache to a new file.
    static func create(
        in environment: OpaquePointer, path: String, isReplica: Bool
    ) throws(QuireError) {
        let file = CacheFile(path: path, seed: .random(in: .min ... .max), isReplica: isReplica)
        defer { withExtendedLifetime(file) {} }
        try begin(environment, path, flags: 0) { handle throws(QuireError) in
            let transaction = Transaction(handle: handle, file: file)
            do {
                try transaction.put(.format, NoKey(), encodedFormat(seed: file.seed, isReplica: isReplica))
                try transaction.put(.counters, NoKey(), Counters())
            } catch {
                throw error as? QuireError ?? QuireError(.io, "\(path): cannot create the cache")
            }
        }
    }

    /// Opens a file, which must be a cache of the known format.
    static func open(in environment: OpaquePointer, path: String) throws(QuireError) -> CacheFile {
        var (seed, isReplica) = (0 as UInt64, false)
        let file = CacheFile(path: path, seed: 0, isReplica: false)
        defer { withExtendedLifetime(file) {} }
        try begin(environment, path, flags: UInt32(MDB_RDONLY)) { handle throws(QuireError) in
            (seed, isReplica) = try requireFormat(Transaction(handle: handle, file: file))
        }
        return CacheFile(path: path, seed: seed, isReplica: isReplica)
    }

    static func encodedFormat(
        seed: UInt64, version: UInt64 = formatVersion, isReplica: Bool = false
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.text("quire")
        writer.number(version)
        writer.number(seed)
        if isReplica { writer.flag(true) }
        return writer.sealed()
    }

    /// Returns what the format record says. Throws unless the format is the known one.
    private static func requireFormat(
        _ transaction: Transaction
    ) throws(QuireError) -> (seed: UInt64, isReplica: Bool) {
        let path = transaction.path
        var (version, seed, isReplica) = (0 as UInt64, 0 as UInt64, false)
        if let value = try transaction.get(.format, NoKey()) {
            do throws(QuireError) {
                (version, seed, isReplica) = try format(value)
            } catch {
                throw .corrupt("\(path): the header")
            }
        }
        if version == 0 {
            throw QuireError(
                .notACache,
                "\(path): is an LMDB file, but not a Quire cache, or one from before the first release")
        }
        if version != formatVersion { throw foreign(path, version) }
        return (seed, isReplica)
    }

    /// Decodes the format record: version 0 if it is not ours, a seed if the version is known.
    static func format(
        _ value: UnsafeRawBufferPointer
    ) throws(QuireError) -> (version: UInt64, seed: UInt64, isReplica: Bool) {
        var reader = try ByteReader(value)
        if try reader.text() != "quire" { return (0, 0, false) }
        let version = try reader.number()
        if version != formatVersion { return (version, 0, false) }
        return (version, try reader.number(), reader.isAtEnd ? false : try reader.flag())
    }

    /// Returns the error for a file of another version.
    static func foreign(_ path: String, _ version: UInt64) -> QuireError {
        if version < formatVersion {
            return QuireError(
                .notACache,
                "\(path): is a cache of an older Quire (format \(version), this one knows \(formatVersion)): "
                    + "remove it and fill a new one from the same pages, with quire ingest or the program's requests"
            )
        }
        return QuireError(
            .newerFormat,
            "\(path): was written by a newer Quire (format \(version), this one knows "
                + "\(formatVersion))")
    }

    private static func begin(
        _ environment: OpaquePointer, _ path: String, flags: UInt32,
        _ body: (OpaquePointer) throws(QuireError) -> Void
    ) throws(QuireError) {
        var begun: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, flags, &begun), "cannot open the cache", path)
        do throws(QuireError) {
            // LMDB can compare the tree's keys in this environment only after this call.
            var tree: MDB_dbi = 0
            try check(mdb_dbi_open(begun, nil, 0, &tree), "cannot open the cache", path)
            precondition(tree == Transaction.tree)
            // The same order as LMDB's own, in fewer instructions. Programs with the other one read the file
            // alike.
            mdb_set_compare(begun, tree, quire_compare_keys)
            try body(begun!)
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        try check(mdb_txn_commit(begun), "cannot open the cache", path)
    }
}
