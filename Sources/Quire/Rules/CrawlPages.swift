/// What a crawl remembers of its pages, by their numbers: at most 1,024, those with the highest numbers.
///
/// They are in blocks, so that a copy which changes shares all but one of them. A crawl is copied for each
/// page that may yet be refused.
struct CrawlPages {
    /// A page whose last entry or whose link to the next page is known.
    struct Page: Hashable {
        let number: Int
        var end: PostID?
        var next: Link?
    }

    static let limit = 1_024
    private static let blockLimit = 64

    private var count = 0
    /// The numbers ascend. No block is empty.
    private var blocks: [[Page]] = []

    var last: Page? { blocks.last?.last }

    /// The pages, the highest number first.
    var descending: ReversedCollection<FlattenSequence<[[Page]]>> { blocks.joined().reversed() }

    subscript(number: Int) -> Page? {
        if blocks.isEmpty { return nil }
        let page = blocks[block(of: number)].last { $0.number <= number }
        return page?.number == number ? page : nil
    }

    /// Changes what is remembered of a page; the change leaves an end or a link.
    mutating func update(_ number: Int, _ change: (inout Page) -> Void) {
        if blocks.isEmpty { blocks = [[]] }
        let block = block(of: number)
        let above = blocks[block].lastIndex { $0.number <= number }
        if let above, blocks[block][above].number == number { return change(&blocks[block][above]) }
        var page = Page(number: number)
        change(&page)
        blocks[block].insert(page, at: above.map { $0 + 1 } ?? 0)
        count += 1
        if blocks[block].count > Self.blockLimit { split(block) }
        if count > Self.limit { removeFirst() }
    }

    /// Returns the block that has this number, or to which it belongs.
    private func block(of number: Int) -> Int {
        var block = blocks.count - 1
        while block > 0, blocks[block][0].number > number { block -= 1 }
        return block
    }

    private mutating func split(_ block: Int) {
        let middle = blocks[block].count / 2
        blocks.insert(Array(blocks[block][middle...]), at: block + 1)
        blocks[block].removeSubrange(middle...)
    }

    private mutating func removeFirst() {
        blocks[0].removeFirst()
        if blocks[0].isEmpty { blocks.removeFirst() }
        count -= 1
    }
}

extension CrawlPages: Hashable {
    /// How the pages are cut into blocks depends on the order in which they came.
    static func == (a: Self, b: Self) -> Bool { a.blocks.joined().elementsEqual(b.blocks.joined()) }

    func hash(into hasher: inout Hasher) {
        for page in blocks.joined() { hasher.combine(page) }
    }
}
