import CQuire
@_spi(Unstable) import Quire

/// Memory for results: many small pieces, freed together with their owner.
package final class Arena: Handle, @unchecked Sendable {
    // @unchecked: one call at a time fills it, then it is only read. A snapshot protects its arena by a lock.
    package static let name: StaticString = "result"

    private var blocks: [UnsafeMutableRawPointer] = []
    private var next = UnsafeMutableRawPointer(bitPattern: 16)!
    private var left = 0
    private static let blockSize = 1 << 14

    package init() {}

    deinit { for block in blocks { block.deallocate() } }

    private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let count = (count + 7) & ~7
        if count > left {
            let size = max(count, blocks.isEmpty ? 512 : Self.blockSize)
            next = .allocate(byteCount: size, alignment: 16)
            left = size
            blocks.append(next)
        }
        defer { (next, left) = (next + count, left - count) }
        return next
    }

    package func array<T>(_ count: Int, of: T.Type) -> UnsafeMutablePointer<T> {
        allocate(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
    }

    package func bytes(_ bytes: some Collection<UInt8>) -> quire_bytes {
        if bytes.isEmpty { return quire_bytes() }
        let copy = allocate(bytes.count)
        UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyBytes(from: bytes)
        return quire_bytes(data: copy, size: bytes.count)
    }

    package func text(_ text: String) -> quire_bytes {
        var text = text
        return text.withUTF8 { bytes($0) }
    }

    /// Writes a number without creating a string, because most of a reader's data is ids.
    package func id(_ id: PostID) -> quire_bytes {
        guard let number = id.number else { return bytes(id.bytes) }
        let decimal = Decimal(number)
        let text = allocate(decimal.count)
        decimal.write(to: text)
        return quire_bytes(data: text, size: decimal.count)
    }

    package func list<T>(_ items: [T], _ each: (T) -> quire_bytes) -> quire_ids {
        if items.isEmpty { return quire_ids() }
        let array = array(items.count, of: quire_bytes.self)
        for (at, item) in items.enumerated() { (array + at).initialize(to: each(item)) }
        return quire_ids(items: array, count: items.count)
    }

    package func ids(_ ids: [PostID]) -> quire_ids { list(ids) { id($0) } }

    package func link(_ link: Link, isOverlapping: Bool = false) -> quire_link {
        let (kind, text) =
            switch link {
            case .unknown: (QUIRE_LINK_UNKNOWN, quire_bytes())
            case .end: (QUIRE_LINK_END, quire_bytes())
            case .confirmEnd: (QUIRE_LINK_CONFIRM_END, quire_bytes())
            case .head: (QUIRE_LINK_HEAD, quire_bytes())
            case .more: (QUIRE_LINK_MORE, quire_bytes())
            case .token(let text): (QUIRE_LINK_TOKEN, self.text(text))
            case .below(let id): (QUIRE_LINK_BELOW, self.id(id))
            case .above(let id): (QUIRE_LINK_ABOVE, self.id(id))
            }
        return quire_link(kind: Int32(kind), is_overlapping: isOverlapping ? 1 : 0, text: text)
    }

    // MARK: Owners

    /// Returns the handle by which C frees this arena.
    package func owner() throws(Failure) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(try Handles.add(self))
    }

    package static func free(_ owner: UnsafeMutableRawPointer?) {
        Handles.release(owner.map { OpaquePointer($0) }, as: Arena.self)
    }
}
