/// Reads the records of a damaged file that are still readable, in key order, and notes where others may be
/// missing. LMDB never opens the file, and every value is validated before use.
///
/// The tree of the newest meta page is walked, skipping what is damaged. If a branch page is lost, the leaves
/// below it are found among the pages that are neither free nor reached. Memory: two keys for each leaf.
final class Salvage {
    /// The location of a record.
    struct NodeAddress: Hashable {
        let leaf: UInt64
        let node: Int
    }

    struct Record {
        let key: UnsafeRawBufferPointer
        /// Nil if it cannot be read or its checksum is wrong.
        let value: [UInt8]?
        let address: NodeAddress
        /// True if records may be missing directly before this one.
        let isAfterBreak: Bool
    }

    private struct Leaf {
        let page: UInt64
        let first: [UInt8]
        let last: [UInt8]
        /// True if other leaves may be missing above this one.
        var isAfterBreak: Bool
        /// True if it was found without the page that led to it.
        let isStray: Bool
    }

    let file: LMDBFile
    /// The number of LMDB's last commit; nil if no meta page is readable.
    let transaction: UInt64?
    /// True if the other meta page is damaged. It may have been the newer one.
    let mayLackCommit: Bool
    private let pageCount: UInt64
    /// The free pages and those of their list; nil if the list is damaged.
    private let unused: PageSet?
    private var reached: PageSet
    private var leaves: [Leaf] = []
    /// True if something is missing below the last leaf.
    private(set) var isCutOff = false
    /// The leaf that was read last.
    private var open: (page: UInt64, bytes: UnsafeMutableRawBufferPointer, nodes: [Node])

    init(_ path: String) throws(QuireError) {
        file = try LMDBFile(damaged: path)
        pageCount = try file.pageCount()
        reached = PageSet(count: pageCount)
        open = (0, .allocate(byteCount: file.pageSize, alignment: 8), [])
        let metas = try file.plausibleMetas()
        let meta = metas.max { $0.transaction < $1.transaction }
        transaction = meta?.transaction
        mayLackCommit = metas.count == 1
        if let meta {
            unused = try TreeWalk(
                file: file, meta: meta, pageCount: pageCount, CheckContext(limit: 1) { _ in true }
            ).unusedPages()
        } else {
            unused = nil
        }
        guard let meta else { return }
        if let root = meta.main.rootPage { try walk(root, levels: 32) }
        if isCutOff || UInt64(leaves.count) != meta.main.leafPages { try findStrays() }
        arrange(expected: meta.main.leafPages)
    }

    deinit { open.bytes.deallocate() }

    // MARK: Leaves

    private func walk(_ page: UInt64, levels: Int) throws(QuireError) {
        guard levels > 0, page >= 2, page < pageCount, unused?.contains(page) != true,
            reached.insert(page), let header = try file.header(of: page)
        else {
            isCutOff = true
            return
        }
        if header.flags == PageHeader.leaf {
            let isAdded = try addLeaf(page, isAfterBreak: isCutOff, isStray: false)
            isCutOff = !isAdded
            return
        }
        guard let nodes = try nodes(of: page, isLeaf: false) else {
            isCutOff = true
            return
        }
        for child in nodes.map(\.child) { try walk(child, levels: levels - 1) }
    }

    /// Reads a page into `open` and returns its nodes; nil if it is not as LMDB writes it.
    private func nodes(of page: UInt64, isLeaf: Bool) throws(QuireError) -> [Node]? {
        if isLeaf && open.page == page { return open.nodes }
        open.page = 0
        guard try file.read(page, into: open.bytes) else { return nil }
        let content = UnsafeRawBufferPointer(open.bytes)
        let header = PageHeader(content)
        guard header.number == page,
            header.flags == (isLeaf ? PageHeader.leaf : PageHeader.branch),
            let nodes = Nodes(of: content, header, isLeaf: isLeaf).map(Array.init)
        else { return nil }
        if isLeaf { (open.page, open.nodes) = (page, nodes) }
        return nodes
    }

