#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads an LMDB file without LMDB, which would trust every byte. Here each number is compared with the file
/// before it is used, and the file is read, never mapped.
///
/// Do not use this for a cache that this process has open: closing any descriptor of the file may drop LMDB's
/// locks.
final class LMDBFile {
    let path: String
    let pageSize: Int
    private let descriptor: Int32

    /// True if commits of this boot of the machine are in the kernel's memory only.
    let isUnflushed: Bool

    /// Opens a file of LMDB's format 1.
    /// - Throws: `.unclean` if its commits were not flushed before the machine stopped.
    init(_ path: String) throws(QuireError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw QuireError.system("cannot open the cache", path, errno) }
        do throws(QuireError) {
            (pageSize, isUnflushed) = try Self.header(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    /// Opens a damaged file without trusting its first page. Takes the page size from a meta page that is at
    /// the offset it implies, or else LMDB's default on this machine.
    init(damaged path: String) throws(QuireError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw QuireError.system("cannot open the cache", path, errno) }
        var size = Int(sysconf(Int32(_SC_PAGESIZE)))
        for candidate in [0, 512, 1024, 2048, 4096, 8192, 16_384, 32_768] {
            var header = [UInt8](repeating: 0, count: MetaPage.size)
            let count = pread(descriptor, &header, header.count, off_t(candidate))
            guard count == header.count else { continue }
            let meta = header.withUnsafeBytes { MetaPage($0) }
            let said = Int(meta.pageSize)
            if meta.isLMDB && 512...32_768 ~= said && said & (said - 1) == 0
                && (candidate == 0 || candidate == said)
            {
                size = said
            }
        }
        (self.path, self.descriptor, pageSize, isUnflushed) = (path, descriptor, size, false)
    }

    deinit { close(descriptor) }

    /// Returns the page size from the first meta page, and whether the file has the mark of this boot.
    private static func header(
        _ descriptor: Int32, _ path: String
    ) throws(QuireError) -> (pageSize: Int, isUnflushed: Bool) {
        var header = [UInt8](repeating: 0, count: UnflushedMark.offset + UnflushedMark.size)
        let count = pread(descriptor, &header, header.count, 0)
        if count < 0 { throw QuireError.system("cannot read the cache", path, errno) }
        let meta = header.withUnsafeBytes { count >= MetaPage.size ? MetaPage($0) : nil }
        guard let meta, meta.isLMDB else {
            throw QuireError(.notACache, "\(path): is not a Quire cache")
        }
        let size = Int(meta.pageSize)
        guard 512...32_768 ~= size, size & (size - 1) == 0 else {
            throw QuireError(.notACache, "\(path): is not a Quire cache: its page size is \(size) bytes")
        }
        if size <= UnflushedMark.offset { return (size, false) }
        return (size, try UnflushedMark.test(header[UnflushedMark.offset...], path))
    }

    /// Returns the current number of whole pages in the file.
    func pageCount() throws(QuireError) -> UInt64 {
        var status = stat()
        if fstat(descriptor, &status) != 0 {
            throw QuireError.system("cannot read the cache", path, errno)
        }
        return UInt64(max(status.st_size, 0)) / UInt64(pageSize)
    }

    /// Fills the buffer, starting at a page. Returns false if the file ends before.
    func read(_ page: UInt64, into target: UnsafeMutableRawBufferPointer) throws(QuireError) -> Bool {
        guard page < UInt64(1) << 47 else { return false }
        var done = 0
        while done < target.count {
            let offset = off_t(page) * off_t(pageSize) + off_t(done)
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, offset)
            if count == 0 { return false }
            if count < 0 && errno != EINTR {
                throw QuireError.system("cannot read the cache", path, errno)
            }
            done += max(count, 0)
        }
        return true
    }

    // MARK: Meta pages

