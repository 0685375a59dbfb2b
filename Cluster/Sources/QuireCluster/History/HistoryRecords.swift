import Quire

/// The newest entry that a replica has applied.
struct LastEntry: Hashable, Sendable {
    var position = LogPosition.beginning
    /// The digest of the entry's bytes.
    var fingerprint: UInt64 = 0

    var encoded: [UInt8] {
        var writer = LittleEndianWriter()
        for word in [position.number, position.digest, fingerprint] { writer.add(word) }
        return writer.bytes
    }

    init() {}

    init(_ position: LogPosition, fingerprint: UInt64) {
        (self.position, self.fingerprint) = (position, fingerprint)
    }

    init?(encoded bytes: [UInt8]) {
        var reader = LittleEndianReader(bytes[...])
        guard let number = reader.next(UInt64.self), let digest = reader.next(UInt64.self),
            let fingerprint = reader.next(UInt64.self), reader.isAtEnd
        else { return nil }
        self.init(LogPosition(number: number, digest: digest), fingerprint: fingerprint)
    }
}

/// Which of its operations a writer has had applied: the newest, and which of the 64 before it.
struct WriterWindow: Hashable, Sendable {
    /// How many of its own entries a writer may have under way: fewer than the window knows.
    static let width = 32

    private var newest: UInt64 = 0
    /// Bit 0 is the newest.
    private var seen: UInt64 = 0
    /// The number of the log entry that was the writer's last.
    var number: UInt64 = 0

    init() {}

    /// False for those too old to be known.
    func mayApply(_ counter: UInt64) -> Bool {
        if counter > newest { return true }
        let age = newest - counter
        return age < 64 && seen & (1 << age) == 0
    }

    mutating func insert(_ counter: UInt64, number: UInt64) {
        self.number = number
        if counter > newest {
            let age = counter - newest
            seen = (age < 64 ? seen << age : 0) | 1
            newest = counter
        } else {
            let age = newest - counter
            if age < 64 { seen |= 1 << age }
        }
    }

    var encoded: [UInt8] {
        var writer = LittleEndianWriter()
        for word in [newest, seen, number] { writer.add(word) }
        return writer.bytes
    }

    init?(encoded bytes: [UInt8]) {
        var reader = LittleEndianReader(bytes[...])
        guard let newest = reader.next(UInt64.self), let seen = reader.next(UInt64.self),
            let number = reader.next(UInt64.self), reader.isAtEnd
        else { return nil }
        (self.newest, self.seen, self.number) = (newest, seen, number)
    }
}

/// Names of the attributes of a cache in which a replica remembers its history. All of them follow from the
/// log.
enum HistoryNames {
    static let last = "~applied"
    static let writers = "~writers"
    static func writer(_ id: UInt64) -> String { "~writer-" + String(id, radix: 16) }
    static func digests(_ block: UInt64) -> String { "~history-\(block)" }
}

/// The digests of the newest entries, in blocks. An entry whose base is older than these is refused.
enum DigestBlocks {
    static let size: UInt64 = 64
    static let count: UInt64 = 16

    static func block(of number: UInt64) -> UInt64 { number / size }

    /// The digest after an entry; nil if it is not known any more, or not yet.
    static func digest(
        after number: UInt64, _ attribute: (String) throws -> [UInt8]?
    ) throws -> UInt64? {
        if number == 0 { return LogPosition.beginning.digest }
        guard let bytes = try attribute(HistoryNames.digests(block(of: number))) else { return nil }
        // the first block begins at 1, as if there were a digest of number 0
        let at = Int(number % size) * 8
        guard at + 8 <= bytes.count else { return nil }
        var reader = LittleEndianReader(bytes[at..<at + 8])
        return reader.next(UInt64.self)
    }

    /// Remembers one more, and forgets those that are too old.
    static func append(_ position: LogPosition, to batch: borrowing Batch) throws {
        let block = block(of: position.number)
        let name = HistoryNames.digests(block)
        var bytes = try batch.attribute(name) ?? []
        var writer = LittleEndianWriter()
        writer.add(position.digest)
        // a replica that began at a checkpoint has the block as the checkpoint had it
        let at = Int(position.number % size) * 8
        if bytes.count < at { bytes += Array(repeating: 0, count: at - bytes.count) }
        bytes = bytes[..<at] + writer.bytes
        try batch.setAttribute(name, to: bytes)
        if position.number % size == 0, block >= count {
            try batch.setAttribute(HistoryNames.digests(block - count), to: nil)
        }
    }

    /// The oldest number whose digest is known once `number` was applied.
    static func oldest(at number: UInt64) -> UInt64 {
        block(of: number) < count ? 0 : (block(of: number) - count + 1) * size
    }
}

/// The writers that are remembered: the 1,024 whose last entry is the newest.
enum Writers {
    static let limit = 1024

    static func window(of id: UInt64, in batch: borrowing Batch) throws -> WriterWindow {
        try batch.attribute(HistoryNames.writer(id)).flatMap { WriterWindow(encoded: $0) } ?? WriterWindow()
    }

    static func store(_ window: WriterWindow, of id: UInt64, in batch: borrowing Batch) throws {
        let name = HistoryNames.writer(id)
        if try batch.attribute(name) == nil { try add(id, in: batch) }
        try batch.setAttribute(name, to: window.encoded)
    }

    private static func add(_ id: UInt64, in batch: borrowing Batch) throws {
        var reader = LittleEndianReader((try batch.attribute(HistoryNames.writers) ?? [])[...])
        var ids: [UInt64] = []
        while let id = reader.next(UInt64.self) { ids.append(id) }
        if ids.count >= limit {
            var oldest = (at: 0, number: UInt64.max)
            for (i, id) in ids.enumerated() {
                let number = try window(of: id, in: batch).number
                if number < oldest.number { oldest = (i, number) }
            }
            try batch.setAttribute(HistoryNames.writer(ids.remove(at: oldest.at)), to: nil)
        }
        ids.append(id)
        var writer = LittleEndianWriter()
        for id in ids { writer.add(id) }
        try batch.setAttribute(HistoryNames.writers, to: writer.bytes)
    }
}