    private func key(_ node: Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(open.bytes)[node.key])
    }

    /// Adds a leaf. Returns false if the page is not a leaf as LMDB writes it, with its keys in order.
    private func addLeaf(_ page: UInt64, isAfterBreak: Bool, isStray: Bool) throws(QuireError) -> Bool {
        guard let nodes = try nodes(of: page, isLeaf: true), let first = nodes.first, let last = nodes.last,
            nodes.allSatisfy({ 1...511 ~= $0.key.count }),
            zip(nodes, nodes.dropFirst()).allSatisfy({ key($0).lexicographicallyPrecedes(key($1)) })
        else { return false }
        leaves.append(
            Leaf(
                page: page, first: Array(key(first)), last: Array(key(last)),
                isAfterBreak: isAfterBreak, isStray: isStray))
        return true
    }

    /// Finds leaves below lost pages: pages that are neither free nor reached. Without a sound free list they
    /// cannot be told from leaves that were abandoned long ago.
    private func findStrays() throws(QuireError) {
        guard let unused else { return }
        var page: UInt64 = 2
        while page < pageCount {
            defer { page += 1 }
            if unused.contains(page) || reached.contains(page) { continue }
            guard let header = try file.header(of: page), header.number == page else { continue }
            if header.flags == PageHeader.overflow {
                page += min(max(header.pages, 1), pageCount) - 1
            } else if header.flags == PageHeader.leaf {
                _ = try addLeaf(page, isAfterBreak: true, isStray: true)
            }
        }
    }

    /// Sorts the leaves. If their number matches LMDB's count, nothing is missing between them.
    private func arrange(expected: UInt64) {
        leaves.sort { $0.first.lexicographicallyPrecedes($1.first) }
        let isComplete = UInt64(leaves.count) == expected
        var kept: [Leaf] = []
        var overlaps = false
        for var leaf in leaves {
            if let above = kept.last, !above.last.lexicographicallyPrecedes(leaf.first) {
                overlaps = true
                continue
            }
            if overlaps || kept.last?.isStray == true { leaf.isAfterBreak = true }
            kept.append(leaf)
        }
        isCutOff = isCutOff || kept.last?.isStray != false
        if isComplete && !overlaps {
            for i in kept.indices { kept[i].isAfterBreak = false }
            isCutOff = false
        }
        leaves = kept
    }

    // MARK: Records

    /// Calls `visit` with every record, and `progress` with the fraction visited.
    func forEach(progress: (Double) throws -> Void, _ visit: (Record) throws -> Void) throws {
        for (i, leaf) in leaves.enumerated() {
            try progress(Double(i) / Double(leaves.count))
            guard let nodes = try nodes(of: leaf.page, isLeaf: true) else { continue }
            for (number, node) in nodes.enumerated() {
                _ = try self.nodes(of: leaf.page, isLeaf: true)  // `visit` may have read another leaf
                try visit(
                    Record(
                        key: key(node), value: try value(node),
                        address: NodeAddress(leaf: leaf.page, node: number),
                        isAfterBreak: leaf.isAfterBreak && number == 0))
            }
        }
    }

    /// Calls `visit` with the readable records on pages unknown to the newest meta page: those that a later
    /// commit wrote, and many abandoned ones.
    func forEachUnused(_ visit: (Record) throws -> Void) throws {
        for page in 2..<max(pageCount, 2) where !reached.contains(page) {
            guard let nodes = try nodes(of: page, isLeaf: true) else { continue }
            for (number, node) in nodes.enumerated() {
                try visit(
                    Record(
                        key: key(node), value: try value(node),
                        address: NodeAddress(leaf: page, node: number), isAfterBreak: false))
            }
        }
    }

    /// Returns the bytes of a record that was visited.
    func value(at address: NodeAddress) throws(QuireError) -> [UInt8]? {
        guard let nodes = try nodes(of: address.leaf, isLeaf: true), address.node < nodes.count else {
            return nil
        }
        return try value(nodes[address.node])
    }

    private func value(_ node: Node) throws(QuireError) -> [UInt8]? {
        let stored = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(open.bytes)[node.value])
        if !node.isElsewhere {
            return Checksum.isValid(stored) || Checksum.isOlderFormat(stored) ? Array(stored) : nil
        }
        let first = stored.loadUnaligned(as: UInt64.self)
        let needed = UInt64((PageHeader.size + node.valueSize - 1) / file.pageSize + 1)
        guard first >= 2, first < pageCount, needed <= pageCount - first,
            let header = try file.header(of: first), header.number == first,
            header.flags == PageHeader.overflow, header.pages >= needed
        else { return nil }
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: PageHeader.size + node.valueSize, alignment: 8)
        defer { bytes.deallocate() }
        guard try file.read(first, into: bytes) else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: bytes[PageHeader.size...])
        return Checksum.isValid(value) ? Array(value) : nil
    }
}
