import Foundation
import Testing

@testable import Quire

/// A planted violation of each invariant of Docs/invariants.md is reported by its code, by `check` on the
/// open cache and by `verify` on its file. All records have right checksums, but where the checksum is the
/// point.
@Suite struct InvariantTests {
    struct Violation: Sendable, CustomTestStringConvertible {
        let invariant: String
        let code: Finding.Code
        let what: String
        /// What `verify` says, where that is another code.
        var verified: Finding.Code?
        let plant: @Sendable (Forgery) throws -> Void

        var testDescription: String { "\(invariant): \(what)" }

        init(
            _ invariant: String, _ code: Finding.Code, _ what: String, verified: Finding.Code? = nil,
            _ plant: @escaping @Sendable (Forgery) throws -> Void
        ) {
            (self.invariant, self.code, self.what) = (invariant, code, what)
            (self.verified, self.plant) = (verified, plant)
        }
    }

    @Test func whatWasNotTouchedIsSound() throws {
        let forgery = try Forgery()
        #expect(try forgery.checked() == [])
        #expect(try forgery.verified() == [])
        try forgery.editIndex { _ in }
        #expect(try forgery.checked() == [])
    }

    @Test(arguments: structure + feeds + posts + collections + numbers + times)
    func isReported(_ violation: Violation) throws {
        let forgery = try Forgery()
        try violation.plant(forgery)
        let checked = try forgery.checked()
        #expect(checked.contains(violation.code), "check says \(checked)")
        let verified = try forgery.verified()
        #expect(verified.contains(violation.verified ?? violation.code), "verify says \(verified)")
    }

    @Test func eachInvariantOfTheRecordsHasAViolation() {
        let violations =
            Self.structure + Self.feeds + Self.posts + Self.collections + Self.numbers + Self.times
        let planted = Set(violations.map(\.invariant))
        #expect(planted == Set((1...23).map { "I\($0)" } + ["I31", "I32"]))
    }

    // MARK: Structure

    private static let structure: [Violation] = [
        Violation("I1", .header, "no format") { try $0.remove("format") },
        Violation("I1", .header, "a newer format") {
            try $0.put(.format, [], CacheFile.encodedFormat(seed: 1, version: CacheFile.formatVersion + 1))
        },
        Violation("I1", .header, "another seed", verified: .index) {
            try $0.put(.format, [], CacheFile.encodedFormat(seed: 1))
        },
        Violation("I1", .header, "something behind the format") {
            try $0.editBytes("format") { $0.append(0) }
        },
        Violation("I2", .orphan, "a key of no table") { forgery in
            try forgery.storage.cache.environment.write {
                try $0.put(.bodies, WholeKey(bytes: [13, 1]), Forgery.sealed([0, 0, 0, 0]))
            }
        },
        Violation("I2", .unreadable, "a key that is too short") {
            try $0.put(.chunks(of: 1), [1, 2, 3], $0.records("chunks")[0].value)
        },
        Violation("I2", .unreadable, "a byte behind a chunk") { try $0.editBytes("chunks") { $0.append(0) } },
        Violation("I2", .unreadable, "a long varint") {
            try $0.editBytes("counters") { $0.replaceSubrange(0..<1, with: [$0[0] | 0x80, 0]) }
        },
        Violation("I2", .unreadable, "a number spelled as text") {
            try $0.put(.fields, [0, 0, 0, 0, 2, 2, 0x34, 0x32], Forgery.sealed([2, 0x34, 0x32, 0]))
        },
        Violation("I2", .unreadable, "a page under another number") {
            let page = try $0.records("pages")[0]
            try $0.put(page.table, Forgery.number(~77), page.value)
        },
        Violation("I2", .unreadable, "fields out of order") {
            try $0.edit("fields", FieldsRecord.self) {
                $0.fields.reverse()
                return true
            }
        },
        Violation("I3", .checksum, "a bit of a body") { forgery in
            let body = try forgery.records("bodies")[0]
            var value = body.value
            value[0] ^= 1
            try forgery.put(body.table, body.key, value)
        },
    ]

