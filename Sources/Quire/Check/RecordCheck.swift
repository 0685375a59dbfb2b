/// Checks each record by itself, in key order: it belongs to an existing table and feed, its checksum is
/// right, and decoding and encoding it again gives the same bytes. ``Check`` checks invariants between
/// records.
struct RecordCheck {
    let context: CheckContext
    /// The feeds named so far. Names come before all other records of their feeds.
    private(set) var feeds: Set<UInt32> = []
    /// Nil until the format record was read.
    private(set) var version: UInt64?
    private(set) var hasCounters = false

    init(_ context: CheckContext) { self.context = context }

    mutating func test(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard let (table, feed) = Table.owner(of: key), let rest = table.key(key) else {
            return context.find(.orphan, Self.name(key), "a record of no table")
        }
        if !Checksum.isValid(value) && !Checksum.isOlderFormat(value) {
            return context.find(.checksum, table.name.description, Self.name(key))
        }
        if let feed, !feeds.contains(feed), table != Attributes.table(of: nil) {
            context.find(.orphan, table.name.description, "\(Self.name(key)): of no feed")
        }
        do throws(QuireError) {
            try read(table, rest, value)
        } catch {
            let code: Finding.Code = table == .format ? .header : .unreadable
            context.find(code, table.name.description, Self.name(key))
        }
    }

    private static func name(_ key: UnsafeRawBufferPointer) -> String {
        "key " + key.prefix(24).map { String($0, radix: 16) }.joined(separator: " ")
    }

    /// Throws if the key or value is not as the engine writes it.
    private mutating func read(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        switch table.name.description {
        case "format": try readFormat(key, value)
        case "names": try readName(key, value)
        case "counters":
            try require(key.isEmpty)
            _ = try Self.record(Counters.self, value)
            hasCounters = true
        case "feeds":
            try require(key.isEmpty)
            _ = try Self.record(FeedRecord.self, value)
        case "chunks":
            try require((Self.number(key) ?? 0) > 0)
            _ = try Self.record(ChunkRecord.self, value)
        case "gaps":
            try require((Self.number(key) ?? 0) > 0)
            _ = try Self.record(GapRecord.self, value)
        case "gap-places":
            try require((Self.number(key) ?? 0) > 0)
            try Self.requireNumber(value)
        case "ranks": try require(NumberKey(ofRun: key) != nil && RankRun(value)?.isAsWritten == true)
        case "tickets":
            let ticket = try Self.record(TicketRecord.self, value)
            try require(Self.number(key) == ticket.number)
        case "pages":
            let page = try Self.record(PageRecord.self, value)
            try require(Self.number(key) == ~page.page.number)
        case "fields":
            let fields = try Self.record(FieldsRecord.self, value)
            try require(PostKey.collection(key) != nil)
            try require(key.dropFirst(4).elementsEqual(PostKey.bytes(fields.id)))
            let names = fields.fields.map(\.name)
            try require(zip(names, names.dropFirst()).allSatisfy { $0 < $1 })
        case "aliases":
            let record = try Self.record(AliasRecord.self, value)
            try require(PostKey.collection(key) != nil)
            try require(key.dropFirst(4).elementsEqual(PostKey.bytes(record.id)))
        case "collections":
            try require(1...CollectionRecord.nameLimit ~= key.count && Self.isText(key))
            let collection = try Self.record(CollectionRecord.self, value)
            try require(collection.number > 0)
        case "totals": try readTotals(key, value)
        case "members":
            try require(MemberKey.parts(NumberKey(Self.number(key) ?? 0)).feed > 0)
            try require(value.count == Checksum.size)
        case "evictions":
            try require(key.isEmpty)
            _ = try Self.record(EvictionStatistics.self, value)
        case "tombstones":
            try require(PostKey.isKey(key))
            try Self.requireNumber(value)
        case "log":
            try require((Self.number(key) ?? 0) > 0)
            let entries = try ChangeLog.entries(value, "")
            var writer = ByteWriter(capacity: value.count)
            ChangeLog.encode(entries.map { FeedChanges($0.feed, ChangeList.encoded($0.changes)) }, &writer)
            let again = writer.sealed()
            try require(again.withUnsafeBytes(value.isEqual(to:)))
        case "locations":
            try require(NumberKey(ofRun: key) != nil && IndexRun(value)?.isAsWritten == true)
        case "bodies": try require(Self.number(key) != nil && BodyStore.contents(value) != nil)
        case "body-use":
            try require(Self.number(key) != nil)
            _ = try Self.record(BodyUse.self, value)
        case "views": try readView(key, value)
        case "view-data": try readViewData(key, value)
        default: try readAttribute(key, value)
        }
    }

