// The state of a crawl as bytes. If it is stored with the feed, in the same commit as the crawl's pages,
// another process can continue the crawl.

extension Crawl {
    /// The encoded crawl, up to 60,000 bytes, for ``Feed/setAttribute(_:to:)``. If long ids would exceed
    /// that, the pages with the lowest numbers are left out.
    public var checkpoint: [UInt8] {
        var room = 60_000 - 64
        let remembered = earlier(than: .max).prefix { number in
            room -= 32 + (ends[number]?.bytes.count ?? 0)
            room -= links[number + 1]?.description.utf8.count ?? 0
            return room >= 0
        }
        var writer = ByteWriter()
        encode(&writer, pages: Array(remembered))
        return writer.sealed()
    }

    /// Writes the crawl with what it knows of these pages, by their numbers.
    private func encode(_ writer: inout ByteWriter, pages: [Int]) {
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
        writer.list(pages.filter { ends[$0] != nil }) { writer, number in
            writer.signed(Int64(number))
            ends[number]!.encode(&writer)
        }
        writer.list(pages.map { $0 + 1 }.filter { links[$0] != nil }) { writer, number in
            writer.signed(Int64(number))
            links[number]!.encode(&writer)
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
    func encode(_ writer: inout ByteWriter) { encode(&writer, pages: Array(earlier(than: .max))) }

    init(_ reader: inout ByteReader) throws(QuireError) {
        let start: Start
        switch try reader.byte() {
        case 0: start = .head(page: try Self.number(&reader))
        case 1: start = .tail
        case 2: start = .gap(GapID(try reader.number()))
        default: throw ByteReader.damage
        }
        let lastNumber = try reader.optional(Self.number)
        let ends = try reader.list { r throws(QuireError) in
            (try Self.number(&r), try r.postID())
        }
        let links = try reader.list { r throws(QuireError) in
            (try Self.number(&r), try Link(&r))
        }
        self.init(
            start: start, ends: Dictionary(ends) { $1 }, links: Dictionary(links) { $1 },
            lastNumber: lastNumber)
    }

    /// Reads a number that is small enough to count on from. The bytes are untrusted.
    private static func number(_ reader: inout ByteReader) throws(QuireError) -> Int {
        let number = Int(try reader.signed())
        if number.magnitude > numberLimit + 1 { throw ByteReader.damage }
        return number
    }
}
