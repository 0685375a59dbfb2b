import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A record of many LMDB pages that a write transaction has reserved and filled.
///
/// LMDB writes such a record with one call, together with what stands next to it. Linux makes large folios
/// of its page cache then (seen with ext4 and Linux 6.18). A later write of one LMDB page into such a folio
/// visits each 4 KB of it. LMDB writes single pages where a run of the id index was, or a leaf beside the
/// bodies of a bulk load: that took half of the time of an update. A folio takes the place of no other. So
/// every fourth page is written by itself before LMDB writes the record as a whole.
struct LargeRecord {
    /// Smaller records make small folios.
    private static let leastSize = 1 << 16
    /// LMDB's flag for a page that is not written yet.
    private static let dirty: UInt16 = 0x10
    /// A folio begins at a multiple of its size. So none between two such pages has more than two pages.
    static let distance = 4

    private let pages: UnsafeRawPointer
    private let first: Int
    private let count: Int

    /// Returns nil for a small record, and for one that is not on pages of its own as LMDB 0.9 makes them.
    init?(_ record: UnsafeRawBufferPointer) {
        guard record.count >= Self.leastSize else { return nil }
        pages = record.baseAddress! - PageHeader.size
        let header = PageHeader(UnsafeRawBufferPointer(start: pages, count: PageHeader.size))
        guard header.flags == PageHeader.overflow | Self.dirty else { return nil }
        (first, count) = (Int(header.number), Int(header.pages))
    }

    /// Writes pages as LMDB will write them at the commit, to where it will write them. No reader sees these
    /// pages: they were free, or are beyond the end of the file. LMDB will meet the same errors.
    func divideFolios(of transaction: OpaquePointer) {
        #if os(Linux)
            var tree = MDB_stat()
            mdb_stat(transaction, Transaction.tree, &tree)
            let size = Int(tree.ms_psize)
            var descriptor: mdb_filehandle_t = -1
            mdb_env_get_fd(mdb_txn_env(transaction), &descriptor)
            for page in stride(from: -first & (Self.distance - 1), to: count, by: Self.distance) {
                let offset = off_t(first + page) * off_t(size)
                if pwrite(descriptor, pages + page * size, size, offset) != size { return }
            }
        #endif
    }
}
