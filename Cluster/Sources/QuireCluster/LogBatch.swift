/// A place in a history: a number, and the digest of the ids of all entries up to it.
///
/// A log that loses entries it has acknowledged gives their numbers out again, so a number names nothing. Two histories
/// that differ anywhere before a place differ in its digest.
public struct LogPosition: Sendable, Hashable {
    /// The number of the newest entry.
    public let number: UInt64
    /// The digest of the history up to that entry.
    public let digest: UInt64

    /// Creates a place.
    public init(number: UInt64, digest: UInt64) {
        self.number = number
        self.digest = digest
    }

    /// Before the first entry.
    public static let beginning = LogPosition(number: 0, digest: 0)

    /// The place after one more entry.
    func adding(_ id: UInt64) -> LogPosition {
        var mixed = (digest ^ id) &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return LogPosition(number: number + 1, digest: mixed ^ mixed >> 31)
    }
}

/// What one append brings into the log: operations of one writer, applied in one commit.
///
/// It names the newest entry that its writer had applied. A replica whose history differs there does not apply it. It
/// also carries a counter of its writer, so that an entry that was appended twice takes effect once.
struct LogBatch: Sendable, Hashable {
    static let version: UInt8 = 1
    /// No entry has more operations.
    static let operationLimit = 64
    /// No entry is larger: one message of a server with its defaults, less what the driver adds.
    static let sizeLimit = (1 << 20) - 4096
    static let headSize = 1 + 2 + 8 + 8 + 8 + 8 + 8 + 4
    static let checksumSize = 4

    /// The version of the rules that its writer judges by.
    let rules: UInt16
    /// The newest entry that its writer had applied.
    let base: LogPosition
    /// Random; names the entry wherever it lands.
    let id: UInt64
    let writer: UInt64
    /// Grows with each entry of the writer.
    let counter: UInt64
    /// Each as its own bytes.
    let operations: [[UInt8]]

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headSize + Self.checksumSize + operations.reduce(0) { $0 + 4 + $1.count })
        bytes.append(Self.version)
        bytes.add(rules)
        for word in [base.number, base.digest, id, writer, counter] { bytes.add(word) }
        bytes.add(UInt32(operations.count))
        for operation in operations {
            bytes.add(UInt32(operation.count))
            bytes += operation
        }
        bytes.add(LogBatchChecksum.of(bytes[...]))
        return bytes
    }
}

/// What a replica reads where it expects an entry.
enum LogBatchReading {
    case batch(LogBatch)
    /// Of a later version of this library.
    case newer(UInt8)
    /// Not an entry, or damaged.
    case damaged

    init(_ bytes: [UInt8]) {
        var reader = LogBatchReader(bytes[...])
        guard let version = reader.next(UInt8.self), bytes.count >= LogBatch.headSize + LogBatch.checksumSize
        else {
            self = .damaged
            return
        }
        var end = LogBatchReader(bytes[(bytes.count - LogBatch.checksumSize)...])
        guard end.next(UInt32.self) == LogBatchChecksum.of(bytes[..<(bytes.count - LogBatch.checksumSize)])
        else {
            self = .damaged
            return
        }
        guard version == LogBatch.version else {
            self = version > LogBatch.version ? .newer(version) : .damaged
            return
        }
        reader.end = bytes.count - LogBatch.checksumSize
        self = reader.batch().map { .batch($0) } ?? .damaged
    }
}

/// Every step is bounds-checked.
private struct LogBatchReader {
    private let bytes: ArraySlice<UInt8>
    private var at: Int
    var end: Int

    init(_ bytes: ArraySlice<UInt8>) {
        (self.bytes, at, end) = (bytes, bytes.startIndex, bytes.endIndex)
    }

    mutating func next<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        let size = MemoryLayout<T>.size
        guard end - at >= size else { return nil }
        defer { at += size }
        return bytes[at..<at + size].reversed().reduce(0) { $0 << 8 | T(truncatingIfNeeded: $1) }
    }

    private mutating func take(_ size: Int) -> [UInt8]? {
        guard end - at >= size else { return nil }
        defer { at += size }
        return Array(bytes[at..<at + size])
    }

    mutating func batch() -> LogBatch? {
        guard let rules = next(UInt16.self), let number = next(UInt64.self), let digest = next(UInt64.self),
            let id = next(UInt64.self), let writer = next(UInt64.self), let counter = next(UInt64.self),
            let count = next(UInt32.self), count <= LogBatch.operationLimit
        else { return nil }
        var operations: [[UInt8]] = []
        for _ in 0..<count {
            guard let size = next(UInt32.self), let operation = take(Int(size)) else { return nil }
            operations.append(operation)
        }
        guard at == end else { return nil }
        return LogBatch(
            rules: rules, base: LogPosition(number: number, digest: digest), id: id, writer: writer,
            counter: counter, operations: operations)
    }
}

extension [UInt8] {
    /// Little-endian.
    fileprivate mutating func add<T: FixedWidthInteger>(_ value: T) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

/// CRC32C, as in the records of a cache. It detects damage, not deliberate changes.
enum LogBatchChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1 }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { bytes in
            table.withUnsafeBufferPointer { table in
                ~bytes.reduce(~0) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
            }
        }
    }
}
