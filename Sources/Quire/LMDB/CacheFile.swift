import CLMDB

/// The constants of an open cache file. It is a class because every operation passes it on.
final class CacheFile: Sendable {
    /// The path of the cache, used in messages.
    let path: String
    /// The cache's secret for distributing ids in the index, so that a server cannot choose ids that collide.
    let seed: UInt64

    /// Raised when an older program could misread the file.
    static let formatVersion: UInt64 = 7

    private init(path: String, seed: UInt64) { (self.path, self.seed) = (path, seed) }

    /// Writes an empty cache to a new file.
    static func create(in environment: OpaquePointer, path: String) throws(QuireError) {
        let file = CacheFile(path: path, seed: .random(in: .min ... .max))
        defer { withExtendedLifetime(file) {} }
        try begin(environment, path, flags: 0) { handle throws(QuireError) in
            let transaction = Transaction(handle: handle, file: file)
            do {
                try transaction.put(.format, NoKey(), encodedFormat(seed: file.seed))
                try transaction.put(.counters, NoKey(), Counters())
            } catch {
                throw error as? QuireError ?? QuireError(.io, "\(path): cannot create the cache")
            }
        }
    }

    /// Opens a file, which must be a cache of the known format.
    static func open(in environment: OpaquePointer, path: String) throws(QuireError) -> CacheFile {
        var seed: UInt64 = 0
        let file = CacheFile(path: path, seed: 0)
        defer { withExtendedLifetime(file) {} }
        try begin(environment, path, flags: UInt32(MDB_RDONLY)) { handle throws(QuireError) in
            seed = try requireFormat(Transaction(handle: handle, file: file))
        }
        return CacheFile(path: path, seed: seed)
    }

    static func encodedFormat(seed: UInt64, version: UInt64 = formatVersion) -> [UInt8] {
        var writer = ByteWriter()
        writer.text("quire")
        writer.number(version)
        writer.number(seed)
        return writer.sealed()
    }

    /// Returns the cache's seed. Throws unless its format is the known one.
    private static func requireFormat(_ transaction: Transaction) throws(QuireError) -> UInt64 {
        let path = transaction.path
        var (version, seed) = (0 as UInt64, 0 as UInt64)
        if let value = try transaction.get(.format, NoKey()) {
            do throws(QuireError) {
                (version, seed) = try format(value)
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
        return seed
    }

    /// Decodes the format record: version 0 if it is not ours, a seed if the version is known.
    static func format(
        _ value: UnsafeRawBufferPointer
    ) throws(QuireError) -> (version: UInt64, seed: UInt64) {
        var reader = try ByteReader(value)
        if try reader.text() != "quire" { return (0, 0) }
        let version = try reader.number()
        return (version, version == formatVersion ? try reader.number() : 0)
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
            // The same order as LMDB's own, in fewer instructions. Programs with the other one read the file alike.
            mdb_set_compare(begun, tree, quire_compare_keys)
            try body(begun!)
        } catch {
            mdb_txn_abort(begun)
            throw error
        }
        try check(mdb_txn_commit(begun), "cannot open the cache", path)
    }
}
