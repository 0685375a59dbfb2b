/// What was recovered of a damaged cache, before any of it is taken to be complete.
///
/// Records with a correct checksum are trusted. Two things prove that nothing is missing between them: LMDB's
/// tree, and the segment counts of gaps and feeds. The id index, page counts, the use of bodies and the log
/// are derived data: they are not read, but built again.
struct RecoveredFile {
    let salvage: Salvage
    private(set) var feeds: [UInt32: RecoveredFeed] = [:]
    private(set) var clock: UInt64 = 0
    private(set) var generation: UInt64 = 0
    private(set) var fields: [(address: Salvage.NodeAddress, collection: UInt32)] = []
    private(set) var aliases: [(record: AliasRecord, collection: UInt32)] = []
    /// The number of records that do not read back.
    private(set) var damaged = 0
    /// True if a record of ours was found, or nothing contradicts that the file is ours.
    private var isOurs = false
    /// The number of records that belong to no table.
    private var foreign = 0
    private var seed: UInt64?
    private var version: UInt64?
    private var bodies: [UInt64: Salvage.NodeAddress] = [:]
    private var recentBodies: [UInt64: [UInt8]?] = [:]
    /// The feed of the previous record, and its part.
    private var last: (feed: UInt32, part: RecoveredFeed.Part)?
    private var isBroken = false

    init(_ salvage: Salvage, progress: (Double) throws -> Void) throws {
        self.salvage = salvage
        try salvage.forEach(progress: progress) { take($0) }
        isBroken = isBroken || salvage.isCutOff
        leaveFeed(for: nil)
        if salvage.mayLackCommit {
            let known = generation
            try salvage.forEachUnused { record in
                guard let (table, _) = Table.owner(of: record.key), table == .log, let value = record.value,
                    let number = table.key(record.key).flatMap({ NumberKey($0) })?.number, number > known
                else { return }
                try takeLostCommit(number, value)
            }
        }
        // Continue after the last commit number that another program may have seen.
        generation = min(max(generation, salvage.transaction ?? 0), 1 << 61)
        clock = min(clock, 1 << 62)
    }

    /// Throws if the file was never a cache, or belongs to a newer Quire.
    mutating func requireOurs() throws {
        let path = salvage.file.path
        if let version, version > 0, version != CacheFile.formatVersion {
            throw CacheFile.foreign(path, version)
        }
        if salvage.transaction == nil {
            isOurs = try FileCheck.size(path) == 0  // a file that was created, but not yet written
            try salvage.forEachUnused { record in
                if Table.owner(of: record.key) != nil && record.value != nil { isOurs = true }
            }
        }
        if !isOurs && (foreign > 0 || salvage.transaction == nil) {
            throw QuireError(.notACache, "\(path): is not a Quire cache")
        }
    }

    // MARK: Taking records

    private mutating func take(_ record: Salvage.Record) {
        if record.isAfterBreak { isBroken = true }
        guard let (table, feed) = Table.owner(of: record.key), let key = table.key(record.key) else {
            (damaged, foreign) = (damaged + 1, foreign + 1)
            isBroken = true
            return
        }
        let (name, bytes) = (table.name.description, Array(key))
        let isTaken: Bool
        if let feed {
            enter(feed, RecoveredFeed.Part(name))
            isTaken =
                record.value.map {
                    feeds[feed]!.take(name, bytes, $0, record.address, isAfterBreak: isBroken)
                } ?? false
        } else {
            leaveFeed(for: nil)
            isTaken = record.value.map { takeOfCache(name, bytes, $0, record.address) } ?? false
        }
        if isTaken {
            (isOurs, isBroken) = (true, false)
        } else {
            damaged += 1
            isBroken = feed.map { !feeds[$0]!.note(lost: name, bytes) } ?? true
        }
    }

    /// Notes breaks. A break between two parts of a feed, or between two feeds, may hide records of all parts
    /// in between.
    private mutating func enter(_ feed: UInt32, _ part: RecoveredFeed.Part) {
        if last?.feed != feed {
            leaveFeed(for: feed)
            feeds[feed] = feeds[feed] ?? RecoveredFeed(number: feed)
            if isBroken { feeds[feed]!.noteBreak(from: .chunks, to: part) }
        } else if isBroken, let last {
            feeds[feed]!.noteBreak(from: last.part, to: part)
        }
        last = (feed, part)
    }