    /// Returns both meta pages. LMDB writes them in turn and reads the one with the higher transaction
    /// number.
    func metaPages() throws(QuireError) -> [MetaPage] {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: pageSize + MetaPage.size, alignment: 8)
        defer { bytes.deallocate() }
        guard try read(0, into: bytes), try pageCount() >= 2 else {
            throw QuireError(.notACache, "\(path): is cut off within its header")
        }
        var metas: [MetaPage] = []
        for start in [0, pageSize] {
            metas.append(MetaPage(UnsafeRawBufferPointer(rebasing: bytes[start...])))
        }
        return metas
    }

    /// Returns the meta page that LMDB will read, if both are as LMDB writes them and refer only to pages in
    /// the file. With the way to the first record of each tree this is the quick part of
    /// ``Cache/verify(at:limit:)``, done at every open with a few reads, whatever the size of the file.
    func soundMeta(walksToFirstRecord: Bool = false) throws(QuireError) -> MetaPage {
        try soundMeta(of: metaPages(), walksToFirstRecord)
    }

    /// The same, for the meta pages as they were read before.
    func soundMeta(of read: [MetaPage], _ walksToFirstRecord: Bool) throws(QuireError) -> MetaPage {
        var metas = read
        while let fault = try fault(of: metas, walksToFirstRecord) {
            // Another process may have committed meanwhile: then the pages have changed, or were used again.
            let again = try metaPages()
            if again == metas { throw fault }
            metas = again
        }
        return MetaPage.newest(metas)
    }

    /// Returns the meta pages that are as LMDB writes them.
    func plausibleMetas() throws(QuireError) -> [MetaPage] {
        var metas: [MetaPage] = []
        for page in 0...1 as ClosedRange<UInt64> {
            if let meta = try head(of: page, MetaPage.size, MetaPage.init),
                meta.damage(page: page, pageSize: pageSize) == nil
            {
                metas.append(meta)
            }
        }
        return metas
    }

    /// Returns what is wrong with what these meta pages say; nil if nothing is.
    private func fault(of metas: [MetaPage], _ walksToFirstRecord: Bool) throws(QuireError) -> QuireError? {
        func damaged(_ what: String) -> QuireError { QuireError(.corrupt, "\(path): is damaged: \(what)") }
        for (page, meta) in metas.enumerated() {
            if let damage = meta.damage(page: UInt64(page), pageSize: pageSize) {
                return damaged("meta page \(page): \(damage)")
            }
        }
        let meta = MetaPage.newest(metas)
        if meta.transaction != 0 && meta.transaction & 1 != UInt64(meta === metas[0] ? 0 : 1) {
            return damaged("the newest meta page is in the wrong place")
        }
        let count = try pageCount()
        func fault(of tree: MetaPage.Tree, _ name: String) throws(QuireError) -> QuireError? {
            guard let root = tree.rootPage else { return nil }
            if root > meta.lastPage || root >= count {
                return damaged("the root of the \(name) is page \(root); the file has \(count) pages")
            }
            if walksToFirstRecord { return nil }  // from there
            return try damage(ofRoot: root, tree).map { damaged("page \(root): \($0)") }
        }
        if let fault = try fault(of: meta.free, "free list") { return fault }
        if let fault = try fault(of: meta.main, "tree") { return fault }
        let context = CheckContext(limit: 1) { _ in true }
        // Free pages may be missing at the end. Any other missing page was cut off.
        if meta.lastPage >= count {
            let walk = TreeWalk(file: self, meta: meta, pageCount: count, context)
            if let damage = try walk.missingPages() { return damaged(damage) }
        }
        if !walksToFirstRecord { return nil }
        let walk = TreeWalk(file: self, meta: meta, pageCount: count, context)
        try walk.runToFirstRecord()
        if walk.isForeign {
            return QuireError(.notACache, "\(path): is an LMDB file, but not a Quire cache")
        }
        return context.result.findings.first.map { damaged($0.description) }
    }

    private func damage(ofRoot root: UInt64, _ tree: MetaPage.Tree) throws(QuireError) -> String? {
        let header = try header(of: root)
        let kind = tree.depth == 1 ? PageHeader.leaf : PageHeader.branch
        return header?.number == root && header?.flags == kind ? nil : "is not the root of a tree"
    }

    /// Returns the header of a page; nil if the file ends before it.
    func header(of page: UInt64) throws(QuireError) -> PageHeader? {
        try head(of: page, PageHeader.size, PageHeader.init)
    }

    private func head<T>(
        of page: UInt64, _ size: Int, _ parse: (UnsafeRawBufferPointer) -> T
    ) throws(QuireError) -> T? {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { bytes.deallocate() }
        return try read(page, into: bytes) ? parse(UnsafeRawBufferPointer(bytes)) : nil
    }
}

extension FileCheck {
    /// Runs the quick part of ``Cache/verify(at:limit:)``. Do not call it for a file that this process has
    /// open: closing any descriptor of the file may drop LMDB's locks.
    /// Returns true if commits of the file were not flushed.
    @discardableResult
    static func requireCache(_ path: String) throws(QuireError) -> Bool {
        let file = try LMDBFile(path)
        _ = try file.soundMeta(walksToFirstRecord: true)
        return file.isUnflushed
    }
}
