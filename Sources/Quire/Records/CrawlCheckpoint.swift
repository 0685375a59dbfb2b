// The state of a crawl as bytes. If it is stored with the feed, in the same commit as the crawl's pages,
// another process can continue the crawl.

extension Crawl {
    /// The encoded crawl, up to 60,000 bytes, for ``Feed/setAttribute(_:to:)``. If long ids would exceed
    /// that, the pages with the lowest numbers are left out.
    public var checkpoint: [UInt8] {
        var room = 60_000 - 64
        let remembered = pages.descending.prefix { page in
            room -= 52
            if case .bytes(let bytes)? = page.end?.storage { room -= bytes.count }
            room -= page.next?.description.utf8.count ?? 0
            return room >= 0
        }
        var writer = ByteWriter()
        encode(&writer, remembered)
        return writer.sealed()
    }

    /// Writes the crawl with what it knows of these pages.
    private func encode(_ writer: inout ByteWriter, _ pages: some Sequence<CrawlPages.Page>) {
        switch start {
        case .head(let page):
            writer.byte(0)
            writer.signed(Int64(page))
        case .tail: writer.byte(1)
        case .gap(let gap):
            writer.byte(2)
            writer.number(gap.number)
        }
        writer.optional(lastNumber) { $0.signed(Int64($1)) }
        writer.list(pages.filter { $0.end != nil }) { writer, page in
            writer.signed(Int64(page.number))
            page.end!.encode(&writer)
        }
        writer.list(pages.filter { $0.next != nil }) { writer, page in
            writer.signed(Int64(page.number + 1))
            page.next!.encode(&writer)
        }
    }

    /// Decodes a crawl from its ``checkpoint``.
    /// - Throws: ``QuireError`` with code `.corrupt` if the bytes are not a checkpoint.
    public init(checkpoint: [UInt8]) throws(QuireError) {
        let bytes = checkpoint  // a closure on a pointer cannot throw a typed error
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(QuireError) in
                guard Checksum.isValid(bytes) else { throw .corrupt("the checkpoint of a crawl") }
                return try ByteReader.read(bytes, "the checkpoint of a crawl") { reader throws(QuireError) in
                    try Self(&reader)
                }
            }
        }
        self = try result.get()
    }
}

extension Crawl: Record {
    func encode(_ writer: inout ByteWriter) { encode(&writer, pages.descending) }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let start: Start
        switch try reader.byte() {
        case 0: start = .head(page: try Self.number(&reader))
        case 1: start = .tail
        case 2: start = .gap(GapID(try reader.number()))
        default: throw ByteReader.damage
        }
        let lastNumber = try reader.optional(Self.number)
        var pages = CrawlPages()
        let ends = try reader.list { r throws(QuireError) in
            (try Self.number(&r), try r.postID())
        }
        for (number, end) in ends { pages.update(number) { $0.end = end } }
        let links = try reader.list { r throws(QuireError) in
            (try Self.number(&r), try Link(&r))
        }
        for (number, link) in links { pages.update(number - 1) { $0.next = link } }
        self.init(start: start, pages: pages, lastNumber: lastNumber)
    }

    /// Reads a number that is small enough to count on from. The bytes are untrusted.
    private static func number(_ reader: inout ByteReader) throws(QuireError) -> Int {
        let number = Int(try reader.signed())
        if number.magnitude > numberLimit + 1 { throw ByteReader.damage }
        return number
    }
}
