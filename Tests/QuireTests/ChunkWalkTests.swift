import QuireSimulator
import Testing

@testable import Quire

/// A walk over the bytes of a chunk shows of each entry what a row shows, and what the entry has that was
/// read whole.
@Suite struct ChunkWalkTests {
    /// What a row shows of an entry.
    private struct Shown: Equatable {
        var id: PostID
        var key: Int64?
        var version: Int64?
        var doubt: Doubt?
        var detail: Detail
        var flags: [Bool]
        var body: BodyReference

        init(_ id: PostID, _ entry: Entry) {
            (self.id, key, version, doubt) = (id, entry.key, entry.version, entry.claim?.why)
            (detail, body) = (entry.detail, entry.body)
            flags = [
                entry.isDetached, entry.isPinned, entry.isPlaceholder, entry.isChecked, entry.newest != nil,
            ]
        }

        init(_ row: PostRow) {
            (id, key, version, doubt) = (row.id, row.key, row.version, row.doubt)
            (detail, body) = (row.detail, row.body)
            flags = [row.isDetached, row.isPinned, row.isPlaceholder, row.isChecked, row.isOutdated]
        }
    }

    private func columns(_ value: UnsafeRawBufferPointer) throws(QuireError) -> ChunkColumns {
        try ChunkColumns(value: value, "a chunk")
    }

    private func entries(_ value: UnsafeRawBufferPointer) throws(QuireError) -> [Shown] {
        let columns = try columns(value)
        var shown: [Shown] = []
        try columns.forEachEntry { slot, entry throws(QuireError) in
            shown.append(Shown(try columns.id(slot), entry))
        }
        return shown
    }

    private func rows(
        _ value: UnsafeRawBufferPointer, from start: Int = 0, count: Int = .max
    ) throws(QuireError) -> [Shown] {
        var walk = try ChunkWalk(columns(value), at: 1)
        try walk.want(from: start, count: count)
        var shown: [Shown] = []
        while !walk.isDone {
            if !walk.step() { try walk.stepOverExceptions() }
            shown.append(Shown(PostRow(walk)))
        }
        return shown
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func aWalkShowsTheEntries(seed: UInt64) throws {
        let memory = GuardedBytes(capacity: 1 << 24)
        var values = RandomValues(seed: seed)
        let bytes = values.chunk().encoded()
        let value = memory.hold(bytes[...])
        let all = try entries(value)
        #expect(try rows(value) == all)
        for _ in 0..<5 {
            let (start, count) = (values.random.below(all.count + 2), values.random.below(all.count + 2))
            #expect(try rows(value, from: start, count: count) == Array(all.dropFirst(start).prefix(count)))
        }
        // What is damaged is refused or shown, and shown as it is when it is read whole.
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<values.random.number(in: 1...3) {
                let at = values.random.below(values.random.chance(0.5) ? min(120, bytes.count) : bytes.count)
                damaged[at] ^= 1 << UInt8(values.random.below(8))
            }
            let value = memory.hold(damaged[...])
            guard let shown = try? rows(value) else { continue }
            if let all = try? entries(value), shown != all { Issue.record("\(shown) instead of \(all)") }
        }
    }

    /// An id that points behind the texts is an error before anything of it is read.
    @Test func idsOutsideOfTheChunk() throws {
        let memory = GuardedBytes(capacity: 1 << 16)
        let ids: [PostID] = [1, "two", 3]
        let chunk = ChunkRecord(page: 1, ids: PostIDs(ids), entries: ids.map { _ in Entry(page: 1) })
        let bytes = chunk.encoded()
        #expect(try rows(memory.hold(bytes[...])).map(\.id) == ids)
        for slot in 0..<3 {
            var damaged = bytes
            let flags = try columns(memory.hold(bytes[...])).flags(slot) ^ ChunkColumns.Flag.text
            damaged[48 + slot] = flags  // a number becomes a text, and the other way round
            let isRefused = (try? rows(memory.hold(damaged[...]))) == nil
            #expect(isRefused == (slot != 1))
        }
    }
}
