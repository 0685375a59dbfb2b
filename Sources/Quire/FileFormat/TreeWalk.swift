/// Visits every page of a file that LMDB would use, each exactly once, and finds what LMDB could not handle,
/// since LMDB does not check page numbers, offsets and counts.
///
/// Memory: a bit for each page if it visits many, a page for each level of a tree, and the largest value.
///
/// It belongs to one thread, and no method calls back while it uses a property. So the program need not check
/// that accesses to the same property do not overlap.
final class TreeWalk {
    let file: LMDBFile
    let meta: MetaPage
    private let pageCount: UInt64
    @exclusivity(unchecked) private var used: PageSet
    /// The counts of the tree being walked.
    @exclusivity(unchecked) private var tally = Tally()
    @exclusivity(unchecked) private var order = Order()
    @exclusivity(unchecked) private var value =
        UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 8)
    private let context: CheckContext
    /// How many more pages of a tree to visit.
    @exclusivity(unchecked) private var budget = Int.max
    /// Longer values are not read. A run of the id index may hold a quarter of the index.
    private var longestValue = 1 << 22
    /// True if some values were longer.
    private(set) var hasUnread = false
    /// True if something was left out.
    private var isPartial = false
    /// True if the file has records, and the first does not belong to a cache.
    private(set) var isForeign = false

    /// How many free pages, never written, the file may lack at its end.
    private static let mostMissing: UInt64 = 1 << 20
    /// The maximum length of LMDB's keys.
    private static let longestKey = 511

    init(file: LMDBFile, meta: MetaPage, pageCount: UInt64, _ context: CheckContext) {
        (self.file, self.meta, self.pageCount) = (file, meta, pageCount)
        self.context = context
        used = PageSet(count: min(meta.lastPage + 1, pageCount + Self.mostMissing))
    }

    deinit { value.deallocate() }

    private func find(_ code: Finding.Code, _ location: String, _ message: String) {
        context.find(code, location, message)
    }

    typealias Visit = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void

    // MARK: The whole file

    /// Walks the whole file and calls `visit` with every record, in key order.
    func run(_ visit: Visit) throws(QuireError) {
        if meta.lastPage >= pageCount + Self.mostMissing {
            return find(.space, "file", "should have \(meta.lastPage + 1) pages, it has \(pageCount)")
        }
        try walk(meta.main, "tree", isFreeList: false, visit)
        longestValue = .max
        try walkFreeList()
        findLostPages()
    }

    /// Walks in both trees the way from the root to the first record, without values on pages of their own.
    /// The number of reads is the number of levels, whatever the size of the file and of its free list.
    func runToFirstRecord() throws(QuireError) {
        (budget, longestValue) = (Int(meta.main.depth), 0)
        try walk(meta.main, "tree", isFreeList: false) { _, _ in }
        budget = Int(meta.free.depth)
        try walkFreeList()
    }

    /// Reports pages that are neither used nor free, which is unknown after a partial walk.
    private func findLostPages() {
        if context.isStopped || isPartial { return }
        if let lost = used.firstMissing(from: 2) {
            find(.space, "page \(lost)", "is neither in use nor free")
        }
    }

    /// Returns how the file ends before its last page; nil if only free pages are missing.
    func missingPages() throws(QuireError) -> String? {
        longestValue = .max
        let cut = "is cut off after \(pageCount) of \(meta.lastPage + 1) pages"
        if meta.lastPage >= pageCount + Self.mostMissing { return cut }
        try walkFreeList()
        return !context.result.findings.isEmpty || used.firstMissing(from: pageCount) != nil ? cut : nil
    }

    /// Returns the free pages and those of their list; nil if the list is damaged.
    func unusedPages() throws(QuireError) -> PageSet? {
        try walkFreeList()
        return context.result.findings.isEmpty ? used : nil
    }

    private func walkFreeList() throws(QuireError) {
        try walk(meta.free, "free list", isFreeList: true) { key, value in
            let transaction = key.loadUnaligned(as: UInt64.self)
            // LMDB takes 0 for "none read yet", and would give out these pages again and again
            if transaction == 0 { find(.space, "free list", "pages of commit 0, which there is not") }
            if transaction > meta.transaction {
                find(.space, "free list", "pages of commit \(transaction), which is in the future")
            }
            claimFree(value)
        }
    }

    /// Marks the pages of a free-list record: a count, then page numbers, highest first.
    private func claimFree(_ value: UnsafeRawBufferPointer) {
        guard value.count >= 8, value.count % 8 == 0,
            value.loadUnaligned(as: UInt64.self) < UInt64(value.count / 8)
        else { return find(.space, "free list", "a record of \(value.count) bytes") }
        let count = Int(value.loadUnaligned(as: UInt64.self))
        var above = UInt64.max
        for place in 0..<count {
            let page = value.loadUnaligned(fromByteOffset: 8 + place * 8, as: UInt64.self)
            if page < 2 || page > meta.lastPage || page >= above {
                return find(.space, "free list", "page \(page) is out of order or out of range")
            }
            if !used.insert(page) { find(.space, "page \(page)", "is free, and in use or free twice") }
            above = page
        }
    }

    // MARK: A tree

    private struct Tally: Equatable {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflow: UInt64 = 0
        var entries: UInt64 = 0
    }

    /// Checks key order: each key is above those before it, and not below the key that leads to its page.
    private struct Order {
        var isFreeList = false
        var bound: [UInt8] = []
        var isReached = true

        mutating func accept(_ key: UnsafeRawBufferPointer, asSeparator: Bool) -> Bool {
            let comparison = compare(key)
            if comparison < 0 || comparison == 0 && (isReached || asSeparator) { return false }
            bound.removeAll(keepingCapacity: true)
            bound.append(contentsOf: key)
            isReached = !asSeparator
            return true
        }

        private func compare(_ key: UnsafeRawBufferPointer) -> Int {
            if bound.isEmpty { return 1 }
            return bound.withUnsafeBytes { bound in
                if isFreeList {
                    let (a, b) = (key.loadUnaligned(as: UInt64.self), bound.loadUnaligned(as: UInt64.self))
                    return a < b ? -1 : a > b ? 1 : 0
                }
                for (a, b) in zip(key, bound) where a != b { return a < b ? -1 : 1 }
                return key.count - bound.count
            }
        }
    }

    private func walk(
        _ tree: MetaPage.Tree, _ name: String, isFreeList: Bool, _ visit: Visit
    ) throws(QuireError) {
        (tally, order) = (Tally(), Order(isFreeList: isFreeList))
        if let root = tree.rootPage { try walkPage(root, levels: Int(tree.depth), visit) }
        let said = Tally(
            branches: tree.branchPages, leaves: tree.leafPages, overflow: tree.overflowPages,
            entries: tree.entries)
        if said != tally && !isPartial && !context.isStopped {
            find(.space, name, "says \(said), there are \(tally)")
        }
    }

    private func damaged(_ page: UInt64, _ message: String) { find(.page, "page \(page)", message) }

    /// Claims pages. Returns false if they are not all in the file, or already used.
    private func claim(_ page: UInt64, count: UInt64 = 1, for user: UInt64) -> Bool {
        guard page >= 2, count >= 1, page <= meta.lastPage, page < pageCount,
            count <= min(meta.lastPage + 1, pageCount) - page
        else {
            damaged(user, "names page \(page) of \(min(meta.lastPage + 1, pageCount))")
            return false
        }
        for each in page..<page + count where !used.insert(each) {
            damaged(user, "names page \(each), which is in use already")
            return false
        }
        return true
    }

    private func walkPage(_ page: UInt64, levels: Int, _ visit: Visit) throws(QuireError) {
        guard !context.isStopped, claim(page, for: page) else { return }
        if budget == 0 {
            isPartial = true
            return
        }
        budget -= 1
        context.step()
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: file.pageSize, alignment: 8)
        defer { bytes.deallocate() }
        guard try file.read(page, into: bytes) else { return damaged(page, "is not in the file") }
        let content = UnsafeRawBufferPointer(bytes)
        let header = PageHeader(content)
        if header.number != page { return damaged(page, "has the page number \(header.number)") }
        let isLeaf = levels == 1
        if header.flags != (isLeaf ? PageHeader.leaf : PageHeader.branch) {
            return damaged(page, "is no \(isLeaf ? "leaf" : "branch"): flags \(header.flags)")
        }
        if isLeaf, !order.isFreeList, tally.leaves == 0, let key = Node.firstKey(of: content) {
            isForeign = Table.format.key(key) == nil
        }
        guard let nodes = Nodes(of: content, header, isLeaf: isLeaf) else {
            return damaged(page, "its nodes do not fill it without gaps")
        }
        if !isLeaf && nodes.count < (order.isFreeList ? 1 : 2) {
            return damaged(page, "a branch with \(nodes.count) nodes")
        }
        if isLeaf { tally.leaves += 1 } else { tally.branches += 1 }
        for place in nodes.indices {
            let node = nodes[place]
            let key = UnsafeRawBufferPointer(rebasing: content[node.key])
            let isKey = order.isFreeList ? key.count == 8 : 1...Self.longestKey ~= key.count
            // The first key of a branch is never used.
            if isLeaf || place > 0 {
                guard isKey else { return damaged(page, "a key of \(key.count) bytes") }
                guard order.accept(key, asSeparator: !isLeaf) else {
                    return damaged(page, "keys are not in order")
                }
            }
            if context.isStopped { return }
            if isLeaf {
                try visitRecord(node, key, content, page, visit)
            } else {
                try walkPage(node.child, levels: levels - 1, visit)
            }
        }
    }

    private func visitRecord(
        _ node: Node, _ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer,
        _ page: UInt64, _ visit: Visit
    ) throws(QuireError) {
        tally.entries += 1
        let stored = UnsafeRawBufferPointer(rebasing: content[node.value])
        if !node.isElsewhere { return visit(key, stored) }
        let first = stored.loadUnaligned(as: UInt64.self)
        if longestValue == 0 {
            isPartial = true
            return _ = claim(first, for: page)
        }
        guard first >= 2, first < pageCount, let found = try file.header(of: first) else {
            return damaged(page, "names page \(first) of \(pageCount)")
        }
        let needed = UInt64((PageHeader.size + node.valueSize - 1) / file.pageSize + 1)
        if found.number != first || found.flags != PageHeader.overflow || found.pages < needed {
            return damaged(first, "does not hold a value of \(node.valueSize) bytes")
        }
        guard claim(first, count: found.pages, for: page) else { return }
        tally.overflow += found.pages
        context.step(found.pages)
        if node.valueSize > longestValue {
            isPartial = isPartial || order.isFreeList
            hasUnread = true
            return
        }
        let size = PageHeader.size + node.valueSize
        if value.count < size {
            value.deallocate()
            value = .allocate(byteCount: size, alignment: 8)
        }
        let target = UnsafeMutableRawBufferPointer(rebasing: value[..<size])
        guard try file.read(first, into: target) else { return damaged(first, "is cut off") }
        visit(key, UnsafeRawBufferPointer(rebasing: target[PageHeader.size...]))
    }
}
