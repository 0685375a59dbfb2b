import CQuire
@_spi(Unstable) import Quire

/// Converts arguments from C to Swift values and checks everything that can be checked.
package enum Arguments {
    package static func bad(_ message: String) -> Failure { Failure(QUIRE_BAD_ARGUMENT, message) }

    static func isAligned<T>(_ pointer: UnsafePointer<T>) -> Bool {
        UInt(bitPattern: pointer) % UInt(MemoryLayout<T>.alignment) == 0
    }

    /// Reads an array in C's memory. That all of its elements are there cannot be checked.
    package static func array<T>(
        _ start: UnsafePointer<T>?, _ count: Int, stride: Int = MemoryLayout<T>.stride,
        _ name: StaticString
    ) throws(Failure) -> UnsafeRawBufferPointer {
        let (bytes, overflows) = count.multipliedReportingOverflow(by: stride)
        if count < 0 || overflows { throw bad("\(name): a count of \(UInt(bitPattern: count))") }
        if count == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        guard let start, isAligned(start) else { throw bad("\(name) are NULL or misaligned") }
        return UnsafeRawBufferPointer(start: start, count: bytes)
    }

    /// Runs `body`. An error of it names the item of the array.
    @inline(__always)
    static func item<R>(
        _ at: Int, of name: StaticString, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        do { return try body() } catch { throw bad("\(name)[\(at)]: \(error.message)") }
    }

    // MARK: Bytes

    package static func bytes(
        _ bytes: quire_bytes, atMost limit: Int, _ name: StaticString
    ) throws(Failure) -> UnsafeRawBufferPointer {
        guard bytes.size >= 0, bytes.size <= limit else {
            throw bad("\(name): \(UInt(bitPattern: bytes.size)) bytes are too many")
        }
        if bytes.size > 0 && bytes.data == nil { throw bad("\(name): NULL with a size") }
        return UnsafeRawBufferPointer(start: bytes.data, count: bytes.size)
    }

    package static func text(
        _ bytes: quire_bytes, atMost limit: Int, _ name: StaticString
    ) throws(Failure) -> String {
        let bytes = try self.bytes(bytes, atMost: limit, name)
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            throw bad("\(name) is empty or not UTF-8")
        }
        return text
    }

    package static func path(_ path: UnsafePointer<CChar>?) throws(Failure) -> String {
        guard let path, let text = String(validatingCString: path), !text.isEmpty else {
            throw bad("the path is NULL, empty or not UTF-8")
        }
        return text
    }

    static func id(_ bytes: quire_bytes) throws(Failure) -> PostID {
        let bytes = try self.bytes(bytes, atMost: PostID.byteLimit, "an id")
        guard let id = PostID(bytes: bytes) else { throw bad("an id is empty") }
        return id
    }

    static func ids(_ ids: quire_ids, _ name: StaticString) throws(Failure) -> [PostID] {
        let items = try array(ids.items, ids.count, name)
        var found: [PostID] = []
        found.reserveCapacity(ids.count)
        for (at, bytes) in items.bindMemory(to: quire_bytes.self).enumerated() {
            found.append(try item(at, of: name) { () throws(Failure) in try id(bytes) })
        }
        return found
    }

    static func attribute(_ name: quire_bytes) throws(Failure) -> String {
        try text(name, atMost: Int(QUIRE_NAME_LIMIT), "the name of an attribute")
    }

    static func detail(_ number: UInt32) throws(Failure) -> Detail {
        guard number <= QUIRE_DETAIL_FULL else { throw bad("a detail of \(number)") }
        return Detail(rawValue: UInt8(number))
    }

    /// Returns the name of a collection; no bytes mean the default one.
    static func collection(_ name: quire_bytes) throws(Failure) -> String {
        let (limit, what) = (Int(QUIRE_NAME_LIMIT), "the name of a collection" as StaticString)
        return try bytes(name, atMost: limit, what).isEmpty ? "" : text(name, atMost: limit, what)
    }

    // MARK: Numbers

    package static func count(_ number: UInt64, atMost limit: Int, _ name: StaticString) throws(Failure)
        -> Int
    {
        guard number <= limit else { throw bad("\(name): \(number) is too many") }
        return Int(number)
    }

    /// Reads an optional number; NULL means none.
    static func number(_ pointer: UnsafePointer<UInt64>?, _ name: StaticString) throws(Failure) -> UInt64? {
        if let pointer, !isAligned(pointer) { throw bad("\(name) is misaligned") }
        return pointer?.pointee
    }

    static func flags(_ flags: UInt32, _ known: Int, _ name: StaticString) throws(Failure) -> UInt32 {
        if flags & ~UInt32(known) != 0 { throw bad("\(name): unknown flags") }
        return flags
    }

    static func flag(_ value: Int32, _ name: StaticString) throws(Failure) -> Bool {
        guard value == 0 || value == 1 else { throw bad("\(name) is neither 0 nor 1") }
        return value == 1
    }

    // MARK: Links

    static func link(_ link: quire_link) throws(Failure) -> Link {
        switch Int(link.kind) {
        case QUIRE_LINK_UNKNOWN: .unknown
        case QUIRE_LINK_END: .end
        case QUIRE_LINK_CONFIRM_END: .confirmEnd
        case QUIRE_LINK_HEAD: .head
        case QUIRE_LINK_MORE: .more
        case QUIRE_LINK_TOKEN:
            .token(try text(link.text, atMost: Int(QUIRE_TEXT_LIMIT), "the text of a link"))
        case QUIRE_LINK_BELOW: .below(try id(link.text))
        case QUIRE_LINK_ABOVE: .above(try id(link.text))
        default: throw bad("a link of unknown kind \(link.kind)")
        }
    }

    static func position(_ pointer: UnsafePointer<quire_position>?) throws(Failure) -> RowPosition? {
        guard let pointer else { return nil }
        guard isAligned(pointer), let position = RowPosition(words: pointer.pointee.opaque) else {
            throw bad("a position that no row has")
        }
        return position
    }
}

// MARK: Out parameters

/// Zeroes an out parameter. Returns false if it cannot be written.
package func clear<T: BitwiseCopyable>(_ out: UnsafeMutablePointer<T>?) -> Bool {
    guard let out, Arguments.isAligned(UnsafePointer(out)) else { return false }
    UnsafeMutableRawBufferPointer(start: out, count: MemoryLayout<T>.stride)
        .initializeMemory(as: UInt8.self, repeating: 0)
    return true
}

/// Converts a count, which a damaged file may make negative, without trapping.
package func count(_ number: Int) -> UInt64 { UInt64(clamping: number) }
