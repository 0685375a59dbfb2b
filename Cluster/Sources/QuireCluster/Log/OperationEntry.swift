import Quire

/// What stands in a log entry: operations of one writer, which take effect together. As bytes it is described
/// in Docs/cluster.md.
struct OperationEntry: Hashable, Sendable {
    /// The newest entry that the writer had applied.
    var base: LogPosition
    /// Drawn for each append, so that no two entries have equal bytes.
    var id: UInt64
    /// Which node, since it was opened.
    var writer: UInt64
    /// The writer's number for these operations. Appended again they keep it, and take effect once.
    var counter: UInt64
    var operations: [CacheOperation]

    static let version: UInt8 = 1
    /// How many operations an entry holds.
    static let limit = 64
    /// How many bytes, with what the log adds.
    static let sizeLimit = LogRequirements.entrySize
    private static let headSize = 45
    private static let sumSize = 8

    /// Why bytes are no entry that this library can apply.
    enum Unreadable: Error, Hashable {
        /// Another version of the encoding or of the rules wrote it.
        case newer(String)
        /// No version of this library did.
        case foreign
    }
}

extension OperationEntry {
    /// - Throws: `.tooLarge`, or `.refused` for no operations and for too many.
    var encoded: [UInt8] {
        get throws(LogError) {
            if operations.isEmpty || operations.count > Self.limit {
                throw .refused("\(operations.count) operations in one entry; 1 to \(Self.limit) are possible")
            }
            var writer = LittleEndianWriter()
            writer.add(Self.version)
            writer.add(CacheOperation.rules)
            for word in [base.number, base.digest, id, self.writer, counter] { writer.add(word) }
            writer.add(UInt16(operations.count))
            for operation in operations {
                let bytes = operation.encoded
                let size = writer.bytes.count + bytes.count + Self.sumSize
                if size > Self.sizeLimit { throw .tooLarge(size, limit: Self.sizeLimit) }
                writer.add(UInt32(bytes.count))
                writer.bytes += bytes
            }
            writer.add(Digest.of(writer.bytes))
            return writer.bytes
        }
    }

    /// Any bytes may be passed.
    init(encoded bytes: [UInt8]) throws(Unreadable) {
        guard bytes.count >= Self.headSize + Self.sumSize else { throw .foreign }
        let end = bytes.count - Self.sumSize
        var sum = LittleEndianReader(bytes[end...])
        guard sum.next(UInt64.self) == bytes.withUnsafeBytes({ Digest.of(.init(rebasing: $0[..<end])) })
        else { throw .foreign }
        var reader = LittleEndianReader(bytes[..<end])
        guard let version = reader.next(UInt8.self), let rules = reader.next(UInt16.self) else {
            throw .foreign
        }
        if version != Self.version || rules != CacheOperation.rules {
            throw .newer(
                "an entry of version \(version), rules \(rules); this library has \(Self.version), "
                    + "\(CacheOperation.rules)")
        }
        func word() throws(Unreadable) -> UInt64 {
            guard let word = reader.next(UInt64.self) else { throw .foreign }
            return word
        }
        base = LogPosition(number: try word(), digest: try word())
        (id, writer, counter) = (try word(), try word(), try word())
        operations = []
        guard let count = reader.next(UInt16.self), 1...Self.limit ~= Int(count) else { throw .foreign }
        for _ in 0..<count {
            guard let size = reader.next(UInt32.self), let part = reader.next(bytes: Int(size)),
                let operation = try? CacheOperation(encoded: part)
            else { throw .foreign }
            operations.append(operation)
        }
        if !reader.isAtEnd { throw .foreign }
    }
}

/// Numbers as bytes, the lowest first.
struct LittleEndianWriter {
    var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}

/// What ``LittleEndianWriter`` wrote. Each method returns nil where it ends.
struct LittleEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func next(bytes count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func next<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard let bytes = next(bytes: MemoryLayout<Number>.size) else { return nil }
        return Number(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: Number.self) })
    }
}
