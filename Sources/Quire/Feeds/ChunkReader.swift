/// Walks the chunks of one feed inside a transaction.
struct ChunkReader {
    let transaction: Transaction
    let feed: UInt32

    private var name: String { "a chunk of feed number \(feed)" }

    /// Calls `body` for each chunk from a position on, while it returns true.
    func eachChunk(from position: UInt64, _ body: (UInt64, ChunkRecord) throws -> Bool) throws {
        try eachValue(from: position) { at, value in try body(at, ChunkRecord(value, name)) }
    }

    /// Calls `body` for each chunk from a position on, read in place, while it returns true.
    func eachColumns(from position: UInt64, _ body: (UInt64, ChunkColumns) throws -> Bool) throws {
        try eachValue(from: position) { at, value in try body(at, ChunkColumns(value: value, name)) }
    }

    /// Calls `body` with the position, page and entry count of each chunk. Skips chunks that do not decode.
    func eachChunkSize(_ body: (_ at: UInt64, _ page: UInt64, _ entries: Int) -> Void) throws {
        try eachValue(from: 0) { at, value in
            if let size = try? ChunkRecord.size(of: value, name) { body(at, size.page, size.entries) }
            return true
        }
    }

    /// Calls `body` with the position and page of each chunk from a position on, while it returns true.
    func eachPage(
        from position: UInt64, _ body: (_ at: UInt64, _ page: UInt64) throws -> Bool
    ) throws {
        try eachValue(from: position) { at, value in try body(at, try ChunkRecord.size(of: value, name).page)
        }
    }

    /// Returns the position of the first chunk.
    func firstPosition() throws -> UInt64? {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            try cursor.first().flatMap { NumberKey($0.key)?.number }
        }
    }

    /// Calls `body` with the position and bytes of each chunk, while it returns true.
    private func eachValue(
        from position: UInt64, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            var found = try cursor.seek(NumberKey(position))
            while let (key, value) = found, let key = NumberKey(key) {
                if try !body(key.number, value) { return }
                found = try cursor.next()
            }
        }
    }

    /// Calls `body` for each chunk, read in place, from a position upward, or from the last one if it is nil.
    func eachColumnsUpward(from position: UInt64?, _ body: (UInt64, ChunkColumns) throws -> Bool) throws {
        try eachValueUpward(from: position) { at, value in try body(at, ChunkColumns(value: value, name)) }
    }

    private func eachValueUpward(
        from position: UInt64?, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try transaction.withCursor(.chunks(of: feed)) { cursor in
            var found = try position.map { try cursor.before(NumberKey($0 + 1)) } ?? cursor.last()
            while let (key, value) = found, let key = NumberKey(key) {
                if try !body(key.number, value) { return }
                found = try cursor.previous()
            }
        }
    }
}
