/// The bodies of posts. The bodies of one response are adjacent in an immutable record with an increasing
/// number, so reading a page is one scan. The responses of one commit share a record. A record without
/// references is removed.
///
///     bodies | count x address hash u64le | count u32le | checksum u32le
struct BodyStore {
    let transaction: Transaction

    /// Returns the bytes of a body, valid as long as the transaction's bytes.
    func bytes(_ reference: BodyReference) throws(QuireError) -> UnsafeRawBufferPointer {
        if reference.record == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try Self.bytes(reference, in: try record(reference.record))
    }

    /// Returns the bytes of a body record.
    func record(_ number: UInt64) throws(QuireError) -> UnsafeRawBufferPointer {
        guard let value = try transaction.get(.bodies, NumberKey(newestFirst: number)) else {
            throw .corrupt("body record \(number)")
        }
        return value
    }

    /// Returns the bytes of a body from its record.
    static func bytes(
        _ reference: BodyReference, in record: UnsafeRawBufferPointer
    ) throws(QuireError) -> UnsafeRawBufferPointer {
        let start = Int(reference.offset)
        let end = start + Int(reference.length)
        if end + 8 > record.count { throw .corrupt("body record \(reference.record)") }
        return UnsafeRawBufferPointer(rebasing: record[start..<end])
    }

    /// Returns the number of bytes of bodies in a record, and the address hashes of the posts for which they
    /// were stored, even if these no longer refer to it. Returns nil for damaged bytes.
    static func contents(_ value: UnsafeRawBufferPointer) -> (payload: Int, hashes: UnsafeRawBufferPointer)? {
        guard value.count >= 8 else { return nil }
        let count = Int(
            UInt32(littleEndian: value.loadUnaligned(fromByteOffset: value.count - 8, as: UInt32.self)))
        let payload = value.count - 8 - count * 8
        guard payload >= 0 else { return nil }
        return (payload, UnsafeRawBufferPointer(rebasing: value[payload..<payload + count * 8]))
    }

    /// Releases bytes of records, given by their numbers. Removes the records of which none are left.
    func release(_ released: some Collection<(key: UInt64, value: Int)>) throws {
        // An update asks for what is noted first: that has the size as well, and the record is elsewhere in
        // memory.
        let isAlone = released.count == 1
        try transaction.withCursor(.bodies) { cursor in
            for (number, count) in released where count != 0 {
                if isAlone, let use = try use(of: number) {
                    try release(count, of: number, use)
                    continue
                }
                guard let value = try cursor.find(NumberKey(newestFirst: number)),
                    let payload = Self.contents(value)?.payload
                else { throw QuireError.corrupt("body record \(number)") }
                if payload == count {
                    try cursor.delete()
                } else {
                    let noted = isAlone ? nil : try use(of: number)
                    try release(count, of: number, noted ?? BodyUse(live: payload, total: payload))
                }
            }
        }
    }

    /// Returns how much of a record is in use; nil while all of it is.
    private func use(of number: UInt64) throws -> BodyUse? {
        guard let value = try transaction.get(.bodyUse, NumberKey(number)) else { return nil }
        return try BodyUse(value, "the use of body record \(number)")
    }

    /// Releases some of the bytes of a record.
    private func release(_ count: Int, of number: UInt64, _ known: BodyUse) throws {
        var use = known
        use.live -= count
        if use.live > 0 {
            try transaction.put(.bodyUse, NumberKey(number), use)
        } else {
            if known.live < known.total { try transaction.delete(.bodyUse, NumberKey(number)) }
            try transaction.delete(.bodies, NumberKey(newestFirst: number))
        }
    }
}

/// The bodies of a record that a write session has not written yet.
struct OpenBodies {
    /// LMDB's values and the offsets end at 4 GiB.
    static let byteLimit = 1 << 30
    /// A record of this size takes no more bodies. Records end on a border of LMDB pages, which wastes 9 % of
    /// a record with a page of 30 posts and 2 % of one of this size. A larger record would be freed later
    /// when pages are pruned.
    static let sizeLimit = 1 << 17

    let number: UInt64
    private(set) var size = 0
    /// Byte arrays, which are not copied.
    private var sources: [[UInt8]] = []
    private var bodies: [Body] = []

    private struct Body {
        let hash: UInt64
        let offset: Int
        let source: Int
        /// Of its bytes in the source.
        let range: Range<Int>
    }

    init(number: UInt64) { self.number = number }

    /// Begins a source: bytes that contain bodies. `count` is about how many.
    mutating func begin(_ source: [UInt8], count: Int) {
        sources.append(source)
        if bodies.isEmpty { bodies.reserveCapacity(count) }
    }

    /// Adds a body, which is a range of the last source.
    @inline(__always)
    mutating func add(_ range: Range<Int>, of address: PostAddress) -> BodyReference {
        let reference = BodyReference(record: number, offset: UInt32(size), length: UInt32(range.count))
        bodies.append(Body(hash: address.hash, offset: size, source: sources.count - 1, range: range))
        size += range.count
        return reference
    }

    func isEqual(_ reference: BodyReference, _ other: ArraySlice<UInt8>) -> Bool {
        withBytes(of: reference) { body in other.withUnsafeBytes { body.isEqual(to: $0) } }
    }

    func copy(of reference: BodyReference) -> [UInt8] { withBytes(of: reference) { Array($0) } }

    func withBytes<R>(
        of reference: BodyReference, _ use: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        var (low, high) = (0, bodies.count)
        while low < high {
            let middle = (low + high) / 2
            if bodies[middle].offset < Int(reference.offset) { low = middle + 1 } else { high = middle }
        }
        return try sources[bodies[low].source].withUnsafeBytes {
            try use(UnsafeRawBufferPointer(rebasing: $0[bodies[low].range]))
        }
    }

    /// Writes the record directly into LMDB's page, which copies each body once.
    func write(in transaction: Transaction) throws {
        let count = size + bodies.count * 8 + 8
        try transaction.put(.bodies, NumberKey(newestFirst: number), count: count) { target in
            var at = 0
            for body in bodies {
                sources[body.source].withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: target[at...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[body.range]))
                }
                at += body.range.count
            }
            for body in bodies {
                target.storeBytes(of: body.hash.littleEndian, toByteOffset: at, as: UInt64.self)
                at += 8
            }
            target.storeBytes(of: UInt32(bodies.count).littleEndian, toByteOffset: at, as: UInt32.self)
            Checksum.seal(target)
        }
    }
}
