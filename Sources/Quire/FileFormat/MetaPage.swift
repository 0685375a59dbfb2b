/// The header of each LMDB page.
///
///     page u64 | unused u16 | flags u16 | end of the offsets u16 | start of the nodes u16      (a tree's page)
///     page u64 | unused u16 | flags u16 | pages u32                                      (an overflow page)
struct PageHeader {
    static let size = 16
    static let branch: UInt16 = 1
    static let leaf: UInt16 = 2
    static let overflow: UInt16 = 4
    static let meta: UInt16 = 8

    let number: UInt64
    let flags: UInt16
    let lower: Int
    let upper: Int
    let pages: UInt64

    init(_ bytes: UnsafeRawBufferPointer) {
        number = bytes.loadUnaligned(as: UInt64.self)
        flags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        pages = UInt64(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    }
}

/// One of the first two pages of an LMDB file: the roots of its trees as of a commit. Numbers have the byte
/// order of the machine that wrote the file. On a machine with another byte order the magic number is wrong.
///
///     header | magic u32 | version u32 | address u64 | map size u64 | free tree | main tree
///     | last page u64 | transaction u64
///     tree:  page size u32 | flags u16 | depth u16 | branch, leaf, overflow pages, entries, root u64
final class MetaPage: Equatable {
    static let size = 152

    struct Tree: Equatable {
        let flags: UInt16
        let depth: UInt16
        let branchPages: UInt64
        let leafPages: UInt64
        let overflowPages: UInt64
        let entries: UInt64
        private let root: UInt64

        fileprivate init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
            func number(_ place: Int) -> UInt64 {
                bytes.loadUnaligned(fromByteOffset: start + 8 + 8 * place, as: UInt64.self)
            }
            flags = bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self)
            depth = bytes.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self)
            (branchPages, leafPages, overflowPages) = (number(0), number(1), number(2))
            (entries, root) = (number(3), number(4))
        }

        /// The root page; nil for an empty tree.
        var rootPage: UInt64? { root == .max ? nil : root }
    }

    let header: PageHeader
    private let magic: UInt32
    private let version: UInt32
    let pageSize: UInt32
    let free: Tree
    let main: Tree
    let lastPage: UInt64
    let transaction: UInt64

    /// Reads a meta page from at least `size` bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        header = PageHeader(bytes)
        magic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        pageSize = bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self)
        (free, main) = (Tree(bytes, at: 40), Tree(bytes, at: 88))
        lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    }

    static func newest(_ metas: [MetaPage]) -> MetaPage {
        metas[0].transaction < metas[1].transaction ? metas[1] : metas[0]
    }

    var isLMDB: Bool { magic == 0xBEEF_C0DE && version == 1 && header.flags == PageHeader.meta }

    /// Returns what is wrong with the page by itself, or nil.
    func damage(page: UInt64, pageSize: Int) -> String? {
        if !isLMDB || header.number != page { return "is not LMDB's" }
        if Int(self.pageSize) != pageSize { return "has a page size of \(self.pageSize) bytes" }
        // LMDB stores flags of the environment with those of the free list: 0x4000 is MDB_NOSUBDIR.
        if free.flags & ~0x4000 != 8 || main.flags != 0 { return "a tree has unknown flags" }
        if lastPage < 1 || lastPage >= UInt64(1) << 47 { return "the last page is \(lastPage)" }
        if transaction >= UInt64(1) << 62 { return "the transaction is \(transaction)" }
        for tree in [free, main] {
            if tree.depth > 32 || (tree.depth == 0) != (tree.rootPage == nil) {
                return "a tree of \(tree.depth) levels"
            }
            if let root = tree.rootPage, root < 2 { return "the root of a tree is page \(root)" }
        }
        return nil
    }

    static func == (a: MetaPage, b: MetaPage) -> Bool {
        a.isLMDB == b.isLMDB && a.pageSize == b.pageSize && a.free == b.free && a.main == b.main
            && a.lastPage == b.lastPage && a.transaction == b.transaction
            && a.header.number == b.header.number
    }
}
