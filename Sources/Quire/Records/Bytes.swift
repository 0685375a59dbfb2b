/// Builds the value of a record. Unsigned integers are base-128 varints, signed ones zigzag-encoded varints.
/// Lists and bytes follow their count. The last four bytes are a checksum.
struct ByteWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    /// False while it writes to memory of the caller.
    private var isOwner = true

    init(capacity: Int = 64) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    private init(lent: UnsafeMutableRawBufferPointer) {
        (capacity, isOwner) = (lent.count, false)
        start = lent.baseAddress!.assumingMemoryBound(to: UInt8.self)
    }

    deinit { if isOwner { start.deallocate() } }

    /// Lends what `write` has written, with the checksum.
    static func withSealed<R>(
        _ write: (inout ByteWriter) -> Void, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try withBytes(
            {
                write(&$0)
                $0.seal()
            }, body)
    }

    /// Lends what `write` has written. Up to a kilobyte stands on the stack.
    static func withBytes<R>(
        _ write: (inout ByteWriter) -> Void, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            var writer = ByteWriter(lent: memory)
            write(&writer)
            return try body(UnsafeRawBufferPointer(start: writer.start, count: writer.count))
        }
    }

    /// The number of bytes written so far.
    var size: Int { count }

    @inline(__always)
    func byte(at index: Int) -> UInt8 { start[index] }

    /// Lends what was written from an index on, until anything else is written.
    mutating func bytes(from index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(start + index) }

    @inline(__always)
    mutating func incrementByte(at index: Int) { start[index] += 1 }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    private mutating func grow(_ more: Int) {
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        if isOwner { start.deallocate() }
        (start, isOwner) = (larger, true)
    }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        reserve(1)
        start[count] = value
        count &+= 1
    }

    @inline(__always)
    mutating func number(_ value: UInt64) {
        reserve(16)
        if value < 0x80 {
            start[count] = UInt8(truncatingIfNeeded: value)
            count &+= 1
        } else {
            longNumber(value)
        }
    }

    /// Writes the lower eight groups of seven bits at once, as ``ByteReader`` reads them.
    private mutating func longNumber(_ value: UInt64) {
        var bits = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4
        bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x0FFF_C000_0FFF_C000) << 2
        bits = bits & 0x007F_007F_007F_007F | (bits & 0x3F80_3F80_3F80_3F80) << 1
        let target = UnsafeMutableRawPointer(start + count)
        let rest = UInt16(truncatingIfNeeded: value >> 56)
        // each byte but the last one has its upper bit set
        let stops: UInt64 = 0x8080_8080_8080_8080
        if rest == 0 {
            let size = (70 &- value.leadingZeroBitCount) / 7
            bits |= stops & (1 &<< UInt64(truncatingIfNeeded: 8 &* size &- 8) &- 1)
            target.storeBytes(of: bits.littleEndian, as: UInt64.self)
            count &+= size
        } else {
            target.storeBytes(of: (bits | stops).littleEndian, as: UInt64.self)
            let last = rest < 0x80 ? rest : rest & 0x7F | 0x80 | (rest >> 7) << 8
            target.storeBytes(of: last.littleEndian, toByteOffset: 8, as: UInt16.self)
            count &+= rest < 0x80 ? 9 : 10
        }
    }

    /// Adds bytes, to be written before anything else is added.
    mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
        reserve(size)
        defer { count += size }
        return UnsafeMutableRawPointer(start + count)
    }

    /// Writes a number with a fixed width, little-endian.
    @inline(__always)
    mutating func word<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size)
        UnsafeMutableRawPointer(start + count).storeBytes(of: value.littleEndian, as: T.self)
        count &+= MemoryLayout<T>.size
    }

    /// Writes a count with a fixed width.
    @inline(__always)
    mutating func wide(_ value: Int) { word(UInt64(clamping: value)) }

    /// Writes a count. Only a damaged cache has negative counts: they become 0, and `check` reports them.
    mutating func number(_ value: Int) { number(UInt64(clamping: value)) }

    mutating func signed(_ value: Int64) {
        number(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func flag(_ value: Bool) { byte(value ? 1 : 0) }

    mutating func blob(_ value: some Collection<UInt8>) {
        let size = value.count
        number(size)
        reserve(size)
        UnsafeMutableRawBufferPointer(start: start + count, count: size).copyBytes(from: value)
        count += size
    }

    mutating func text(_ value: String) { blob(value.utf8) }

    mutating func list<T>(_ values: [T], _ each: (inout ByteWriter, T) -> Void) {
        number(values.count)
        for value in values { each(&self, value) }
    }

    mutating func optional<T>(_ value: T?, _ each: (inout ByteWriter, T) -> Void) {
        byte(value == nil ? 0 : 1)
        if let value { each(&self, value) }
    }

    /// Writes bytes without their count.
    mutating func raw(_ value: [UInt8]) { value.withUnsafeBytes { raw($0) } }

    mutating func raw(_ value: UnsafeRawBufferPointer) {
        reserve(value.count)
        UnsafeMutableRawBufferPointer(start: start + count, count: value.count).copyMemory(from: value)
        count += value.count
    }

    /// Returns what was written.
    consuming func bytes() -> [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Adds the checksum and returns the finished value.
    consuming func sealed() -> [UInt8] {
        seal()
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    private mutating func seal() {
        reserve(4)
        count += 4
        Checksum.seal(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
}

/// Reads what `ByteWriter` wrote. Every step is bounds-checked: a damaged value causes an error that names
/// the record, never a crash.
struct ByteReader {
    private let start: UnsafeRawPointer
    private let end: Int
    private var at = 0

    /// Leaves out the last four bytes, the checksum; ``Checksum/isValid(_:)`` checks it.
    init(_ value: UnsafeRawBufferPointer) throws(QuireError) {
        guard value.count >= 4 else { throw Self.damage }
        start = value.baseAddress!
        end = value.count - 4
    }

    /// Decodes a value with `body`, which must read all of it. `what` names the record and is evaluated only
    /// for an error.
    static func read<T>(
        _ value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String,
        _ body: (inout ByteReader) throws(QuireError) -> T
    ) throws(QuireError) -> T {
        do throws(QuireError) {
            var reader = try ByteReader(value)
            let result = try body(&reader)
            try reader.requireEnd()
            return result
        } catch {
            throw .corrupt(what())
        }
    }

    /// Returns the number that is the whole value.
    static func number(
        _ value: UnsafeRawBufferPointer, _ what: @autoclosure () -> String
    ) throws(QuireError) -> UInt64 {
        try read(value, what()) { reader throws(QuireError) in try reader.number() }
    }

    var isAtEnd: Bool { at == end }

    /// The number of bytes that were not read.
    var left: Int { end - at }

    func requireEnd() throws(QuireError) { if at != end { throw Self.damage } }

    static var damage: QuireError { .corrupt("a record") }

    @inline(__always)
    mutating func byte() throws(QuireError) -> UInt8 {
        guard at < end else { throw Self.damage }
        defer { at += 1 }
        return start.load(fromByteOffset: at, as: UInt8.self)
    }

    mutating func flag() throws(QuireError) -> Bool { try byte() != 0 }

    /// Reads a number. Most numbers have one byte.
    @inline(__always)
    mutating func number() throws(QuireError) -> UInt64 {
        guard at < end else { throw Self.damage }
        let byte = start.load(fromByteOffset: at, as: UInt8.self)
        at += 1
        return byte < 0x80 ? UInt64(byte) : try longNumber(UInt64(byte & 0x7F))
    }

    /// Reads the groups of seven bits after the first one. If eight bytes can be loaded at once, an id of 63
    /// bits takes 25 instructions instead of 150.
    private mutating func longNumber(_ low: UInt64) throws(QuireError) -> UInt64 {
        var value = low
        var shift: UInt64 = 7
        if at + 8 <= end {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            let stops = ~word & 0x8080_8080_8080_8080
            let count = stops == 0 ? 8 : stops.trailingZeroBitCount / 8 + 1
            var bits = word & 0x7F7F_7F7F_7F7F_7F7F & (.max >> UInt64(64 - 8 * count))
            bits = bits & 0x007F_007F_007F_007F | (bits & 0x7F00_7F00_7F00_7F00) >> 1
            bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x3FFF_0000_3FFF_0000) >> 2
            bits = bits & 0x0000_0000_0FFF_FFFF | (bits & 0x0FFF_FFFF_0000_0000) >> 4
            value |= bits << 7
            at += count
            if stops != 0 { return value }
            shift = 63
        }
        while at < end, shift <= 63 {
            let byte = start.load(fromByteOffset: at, as: UInt8.self)
            at += 1
            if shift == 63 && byte > 1 { throw Self.damage }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw Self.damage
    }

    mutating func int() throws(QuireError) -> Int {
        guard let value = Int(exactly: try number()) else { throw Self.damage }
        return value
    }

    /// Reads a number with a fixed width, little-endian.
    @inline(__always)
    mutating func word<T: FixedWidthInteger>() throws(QuireError) -> T {
        guard MemoryLayout<T>.size <= end - at else { throw Self.damage }
        defer { at += MemoryLayout<T>.size }
        return T(littleEndian: start.loadUnaligned(fromByteOffset: at, as: T.self))
    }

    /// Reads a count with a fixed width.
    @inline(__always)
    mutating func wide() throws(QuireError) -> Int {
        guard let value = Int(exactly: try word() as UInt64) else { throw Self.damage }
        return value
    }

    mutating func signed() throws(QuireError) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func blob() throws(QuireError) -> UnsafeRawBufferPointer {
        try bytes(try count())
    }

    mutating func bytes(_ count: Int) throws(QuireError) -> UnsafeRawBufferPointer {
        guard count <= end - at else { throw Self.damage }
        defer { at += count }
        return UnsafeRawBufferPointer(start: start + at, count: count)
    }

    /// Reads the bytes that are left.
    mutating func rest() -> UnsafeRawBufferPointer {
        defer { at = end }
        return UnsafeRawBufferPointer(start: start + at, count: end - at)
    }

    mutating func text() throws(QuireError) -> String {
        String(decoding: try blob(), as: UTF8.self)
    }

    /// Reads the number of elements that follow; each takes at least one byte.
    @inline(__always)
    mutating func count() throws(QuireError) -> Int {
        let count = try int()
        guard count <= end - at else { throw Self.damage }
        return count
    }

    mutating func list<T>(_ each: (inout ByteReader) throws(QuireError) -> T) throws(QuireError) -> [T] {
        let count = try count()
        var values: [T] = []
        if count == 0 { return values }
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try each(&self)) }
        return values
    }

    mutating func optional<T>(_ each: (inout ByteReader) throws(QuireError) -> T) throws(QuireError) -> T? {
        try byte() == 0 ? nil : try each(&self)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns true if both have the same bytes. Compares eight at a time: a repeated page compares all its
    /// bodies, and byte by byte that took a thirtieth of an ingest.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        if count != other.count { return false }
        var at = 0
        while at + 8 <= count {
            if loadUnaligned(fromByteOffset: at, as: UInt64.self)
                != other.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            {
                return false
            }
            at += 8
        }
        while at < count {
            if self[at] != other[at] { return false }
            at += 1
        }
        return true
    }
}
