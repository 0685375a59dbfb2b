/// The bodies of posts. Those of one response are one immutable record, appended under a growing
/// number, so reading a page is one scan; a record goes when nothing refers to it any longer.
///
///     count u32 | count x (offset u32, length u32, key length u16, post key) | bodies | checksum u32
struct BodyStore {
    let transaction: Transaction

    /// LMDB values end at 4 GiB, and so do the offsets.
    static let byteLimit = 1 << 30

    /// Writes bodies as one record and returns where each is. `ranges` are into `bytes`.
    func store(
        _ ids: [PostID], _ ranges: [Range<Int>], of bytes: [UInt8], as number: UInt64
    ) throws -> [BodyReference] {
        let keys = ids.map(PostKey.prefix)
        let head = 4 + keys.reduce(0) { $0 + 10 + $1.count }
        let payload = ranges.reduce(0) { $0 + $1.count }
        let count = head + payload + 4
        if count > Self.byteLimit {
            throw QuireError(.badArgument, "the bodies of one answer are \(payload) bytes")
        }
        var references: [BodyReference] = []
        try transaction.append(transaction.tables.bodies, NumberKey(number), count: count) { target in
            var at = head
            var entry = 4
            target.storeBytes(of: UInt32(keys.count).littleEndian, toByteOffset: 0, as: UInt32.self)
            for (key, range) in zip(keys, ranges) {
                let (offset, length) = (UInt32(at), UInt32(range.count))
                target.storeBytes(of: offset.littleEndian, toByteOffset: entry, as: UInt32.self)
                target.storeBytes(of: length.littleEndian, toByteOffset: entry + 4, as: UInt32.self)
                target.storeBytes(
                    of: UInt16(key.count).littleEndian, toByteOffset: entry + 8, as: UInt16.self)
                UnsafeMutableRawBufferPointer(rebasing: target[(entry + 10)...])
                    .copyBytes(from: key)
                entry += 10 + key.count
                UnsafeMutableRawBufferPointer(rebasing: target[at...])
                    .copyBytes(from: bytes[range])
                references.append(BodyReference(record: number, offset: offset, length: length))
                at += range.count
            }
            let body = UnsafeRawBufferPointer(rebasing: target[..<at])
            let sum = UInt32(truncatingIfNeeded: Checksum.of(body))
            target.storeBytes(of: sum.littleEndian, toByteOffset: at, as: UInt32.self)
        }
        let use = BodyUse(posts: keys.count, live: payload, total: payload)
        try transaction.put(transaction.tables.bodyUse, NumberKey(number), use.encoded())
        return references
    }

    /// The bytes of a body; valid as long as the transaction's bytes are.
    func bytes(_ reference: BodyReference) throws(QuireError) -> UnsafeRawBufferPointer {
        if reference.record == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try Self.bytes(reference, in: try record(reference.record))
    }

    /// The bytes of a record of bodies.
    func record(_ number: UInt64) throws(QuireError) -> UnsafeRawBufferPointer {
        guard let value = try transaction.get(transaction.tables.bodies, NumberKey(number)) else {
            throw .corrupt("body record \(number)")
        }
        return value
    }

    /// The bytes of a body in its record.
    static func bytes(
        _ reference: BodyReference, in record: UnsafeRawBufferPointer
    ) throws(QuireError) -> UnsafeRawBufferPointer {
        let start = Int(reference.offset)
        let end = start + Int(reference.length)
        if end + 4 > record.count { throw .corrupt("body record \(reference.record)") }
        return UnsafeRawBufferPointer(rebasing: record[start..<end])
    }

    /// Which posts a record holds, whether or not they still refer to it; nil for damaged bytes.
    static func contents(
        _ value: UnsafeRawBufferPointer
    ) -> [(key: [UInt8], reference: (offset: Int, length: Int))]? {
        guard value.count >= 8 else { return nil }
        var contents: [(key: [UInt8], reference: (offset: Int, length: Int))] = []
        var at = 4
        for _ in 0..<UInt32(littleEndian: value.loadUnaligned(as: UInt32.self)) {
            guard at + 10 <= value.count else { return nil }
            let offset = Int(UInt32(littleEndian: value.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            let length = Int(UInt32(littleEndian: value.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)))
            let key = Int(UInt16(littleEndian: value.loadUnaligned(fromByteOffset: at + 8, as: UInt16.self)))
            guard at + 10 + key <= value.count, offset + length + 4 <= value.count else { return nil }
            contents.append((Array(value[(at + 10)..<(at + 10 + key)]), (offset, length)))
            at += 10 + key
        }
        return contents
    }

    /// One post no longer refers to its body; the record goes with the last.
    func release(_ reference: BodyReference) throws {
        if reference.record == 0 { return }
        let key = NumberKey(reference.record)
        guard let value = try transaction.get(transaction.tables.bodyUse, key) else {
            throw QuireError.corrupt("the use of body record \(reference.record)")
        }
        var use = try BodyUse(value, "the use of body record \(reference.record)")
        use.posts -= 1
        use.live -= Int(reference.length)
        if use.posts <= 0 {
            try transaction.delete(transaction.tables.bodyUse, key)
            try transaction.delete(transaction.tables.bodies, key)
        } else {
            try transaction.put(transaction.tables.bodyUse, key, use.encoded())
        }
    }
}
