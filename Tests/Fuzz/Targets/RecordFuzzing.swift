@_spi(Unstable) @testable import Quire

enum RecordFuzzing {
    static func run(_ input: [UInt8]) {
        guard let kind = input.first else { return }
        // Memory of exactly this size, so that reading on is noticed.
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count - 1, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: input.dropFirst())
        let value = UnsafeRawBufferPointer(bytes)
        switch kind % 16 {
        case 0: chunk(value)
        case 1: record(PageRecord.self, value)
        case 2: record(GapRecord.self, value)
        case 3: record(TicketRecord.self, value)
        case 4: record(FeedRecord.self, value)
        case 5: record(FieldsRecord.self, value)
        case 6: record(Counters.self, value)
        case 7:
            record(BodyUse.self, value)
            record(CollectionTotals.self, value)
            record(EvictionStatistics.self, value)
            record(ViewRecord.self, value)
            record(ViewMatches.self, value)
            record(ViewPlace.self, value)
        case 8: record(BodyReference.self, value)
        case 9: record(Link.self, value)
        case 10: record(Edge.self, value)
        case 11: record(RowID.self, value)
        case 12: run(of: value)
        case 13: _ = BodyStore.contents(value)
        case 14: _ = try? ChangeLog.entries(value, "a commit")
        default: _ = try? CacheFile.format(value)
        }
        _ = Checksum.isValid(value)
    }

    /// What decodes says the same when it is written and read again.
    @discardableResult
    private static func record<R: Record>(_ type: R.Type, _ value: UnsafeRawBufferPointer) -> R? {
        guard let record = try? R(value, "a record") else { return nil }
        let once = record.encoded()
        guard let again = once.withUnsafeBytes({ try? R($0, "a record") }) else {
            preconditionFailure("\(type) does not read what it wrote")
        }
        precondition(again.encoded() == once, "\(type) writes something else the second time")
        return record
    }

    private static func chunk(_ value: UnsafeRawBufferPointer) {
        _ = try? ChunkRecord.entry(of: "absent", in: value, "a chunk")
        walk(over: value)
        guard let chunk = record(ChunkRecord.self, value) else { return }
        for id in chunk.ids { _ = try? ChunkRecord.entry(of: id, in: value, "a chunk") }
    }

    /// What readers see of a chunk is what its entries say.
    private static func walk(over value: UnsafeRawBufferPointer) {
        guard let columns = try? ChunkColumns(value: value, "a chunk"),
            var walk = try? ChunkWalk(columns, at: 1)
        else { return }
        let record = try? ChunkRecord(value, "a chunk")
        while !walk.isDone {
            if !walk.step() {
                guard (try? walk.stepOverExceptions()) != nil else { return }
            }
            let row = PostRow(walk)
            guard let record else { continue }
            let (id, entry) = (record.ids[walk.slot], record.entries[walk.slot])
            precondition(row.id == id && row.key == entry.key && row.body == entry.body, "another post")
            precondition(row.doubt == entry.claim?.why && row.detail == entry.detail, "another state")
        }
    }

    private static func run(of value: UnsafeRawBufferPointer) {
        guard let run = IndexRun(value) else { return }
        let count = visit(run.posts) + (run.marks.map(visit) ?? 0) + (run.gone?.count ?? 0)
        precondition(count <= value.count, "a run of more locations than bytes")
        if let gone = run.gone {
            for i in 0..<gone.count {
                let range = gone[i]
                for position in [range.first, range.last, range.last &+ 1] {
                    _ = gone.contains(position, of: range.feed)
                }
            }
        }
        // what was damaged is in another order, but can be written
        let merged = try! MergeMemory().merge(RunContents(), over: [run, run], below: [run], written)
        if run.isAsWritten { precondition(merged.elementsEqual(value.dropLast(4)), "another run") }
    }

    private static func visit(_ run: SortedRun) -> Int {
        var count = 0
        var next = run.next(from: 0)
        while let (slot, location) = next {
            _ = run.first(hash: location.hash)
            _ = run.mayHave(location.hash, SortedRun.bits(location.hash))
            run.search(at: location.address) {
                precondition($0.hash == location.hash, "another post")
                return false
            }
            count += 1
            next = run.next(from: slot + 1)
        }
        return count
    }

    private static func written(_ run: RunParts) -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: run.size)
        bytes.withUnsafeMutableBytes { run.write(into: $0) }
        return bytes.dropLast(4)
    }
}
