import CQuire
import Testing

/// What the C API adds to the engine: handles, batches as callbacks, memory of results, waiting. The rules
/// themselves are replayed by Bindings/c/conformance.c.
@Suite(.timeLimit(.minutes(10))) struct CRoundTripTests {
    @Test func aGapOpensAndCloses() throws {
        let program = try CProgram()
        #expect(try program.page("xyz", next: "n1") == "ok")
        #expect(try program.page("abc", next: "n2") == "gap")
        #expect(try program.picture() == "a b c ~ x y z")
        let gap = try program.withSnapshot { snapshot in
            var row = quire_row()
            var count = 0
            try ok(quire_read_gaps(snapshot, program.feed, nil, &row, 1, &count))
            #expect(count == 1 && string(row.down.text) == "n2" && row.posts_above == 3)
            return row.gap
        }
        let verdict = try program.page(at: QUIRE_PLACE_GAP, gap: gap, "dex", next: "n3")
        #expect(verdict == "joined")
        #expect(try program.picture() == "a b c d e x y z")
    }

    @Test func rowsAreReadUpwardsFromWhereverOneIs() throws {
        let program = try CProgram()
        try program.page("xyz", next: "n1")
        try program.page("abc", next: "n2")
        try program.withSnapshot { snapshot in
            var seen: [String] = []
            var position: quire_position?
            while true {
                var row = quire_row()
                var count = 0
                if var before = position {
                    try ok(quire_read_before(snapshot, program.feed, &before, &row, 1, &count))
                } else {
                    try ok(quire_read_before(snapshot, program.feed, nil, &row, 1, &count))
                }
                if count == 0 { break }
                seen.append(row.kind == QUIRE_ROW_GAP ? "~" : string(row.body))
                position = row.position
            }
            #expect(seen == ["z", "y", "x", "~", "c", "b", "a"])
        }
    }

    /// What has which rank, against a walk of the rows: a b c ~ x y z
    @Test func ranksAreThoseOfAWalk() throws {
        let program = try CProgram()
        try program.page("xyz", next: "n1")
        try program.page("abc", next: "n2")
        try program.withSnapshot { snapshot in
            let feed = program.feed
            var all = [quire_row](repeating: quire_row(), count: 8)
            var rows = [quire_row](repeating: quire_row(), count: 8)
            var count = 0
            var rank: UInt64 = 9
            try ok(quire_read_after(snapshot, feed, nil, &all, 8, &count))
            #expect(count == 7 && all[3].kind == QUIRE_ROW_GAP)
            try ok(quire_row_count(snapshot, feed, &rank))
            #expect(rank == 7)
            for (i, row) in all[..<7].enumerated() {
                try ok(quire_read_from_rank(snapshot, feed, UInt64(i), &rows, 8, &count))
                #expect(count == 7 - i)
                for (read, walked) in zip(rows, all[i..<7]) {
                    #expect(read.kind == walked.kind && string(read.body) == string(walked.body))
                    #expect(read.position.opaque == walked.position.opaque)
                }
                var position = row.position
                try ok(quire_rank_of_row(snapshot, feed, &position, &rank))
                #expect(rank == i)
                if row.kind == QUIRE_ROW_GAP { continue }
                try ok(quire_rank_of_post(snapshot, feed, row.id, &rank))
                #expect(rank == i)
            }
            try ok(quire_read_from_rank(snapshot, feed, 2, &rows, 2, &count))
            #expect(count == 2 && rows[1].kind == QUIRE_ROW_GAP)
            try ok(quire_read_from_rank(snapshot, feed, 7, &rows, 8, &count))
            #expect(count == 0)
        }
    }

    /// The keys 9 8 7 ~ 4 3, and a local post above them all.
    @Test func aKeyHasTheRankOfTheFirstPostThatIsNotNewer() throws {
        let program = try CProgram()
        let feed = try program.openFeed("dated", order: QUIRE_ORDER_STABLE)
        defer { quire_feed_close(feed) }
        for keys in [[4, 3], [9, 8, 7]] as [[Int64]] { try program.page(keys: keys, of: feed) }
        var done: Int32 = 0
        try ok(quire_insert_local(feed, nil, bytes("mine"), bytes(""), &done))
        try program.withSnapshot { snapshot in
            for (key, expected) in [
                (.max, 1), (9, 1), (8, 2), (7, 3), (6, 5), (4, 5), (3, 6), (2, 7), (.min, 7),
            ] as [(Int64, UInt64)] {
                var rank: UInt64 = 99
                try ok(quire_rank_of_key(snapshot, feed, key, &rank))
                #expect(rank == expected, "key \(key)")
            }
        }
    }

    @Test func aSnapshotStaysAsItWas() throws {
        let program = try CProgram()
        try program.page("abc", next: "n1")
        try program.withSnapshot { snapshot in
            var row = quire_row()
            try ok(quire_find(snapshot, program.feed, bytes("b"), &row))
            try ok(quire_delete(program.feed, nil, bytes("b")))
            #expect(string(row.body) == "b")
            try ok(quire_find(snapshot, program.feed, bytes("b"), &row))
        }
        #expect(try program.picture() == "a c")
    }

    @Test func pagesAreReadByIndex() throws {
        let program = try CProgram()
        try program.page("bcde", next: "n1")
        try program.page("abc", next: "n2")
        try program.withSnapshot { snapshot in
            var pages = [quire_page](repeating: quire_page(), count: 4)
            var rows = [quire_row](repeating: quire_row(), count: 4)
            var count = 0
            try ok(quire_read_pages(snapshot, program.feed, 0, &pages, 4, &count))
            #expect(count == 2 && pages[0].duplicates == 2 && pages[0].is_full == 0)
            try ok(quire_read_pages(snapshot, program.feed, 1, &pages, 4, &count))
            #expect(count == 1 && pages[0].index == 1 && string(pages[0].next.text) == "n1")
            #expect(pages[0].received == 4 && pages[0].posts == 2 && pages[0].is_full == 1)
            try ok(quire_read_page(snapshot, program.feed, pages[0].number, 1, &rows, 4, &count))
            #expect(count == 1 && string(rows[0].id) == "e")
        }
    }

    @Test func changesTellWhatHappened() throws {
        let program = try CProgram()
        try program.page("bc", next: "n1")
        var before: UInt64 = 0
        try ok(quire_generation(program.cache, &before))
        try program.page("ab", next: "n2")
        var now: UInt64 = 0
        try ok(quire_wait(program.cache, before, 0, &now))
        #expect(now == before + 2)  // the plan is a commit too
        try program.withSnapshot { snapshot in
            var changes: UnsafePointer<quire_change>?
            var count = 0
            try ok(quire_changes_since(snapshot, before, &changes, &count))
            let change = try #require(changes?.pointee)
            #expect(count == 1 && change.kind == QUIRE_CHANGE_INSERTED && change.below_kind == 0)
            #expect(string(change.id) == "a" && change.generation == now)
        }
        #expect(quire_wait(program.cache, now, 5, &now) == QUIRE_TIMEOUT)
    }

    // MARK: Batches

    /// What a batch's callback works with.
    final class Job {
        let program: CProgram
        var run: OpaquePointer?
        var calls = 0
        var result = quire_status(QUIRE_OK)
        init(_ program: CProgram) { self.program = program }

        func start(_ body: quire_batch_callback) -> quire_status {
            quire_batch_run(program.cache, body, Unmanaged.passUnretained(self).toOpaque())
        }

        static func of(_ context: UnsafeMutableRawPointer?) -> Job {
            Unmanaged<Job>.fromOpaque(context!).takeUnretainedValue()
        }
    }

    @Test func anAbandonedBatchLeavesNothingAndItsRunStaysWhereItWas() throws {
        let program = try CProgram()
        let job = Job(program)
        try ok(quire_crawl_begin(program.feed, Int32(QUIRE_CRAWL_HEAD), 1, &job.run))
        defer { quire_crawl_end(job.run) }
        let body: quire_batch_callback = { context, batch in
            let job = Job.of(context)
            for letters in ["ab", "cd"] as [StaticString] {
                var outcome = sized(quire_outcome())
                job.program.answer(letters, next: "n") { answer in
                    let status = quire_crawl_ingest(job.run, batch, UInt64.max, answer, &outcome)
                    if status != QUIRE_OK { job.result = status }
                }
                quire_outcome_free(&outcome)
            }
            return job.result
        }
        job.result = 7
        #expect(job.start(body) == 7)
        #expect(try program.picture() == "")
        job.result = quire_status(QUIRE_OK)
        #expect(job.start(body) == QUIRE_OK)
        #expect(try program.picture() == "a b c d")
    }

    @Test func aBatchRunsAgainWhenTheFileMustGrow() throws {
        let program = try CProgram(mapSize: 1 << 20)
        let job = Job(program)
        try program.page("a", next: "n")
        let status = job.start { context, batch in
            let job = Job.of(context)
            job.calls += 1
            let body = [UInt8](repeating: 7, count: 2 << 20)
            var done: Int32 = 0
            return body.withUnsafeBytes {
                let bytes = quire_bytes(data: $0.baseAddress, size: $0.count)
                return quire_update_body(
                    job.program.cache, batch, quire_bytes(), id("a"), bytes, nil, UInt32(QUIRE_DETAIL_FULL),
                    &done)
            }
        }
        #expect(status == QUIRE_OK && job.calls > 1)
        try program.withSnapshot { snapshot in
            var info = sized(quire_post_info())
            try ok(quire_post_get_info(snapshot, quire_bytes(), bytes("a"), &info))
            #expect(info.body.size == 2 << 20)
        }
    }

    @Test func aBatchIsFasterThanOneCommitEachAndSeesItself() throws {
        let program = try CProgram()
        let job = Job(program)
        let status = job.start { context, batch in
            let job = Job.of(context)
            do {
                try job.program.page("ab", next: "n", in: batch)
                try ok(quire_pin(job.program.feed, batch, id("b")))
            } catch { return -1 }
            return quire_pin(job.program.feed, batch, id("absent")) == QUIRE_NOT_FOUND ? 0 : -2
        }
        #expect(status == QUIRE_OK)
        #expect(try program.picture() == "a b")
        var generation: UInt64 = 0
        try ok(quire_generation(program.cache, &generation))
        #expect(generation == 2)  // the feed, and the batch
    }
}

private func id(_ text: StaticString) -> quire_bytes { bytes(text) }