    private func readView(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        try require(key.count == 1 && key[0] > 0)
        let view = try Self.record(ViewRecord.self, value)
        try require(1...ViewRecord.nameLimit ~= view.name.utf8.count)
    }

    /// Reads a record of one view: its number, the part and the key in its table.
    private func readViewData(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        try require(key.count >= 2)
        let rest = UnsafeRawBufferPointer(rebasing: key[2...])
        switch Table.ViewPart(rawValue: key[1]) {
        case .matches:
            try require((Self.number(rest) ?? 0) > 0)
            try require(Self.record(ViewMatches.self, value).isAsWritten)
        case .ranks: try require(NumberKey(ofRun: rest) != nil && RankRun(value)?.isAsWritten == true)
        case .sections:
            try require(rest.count <= StoredViewEntry.sectionLimit)
            try Self.requireNumber(value)
        case .places:
            let place = try Self.record(ViewPlace.self, value)
            let id = PostKey.bytes(place.id)
            try require(rest.count >= id.count + 4 && rest.suffix(id.count).elementsEqual(id))
        case .pending: try require((Self.number(rest) ?? 0) > 0 && value.count == Checksum.size)
        case nil: throw ByteReader.damage
        }
    }

    private func readTotals(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        try require(1...UInt64(CollectionRecord.lastNumber) ~= Self.number(key) ?? 0)
        try require(Self.record(CollectionTotals.self, value) != CollectionTotals())
    }

    private mutating func readFormat(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        let format = try CacheFile.format(value)
        version = format.version
        if version != CacheFile.formatVersion { return }
        let written = CacheFile.encodedFormat(seed: format.seed, isReplica: format.isReplica)
        try require(key.isEmpty && written.elementsEqual(value))
    }

    private mutating func readName(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        try require(1...255 ~= key.count && Self.isText(key))
        let number = try ByteReader.number(value, "")
        try Self.requireNumber(value)
        guard let feed = UInt32(exactly: number), feed > 0 else { throw ByteReader.damage }
        if !feeds.insert(feed).inserted {
            context.find(.orphan, "names", "two names lead to feed number \(feed)")
        }
    }

    private func readAttribute(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) {
        try require(1...Attributes.nameLimit ~= key.count && Self.isText(key))
        let bytes = try ByteReader.read(value, "") { reader throws(QuireError) in try reader.blob() }
        var writer = ByteWriter(capacity: bytes.count + 16)
        writer.blob(bytes)
        let encoded = writer.sealed()
        try require(bytes.count <= Attributes.valueLimit && encoded.elementsEqual(value))
    }

    // MARK: As the engine writes it

    private func require(_ isSo: Bool) throws(QuireError) {
        if !isSo { throw ByteReader.damage }
    }

    private static func number(_ key: UnsafeRawBufferPointer) -> UInt64? { NumberKey(key)?.number }

    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
    }

    private static func record<R: Record>(
        _ type: R.Type, _ value: UnsafeRawBufferPointer
    ) throws(QuireError) -> R {
        let record = try R(value, "")
        let encoded = record.encoded()
        if !encoded.withUnsafeBytes(value.isEqual(to:)) { throw ByteReader.damage }
        return record
    }

    private static func requireNumber(_ value: UnsafeRawBufferPointer) throws(QuireError) {
        var writer = ByteWriter()
        writer.number(try ByteReader.number(value, ""))
        if !writer.sealed().elementsEqual(value) { throw ByteReader.damage }
    }
}
