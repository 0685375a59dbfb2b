import Foundation
import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// What is written reads back. Forged bytes are an error or a value, never a crash: all
/// values end where the process may not read on.
@Suite struct RecordTests {
    /// Seeds of the values; a failure names its own.
    private static let seeds: Range<UInt64> = 0..<120

    /// A record in, the same record out, from bytes and from every damage of them.
    private func test<R: Record>(
        _ type: R.Type, _ make: (inout RandomValues) -> R, isSame: (R, R) -> Bool
    ) throws {
        let memory = GuardedBytes(capacity: 1 << 24)
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            let record = make(&values)
            let bytes = record.encoded()
            #expect(bytes.withUnsafeBytes(Checksum.isValid), "\(type), seed \(seed)")
            do throws(QuireError) {
                let read = try R(memory.hold(bytes[...]), "a record")
                if !isSame(read, record) {
                    Issue.record("\(type), seed \(seed): \(record) became \(read)")
                }
                if read.encoded() != bytes { Issue.record("\(type), seed \(seed): other bytes") }
            } catch {
                Issue.record("\(type), seed \(seed): \(error)")
            }
            damage(bytes, &values.random) { _ = try? R(memory.hold($0), "a record") }
        }
    }

    /// Every truncation of short values and some of long ones, and bits flipped at random.
    private func damage(_ bytes: [UInt8], _ random: inout SplitMix64, _ read: (ArraySlice<UInt8>) -> Void) {
        if bytes.count <= 400 {
            for count in 0..<bytes.count { read(bytes[..<count]) }
        } else {
            for _ in 0..<40 { read(bytes[..<random.below(bytes.count)]) }
        }
        for _ in 0..<(bytes.count > 10_000 ? 5 : 60) {
            var damaged = bytes
            for _ in 0..<random.number(in: 1...3) {
                // the beginning holds the counts
                let at = random.below(random.chance(0.5) ? min(16, bytes.count) : bytes.count)
                damaged[at] ^= 1 << UInt8(random.below(8))
            }
            read(damaged[...])
        }
    }

    private func test<R: Record & Equatable>(_ type: R.Type, _ make: (inout RandomValues) -> R) throws {
        try test(type, make, isSame: ==)
    }

    private static func isSame(_ a: ChunkRecord, _ b: ChunkRecord) -> Bool {
        a.page == b.page && a.ids == b.ids && a.entries.count == b.entries.count
            && zip(a.entries, b.entries).allSatisfy { $0.isSame(as: $1) }
    }

    @Test func views() throws {
        try test(ViewRecord.self) { values in
            var view = ViewRecord(
                name: "v\(values.random.below(9))", order: .keys, version: values.random.next())
            (view.built, view.pending, view.posts) = (values.random.next(), values.random.next(), 7)
            return view
        }
        try test(ViewPlace.self) { ViewPlace(id: $0.id(), chunk: $0.random.next()) }
        try test(ViewMatches.self) { values in
            let isByKeys = values.random.chance(0.5)
            return ViewMatches(
                (0..<values.random.below(9)).map { slot in
                    let bytes = (0..<values.random.below(5)).map { _ in UInt8(values.random.below(3)) }
                    let place = isByKeys ? ViewMatch.Place(key: bytes, id: values.id()) : nil
                    return ViewMatch(slot: slot * 3, section: bytes.prefix(1) + [], place: place)
                })
        }
    }

    @Test func chunks() throws {
        try test(ChunkRecord.self, { $0.chunk() }, isSame: Self.isSame)
    }

    /// Look-ups read the first number of a chunk, or one entry, without building a record.
    @Test func partsOfChunks() throws {
        let memory = GuardedBytes(capacity: 1 << 24)
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            let chunk = values.chunk()
            let bytes = chunk.encoded()
            #expect(try ChunkRecord.size(of: memory.hold(bytes[...]), "a chunk").page == chunk.page)
            for (id, entry) in zip(chunk.ids, chunk.entries) {
                let found = try ChunkRecord.entry(of: id, in: memory.hold(bytes[...]), "a chunk")
                let at = chunk.ids.firstIndex(of: id)!
                #expect(found?.isSame(as: chunk.entries[at]) == true, "seed \(seed), \(entry)")
            }
            damage(bytes, &values.random) {
                _ = try? ChunkRecord.entry(of: "absent", in: memory.hold($0), "a chunk")
                _ = try? ChunkRecord.size(of: memory.hold($0), "a chunk")
            }
        }
    }

    /// A chunk with another body in one entry has the bytes of one that was written anew.
    @Test func bodiesInPlace() throws {
        var (replaced, anew) = (0, 0)
        for seed in Self.seeds {
            var values = RandomValues(seed: seed)
            let (chunk, other) = (values.chunk(), values.chunk())
            try chunk.encoded().withUnsafeBytes { bytes in
                let columns = try ChunkColumns(value: bytes, "a chunk")
                #expect(try ChunkPatch(columns, of: "absent") == nil)
                for (id, new) in zip(chunk.ids, other.entries).dropFirst(20).prefix(9) {
                    let at = chunk.ids.firstIndex(of: id)!
                    let patch = try #require(try ChunkPatch(columns, of: id))
                    #expect(patch.entry.isSame(as: chunk.entries[at]), "seed \(seed), \(id)")
                    var changed = chunk
                    changed.entries[at].takeBody(of: new)
                    if new.body.record != 0 { changed.entries[at].isPlaceholder = false }
                    if !patch.fits(changed.entries[at]) {
                        anew += 1
                        continue
                    }
                    replaced += 1
                    let now = ByteWriter.withSealed({ patch.encode(with: changed.entries[at], &$0) }) {
                        Array($0)
                    }
                    #expect(now == changed.encoded(), "seed \(seed), \(id)")
                }
            }
        }
        #expect(replaced > anew && anew > 0)
    }

    /// The bodies of an answer lie one behind the other; then an entry is its flags, id, key and length.
    @Test func entriesOfOneAnswerAreShort() throws {
        let ids = (0..<30).map { PostID(UInt64(40_000_000 + $0)) }
        var entries: [Entry] = []
        for i in 0..<30 {
            var entry = Entry(key: 1_700_000_000 - Int64(i))
            (entry.page, entry.confirmed) = (7, 99)
            entry.body = BodyReference(record: 5, offset: UInt32(i * 900), length: 900)
            entries.append(entry)
        }
        let whole = ChunkRecord(page: 7, ids: PostIDs(ids), entries: entries).encoded().count
        let rest = ChunkRecord(page: 7, ids: PostIDs(ids[1...]), entries: Array(entries[1...]))
        let perEntry = whole - rest.encoded().count
        #expect(whole <= 52 + 30 * 21 && perEntry == 21, "\(whole) bytes, \(perEntry) for one entry")
    }

    @Test func collections() throws {
        try test(CollectionRecord.self) { values in
            var record = CollectionRecord(number: values.short() >> 1)
            record.feeds = values.short()
            return record
        }
    }

    @Test func totals() throws {
        try test(CollectionTotals.self) { CollectionTotals(posts: $0.number(), bodyBytes: $0.number()) }
    }

    @Test func evictions() throws {
        try test(EvictionStatistics.self) { values in
            var statistics = EvictionStatistics()
            for part in [\EvictionStatistics.age, \.feed, \.collection, \.cache, \.file] {
                statistics[keyPath: part].pages = values.number()
                statistics[keyPath: part].posts = values.number()
                statistics[keyPath: part].bodyBytes = values.number()
            }
            (statistics.hits, statistics.misses) = (values.number(), values.number())
            return statistics
        }
    }

    @Test func fields() throws { try test(FieldsRecord.self) { $0.fields() } }
    @Test func pages() throws { try test(PageRecord.self) { $0.page() } }
    @Test func gaps() throws {
        try test(GapRecord.self, { $0.gap() }) { $0.gap == $1.gap && $0.above == $1.above }
    }
    @Test func tickets() throws { try test(TicketRecord.self) { $0.ticket() } }
    @Test func counters() throws {
        try test(Counters.self, { $0.counters() }) { "\($0)" == "\($1)" }
    }

    @Test func feeds() throws {
        /// What is no list prints fast and in one order.
        func rest(_ feed: FeedRecord) -> String {
            var rest = FeedRecord(name: feed.name, options: FeedOptions())
            (rest.resets, rest.changed) = (feed.resets, feed.changed)
            (rest.edgeNumbers, rest.pageNumbers) = (feed.edgeNumbers, feed.pageNumbers)
            (rest.ticketNumbers, rest.gapNumbers) = (feed.ticketNumbers, feed.gapNumbers)
            (rest.skippedAbove, rest.used) = (feed.skippedAbove, feed.used)
            (rest.lastSegment, rest.counts) = (feed.lastSegment, feed.counts)
            (rest.subscription, rest.deltaToken) = (feed.subscription, feed.deltaToken)
            return "\(rest)"
        }
        try test(FeedRecord.self, { $0.feed() }) { a, b in
            a.options == b.options && a.collection == b.collection && a.head == b.head && a.tail == b.tail
                && rest(a) == rest(b)
        }
    }

    /// The longest id there is, wherever an id may stand.
    @Test func longestIDs() throws {
        let memory = GuardedBytes(capacity: 1 << 20)
        var values = RandomValues(seed: 1)
        let id = PostID(bytes: values.bytes(PostID.byteLimit))!
        var entry = Entry(key: .min)
        (entry.page, entry.version) = (.max, .max)
        let chunk = ChunkRecord(
            page: .max, ids: PostIDs([id, "x", id]), entries: [entry, Entry(page: .max), entry])
        let read = try ChunkRecord(memory.hold(chunk.encoded()[...]), "a chunk")
        #expect(Self.isSame(read, chunk))
        for link in [Link.below(id), .above(id)] {
            #expect(try Link(memory.hold(link.encoded()[...]), "a link") == link)
        }
        #expect(try FieldsRecord(memory.hold(FieldsRecord(id: id).encoded()[...]), "fields").id == id)
        var writer = ByteWriter()
        writer.blob(values.bytes(PostID.byteLimit + 1))
        let bytes = writer.sealed()
        #expect(throws: QuireError.self) { try FieldsRecord(memory.hold(bytes[...]), "fields") }
    }

    @Test func smallRecords() throws {
        try test(BodyUse.self) { BodyUse(live: $0.int(), total: $0.int()) }
        try test(BodyReference.self) {
            BodyReference(record: $0.number(), offset: $0.short(), length: $0.short())
        }
        try test(Link.self) { $0.link() }
        try test(Edge.self) { $0.edge() }
        try test(RowID.self) { $0.row() }
    }

    // MARK: The change log

    @Test func changeLog() throws {
        let storage = try TemporaryCache()
        struct Enough: Error {}
        do {
            try storage.cache.environment.write { transaction in
                let log = ChangeLog(transaction: transaction)
                for seed in Self.seeds {
                    var values = RandomValues(seed: seed)
                    let commit = values.list(upTo: 3) { (feed: $0.short(), changes: $0.changes()) }
                    try log.append(
                        commit.map { FeedChanges($0.feed, ChangeList.encoded($0.changes)) }, generation: 5)
                    let read = try log.changes(since: 4, now: 5)!
                    #expect(read.map(\.feed) == commit.map(\.feed), "seed \(seed)")
                    #expect(read.map(\.changes) == commit.map(\.changes), "seed \(seed)")
                    let bytes = Array(try transaction.get(.log, NumberKey(5))!)
                    damage(bytes, &values.random) {
                        try? transaction.put(.log, NumberKey(5), Array($0))
                        _ = try? log.changes(since: 4, now: 5)
                    }
                }
                throw Enough()
            }
        } catch is Enough {}
    }

    /// Rows put one below the other name only themselves.
    @Test func insertedRunsAreShort() throws {
        let storage = try TemporaryCache()
        var changes: [Change] = []
        for i in 0..<30 {
            let upper = changes.isEmpty ? nil : RowID.post(PostID(UInt64(40_000_000 + i - 1)))
            changes.append(.inserted(.post(PostID(UInt64(40_000_000 + i))), below: upper))
        }
        let count = try storage.cache.environment.write { transaction in
            try ChangeLog(transaction: transaction).append(
                [FeedChanges(1, ChangeList.encoded(changes))], generation: 1)
            return try transaction.get(.log, NumberKey(1))!.count
        }
        #expect(count <= 20 + 30 * 4, "\(count) bytes")
    }

    /// A list of posts has the bytes of its posts one by one: `verify` writes records anew and compares.
    @Test func runsOfPosts() throws {
        for count in [0, 1, 2, 126, 127, 128, 300] {
            for text in [nil, 0, count / 2, count - 1] as [Int?] {
                let ids = PostIDs(
                    (0..<count).map { $0 == text ? PostID("p\($0)")! : PostID(UInt64($0) << 40) })
                var list = ChangeList()
                var single = ChangeList()
                list.append(.inserted(.post(7), below: nil))
                single.append(.inserted(.post(7), below: nil))
                list.append(ids, of: Array(0..<count))
                for (i, id) in ids.enumerated() {
                    single.append(.inserted(.post(id), below: .post(i == 0 ? 7 : ids[i - 1])))
                }
                list.append(removed: ids)
                for id in ids { single.append(.removed(.post(id))) }
                let found = list.encoded()
                #expect(found.count == 1 + 2 * count)
                let expected = single.encoded()
                #expect(found.bytes == expected.bytes, "\(count), \(text as Any)")
            }
        }
        #expect(ChangeList.update(of: 5).bytes == ChangeList.encoded([.updated(5)]).bytes)
    }

    /// The log is cut 64 commits at a time and always reaches back 1,024.
    ///
    ///     1 ....................... 1087      commit 1088: 1 to 64 go
    ///        65 ....................... 1088
    @Test func theLogReachesBack() throws {
        let storage = try TemporaryCache()
        try storage.cache.environment.write { transaction in
            let log = ChangeLog(transaction: transaction)
            for generation in 1...1300 as ClosedRange<UInt64> {
                let commit = ChangeList.encoded([.updated(PostID(generation))])
                try log.append([FeedChanges(1, commit)], generation: generation)
                let oldest = generation > 1024 ? generation - 1024 : 0
                if generation < 1000, generation % 100 != 0 { continue }
                let changes = try log.changes(since: oldest, now: generation)
                #expect(changes?.first?.generation == oldest + 1, "commit \(generation)")
                #expect(changes?.count == Int(generation - oldest), "commit \(generation)")
                #expect(try transaction.count(.log) < 1024 + 64)
                if oldest > 0 { #expect(try log.changes(since: oldest - 1, now: generation) == nil) }
            }
        }
    }

    // MARK: Numbers

    /// A number of n bytes with r bytes behind it: the last eight bytes of a value are read one by one,
    /// those before at once.
    @Test func numbersNearTheEnd() throws {
        let memory = GuardedBytes(capacity: 64)
        var numbers: [UInt64] = [0, 1, .max, .max - 1, 0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA]
        for bits in 1..<64 as Range<UInt64> {
            numbers += [(1 << bits) - 1, 1 << bits, 1 << bits | 1, 0x8123_4567_89AB_CDEF >> bits]
        }
        for number in numbers {
            for rest in 0..<14 {
                for filler in [0, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var writer = ByteWriter()
                    writer.number(number)
                    for _ in 0..<rest { writer.byte(filler) }
                    let bytes = writer.sealed()
                    let read = try ByteReader.read(memory.hold(bytes[...]), "a number") {
                        reader throws(QuireError) in
                        let number = try reader.number()
                        for _ in 0..<rest { _ = try reader.byte() }
                        return number
                    }
                    if read != number { Issue.record("\(number), \(rest) x \(filler): \(read)") }
                }
            }
        }
    }

    /// A number that does not end, or that ends beyond 64 bits, is damage wherever it stands.
    @Test func numbersThatAreNone() throws {
        let memory = GuardedBytes(capacity: 64)
        for count in 0...14 {
            for last in [0x00, 0x01, 0x02, 0x7F] as [UInt8] {
                for rest in 0..<10 {
                    let number = [UInt8](repeating: 0x80, count: count) + [last]
                    let value = number + [UInt8](repeating: 0, count: rest + 4)
                    let fits = count < 9 || (count == 9 && last <= 1)
                    let read = try? number64(memory.hold(value[...]))
                    if (read != nil) != fits {
                        Issue.record("\(count) bytes that go on, then \(last), then \(rest): \(read as Any)")
                    }
                    if fits, read != UInt64(last) << UInt64(7 * count) {
                        Issue.record("\(number) is \(read as Any)")
                    }
                    // cut off before its last byte
                    for cut in 0...count where (try? number64(memory.hold(value[..<(cut + 4)]))) != nil {
                        Issue.record("\(cut) bytes of \(number) are a number")
                    }
                }
            }
        }
    }

    /// The number at the beginning of a value.
    private func number64(_ value: UnsafeRawBufferPointer) throws -> UInt64 {
        var reader = try ByteReader(value)
        return try reader.number()
    }
}