    private mutating func leaveFeed(for next: UInt32?) {
        if let last, isBroken, last.feed != next { feeds[last.feed]!.noteBreak(from: last.part, to: .rest) }
        last = nil
    }

    /// Takes in a record that belongs to no feed. Returns false if it is damaged, or does not match its key.
    private mutating func takeOfCache(
        _ name: String, _ key: [UInt8], _ value: [UInt8], _ address: Salvage.NodeAddress
    ) -> Bool {
        value.withUnsafeBytes { (try? read(name, key, $0, address)) ?? false }
    }

    private mutating func read(
        _ name: String, _ key: [UInt8], _ value: UnsafeRawBufferPointer, _ address: Salvage.NodeAddress
    ) throws(QuireError) -> Bool {
        switch name {
        case "format":
            let format = try CacheFile.format(value)
            (version, seed) = (format.version, format.seed)
            return format.version != 0
        case "names":
            let number = UInt32(truncatingIfNeeded: try ByteReader.number(value, name))
            feeds[number, default: RecoveredFeed(number: number)].name = String(decoding: key, as: UTF8.self)
        case "counters":
            let counters = try Counters(value, name)
            (clock, generation) = (max(clock, counters.clock), max(generation, counters.generation))
        case "log":
            _ = try ChangeLog.entries(value, name)
            generation = max(generation, Self.number(key) ?? 0)
        case "fields":
            _ = try FieldsRecord(value, name)
            guard let collection = key.withUnsafeBytes(PostKey.collection) else { return false }
            fields.append((address, collection))
        case "aliases":
            let record = try AliasRecord(value, name)
            guard let collection = key.withUnsafeBytes(PostKey.collection) else { return false }
            if !record.isName { aliases.append((record, collection)) }
        case "bodies":
            guard let number = Self.number(key), BodyStore.contents(value) != nil else { return false }
            bodies[~number] = address
        default: break  // derived
        }
        return true
    }

    static func number(_ key: [UInt8]) -> UInt64? {
        key.withUnsafeBytes { NumberKey($0)?.number }
    }

    /// Takes in the changes of a commit whose meta page, the newest one, is lost.
    private mutating func takeLostCommit(_ number: UInt64, _ value: [UInt8]) throws {
        generation = max(generation, number)
        let changes = value.withUnsafeBytes { try? ChangeLog.entries($0, "the log") }
        for (feed, changes) in changes ?? [] {
            feeds[feed]?.lostChanges.append(contentsOf: changes)
        }
    }

    // MARK: Bodies

    /// Returns the bytes of a body, or nil if they are lost. `id` is the post that the body should belong to,
    /// so that a body record under a wrong key is detected.
    mutating func body(
        _ reference: BodyReference, of id: PostID, in collection: UInt32
    ) throws -> ArraySlice<UInt8>? {
        if recentBodies[reference.record] == nil {
            if recentBodies.count == 8 { recentBodies = [:] }
            recentBodies[reference.record] =
                .some(try bodies[reference.record].flatMap { try salvage.value(at: $0) })
        }
        guard case .some(.some(let record)) = recentBodies[reference.record],
            record.withUnsafeBytes({ holds($0, reference, of: id, in: collection) })
        else { return nil }
        return record[Int(reference.offset)..<Int(reference.offset) + Int(reference.length)]
    }

    private func holds(
        _ record: UnsafeRawBufferPointer, _ reference: BodyReference, of id: PostID,
        in collection: UInt32
    ) -> Bool {
        guard let (payload, hashes) = BodyStore.contents(record),
            Int(reference.offset) + Int(reference.length) <= payload
        else { return false }
        guard let seed else { return true }
        let hash = PostAddress(id, in: collection, seed: seed).hash.littleEndian
        return stride(from: 0, to: hashes.count, by: 8).contains {
            hashes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) == hash
        }
    }

    mutating func raise(clock other: UInt64) { clock = max(clock, min(other, 1 << 62)) }
}