    // MARK: Feeds, segments, pages

    private static let feeds: [Violation] = [
        Violation("I4", .missing, "a name without a feed") {
            try $0.put(.names, Array("c".utf8), Forgery.sealed([3]))
        },
        Violation("I4", .orphan, "a feed without a name") { try $0.remove("names") },
        Violation("I4", .orphan, "two names of one feed") {
            try $0.put(.names, Array("c".utf8), Forgery.sealed([1]))
        },
        Violation("I4", .orphan, "a chunk of no feed") {
            try $0.put(.chunks(of: 77), Forgery.number(9), $0.records("chunks")[0].value)
        },
        Violation("I5", .index, "a chunk in another place") {
            let chunk = try $0.records("chunks")[0]
            try $0.put(chunk.table, chunk.key, nil)
            try $0.put(chunk.table, Forgery.number(.max - 5), chunk.value)
        },
        Violation("I5", .gap, "a gap above no entry") {
            let gap = try $0.records("gaps")[0]
            try $0.put(gap.table, Forgery.number(5), gap.value)
        },
        Violation("I6", .missing, "an empty chunk") {
            try $0.edit("chunks", ChunkRecord.self) {
                $0 = ChunkRecord(page: $0.page, ids: PostIDs([]), entries: [])
                return true
            }
        },
        Violation("I6", .orphan, "a page without entries") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.pageNumbers = 99
                return true
            }
            let page = PageRecord(page: StoredPage(number: 98, own: .head), entries: 0, start: 1)
            try $0.put(.pages(of: 1), Forgery.number(~98), page.encoded())
        },
        Violation("I6", .gap, "a gap at the head") {
            let (chunk, gap) = (try $0.records("chunks")[0], try $0.records("gaps")[0])
            try $0.put(gap.table, chunk.key, gap.value)
        },
        Violation("I7", .gap, "a gap below an end") {
            try $0.edit("gaps", GapRecord.self) {
                $0.gap.down.link = .end
                return true
            }
        },
        Violation("I7", .count, "a boundary that vanished") { try $0.remove("gaps") },
        Violation("I8", .missing, "a page without a record") { try $0.remove("pages") },
        Violation("I8", .index, "an entry above the start of its page") {
            try $0.edit("pages", PageRecord.self) {
                $0.start = .max
                return true
            }
        },
        Violation("I8", .index, "a page that begins above its first entry") {
            try $0.edit("pages", PageRecord.self) {
                $0.start -= 1
                return true
            }
        },
        Violation("I32", .index, "rows that the page index does not have") { try $0.remove("ranks") },
        Violation("I32", .index, "a row too many in the page index") {
            let run = try $0.records("ranks")[0]
            try $0.put(run.table, Forgery.number(9), Forgery.encoded([RankChange(position: 1, rows: 1)]))
        },
        Violation("I32", .index, "a page too many in the page index") {
            let run = try $0.records("ranks")[0]
            try $0.put(run.table, Forgery.number(9), Forgery.encoded([RankChange(position: 1, pages: 1)]))
        },
        Violation("I9", .count, "a gap that is not counted") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.counts.gaps -= 1
                return true
            }
        },
        Violation("I9", .count, "an unverified join that is not counted") {
            try $0.edit("chunks", ChunkRecord.self) {
                guard $0.entries.count > 2 else { return false }
                $0.entries[2].claim = Claim()
                return true
            }
        },
        Violation("I10", .gap, "head and tail are one edge") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.tail.number = $0.head.number
                return true
            }
        },
        Violation("I10", .gap, "the tail continues below a post that is not there") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.tail.after = 777
                return true
            }
        },
    ]

    // MARK: Posts

    private static let posts: [Violation] = [
        Violation("I11", .missing, "bodies that are not there") { try $0.remove("bodies") },
        Violation("I11", .body, "a body behind the end of its record") {
            try $0.edit("chunks", ChunkRecord.self) { chunk in
                guard let at = chunk.entries.firstIndex(where: { $0.body.record != 0 }) else { return false }
                chunk.entries[at].body.offset += 5000
                return true
            }
        },
        Violation("I12", .index, "an id twice in a page") {
            try $0.edit("chunks", ChunkRecord.self) {
                guard $0.ids.count > 2 else { return false }
                var ids = Array($0.ids)
                ids[1] = ids[2]
                $0 = ChunkRecord(page: $0.page, ids: PostIDs(ids), entries: $0.entries)
                return true
            }
        },
        Violation("I12", .index, "an id twice in a feed") {
            let chunks = try $0.records("chunks")
            try $0.put(chunks[0].table, chunks[1].key, chunks[0].value)
        },
        Violation("I13", .index, "an entry that the index lacks") { try $0.editIndex { $0.removeLast() } },
        Violation("I13", .index, "a place without an entry") {
            try $0.editIndex {
                let address = PostAddress(hash: 5, check: 0)
                $0.append(Location(address, feed: 1, position: 5))
            }
        },
        Violation("I13", .index, "a place in no feed") {
            try $0.editIndex {
                let address = PostAddress(hash: 5, check: 0)
                $0.append(Location(address, feed: 77, position: 5))
            }
        },
        Violation("I13", .index, "posts of two feeds without a mark") { try $0.editRun { $0.marks = [] } },
        Violation("I13", .index, "a mark of a post that no feed holds") {
            try $0.editRun {
                $0.marks.append(Location(PostAddress(hash: 5, check: 0), feed: 1, position: 1))
            }
        },
        Violation("I13", .index, "a range that is said to be gone, but is not") {
            let run = try $0.records("locations")[0]
            var more = RunContents()
            more.gone = [GoneRange(feed: 1, 1 ... .max)]
            try $0.put(run.table, Forgery.number(1 << 20), more.encoded)
        },
        Violation("I13", .unreadable, "ranges that overlap") {
            let run = try $0.records("locations")[0]
            var more = RunContents()
            more.gone = [GoneRange(feed: 1, 1...2), GoneRange(feed: 1, 2...3)]
            try $0.put(run.table, Forgery.number(1 << 20), more.encoded)
        },
        Violation("I13", .unreadable, "a run with fewer locations than it says") {
            try $0.editBytes("locations") { $0[0] += 1 }
        },
        Violation("I13", .unreadable, "a run after which no other can be numbered") {
            try $0.renumber("locations", .max)
        },
        Violation("I32", .unreadable, "a run after which no other can be numbered") {
            try $0.renumber("ranks", .max)
        },
        Violation("I14", .orphan, "bodies that no post shows") {
            try $0.put(.bodies, Forgery.number(~1_000), $0.records("bodies")[0].value)
        },
        Violation("I14", .orphan, "fields of no post") {
            try $0.put(.fields, PostKey.bytes(99, in: 0), FieldsRecord(id: 99).encoded())
        },
        Violation("I14", .count, "bytes in use that are not") {
            try $0.edit("body-use", BodyUse.self) {
                $0.live += 1
                return true
            }
        },
        Violation("I14", .body, "bodies stored for another post") { forgery in
            let body = try forgery.records("bodies")[0]
            var value = body.value
            value[value.count - 12] ^= 1
            try forgery.put(body.table, body.key, Forgery.sealed(value.dropLast(4)))
        },
        Violation("I15", .order, "keys that rise") {
            try $0.edit("chunks", ChunkRecord.self) {
                guard $0.entries.count > 2 else { return false }
                $0.entries[1].key = 1 << 40
                return true
            }
        },
        Violation("I16", .body, "a version that another feed does not show") {
            try $0.edit("chunks", ChunkRecord.self) {
                guard let at = $0.ids.firstIndex(of: 34) else { return false }
                $0.entries[at].version = 5
                return true
            }
        },
    ]

    // MARK: Counters and times

    private static func counter(
        _ name: String, _ change: @escaping @Sendable (inout Counters) -> Void
    ) -> Violation {
        Violation("I17", .count, "\(name) of the cache") {
            try $0.edit("counters", Counters.self) {
                change(&$0)
                return true
            }
        }
    }

    private static func count(
        _ name: String, _ change: @escaping @Sendable (inout FeedCounts) -> Void
    ) -> Violation {
        Violation("I17", .count, "\(name) of a feed") {
            try $0.edit("feeds", FeedRecord.self) {
                change(&$0.counts)
                return true
            }
        }
    }

    private static let numbers: [Violation] = [
        counter("posts") { $0.posts += 1 },
        counter("entries") { $0.entries += 1 },
        counter("bytes") { $0.bodyBytes += 1 },
        counter("posts with fields") { $0.fieldRecords += 1 },
        counter("feeds") { $0.feeds += 1 },
        count("entries") { $0.entries += 1 },
        count("detached") { $0.detached += 1 },
        count("placeholders") { $0.placeholders += 1 },
        count("pinned") { $0.pinned += 1 },
        count("pages") { $0.pages += 1 },
        count("chunks") { $0.chunks += 1 },
        count("bytes") { $0.bodyBytes += 1 },
        Violation("I17", .count, "entries of a segment") {
            try $0.edit("gaps", GapRecord.self) {
                $0.above.entries += 1
                return true
            }
        },
        Violation("I18", .missing, "a page that cannot expire: it has no time") { try $0.remove("pages") },
        Violation("I19", .count, "a page with entries it does not have") {
            try $0.edit("pages", PageRecord.self) {
                $0.entries += 1
                return true
            }
        },
        Violation("I20", .ahead, "a clock that went back") {
            try $0.edit("counters", Counters.self) {
                $0.clock = 3
                return true
            }
        },
        Violation("I20", .ahead, "a deletion to come") {
            let tombstone = try $0.records("tombstones")[0]
            try $0.put(tombstone.table, tombstone.key, Forgery.sealed([0xFF, 0x7F]))
        },
        Violation("I20", .ahead, "a ticket to come") {
            try $0.edit("feeds", FeedRecord.self) {
                $0.ticketNumbers = 1
                return true
            }
        },
        Violation("I21", .missing, "a commit that is not in the log") {
            let log = try $0.records("log")
            try $0.put(.log, log[log.count - 1].key, nil)
        },
        Violation("I21", .ahead, "a commit to come") {
            try $0.put(.log, Forgery.number(1000), $0.records("log")[0].value)
        },
        Violation("I22", .unreadable, "a resume token that is no attribute") {
            try $0.put(.attributes(of: 1), Array("resume".utf8), Forgery.sealed([9, 1]))
        },
        Violation("I23", .count, "more tickets than are kept") { forgery in
            let ticket = try forgery.records("tickets")[0]
            try forgery.edit("feeds", FeedRecord.self) {
                $0.ticketNumbers = 1000
                return $0.name == "a"
            }
            for number in 400...700 as ClosedRange<UInt64> {
                let old = try ticket.value.withUnsafeBytes { try TicketRecord($0, "") }
                let copy = TicketRecord(
                    number: number, operation: old.operation, resets: 0, issued: 1, own: old.own,
                    edges: old.edges)
                try forgery.put(ticket.table, Forgery.number(number), copy.encoded())
            }
        },
    ]
}

/// A key with the prefix of no table.
private struct WholeKey: Key {
    let bytes: [UInt8]

    func withBytes<R, E: Error>(
        in table: Table, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try bytes.withUnsafeBufferPointer { bytes throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
