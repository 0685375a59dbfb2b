import CQuire
import Glibc

/// A program of calls: each byte says what to do, the bytes behind it with what. Whatever is called with
/// whatever numbers, the cache stays sound. The calls of one input are one batch that is undone, or, if its
/// first byte is 1 modulo 16, commits of their own in a fresh cache.
struct CallFuzzing {
    private var bytes: ArraySlice<UInt8>
    private let cache: OpaquePointer
    private let feeds: [OpaquePointer]
    private var batch: OpaquePointer?
    private var tickets: [UInt64] = [0, 1, .max]

    private static let ids =
        (0..<12).map { "\($0)" } + ["x", String(repeating: "z", count: 300), "", "\u{0}"]
    nonisolated(unsafe) private static var shared: (cache: OpaquePointer, feeds: [OpaquePointer])?

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let isShared = first % 16 != 1
        if isShared && shared == nil { shared = open(Scratch.folder + "/shared.quire") }
        let path = Scratch.folder + "/calls.quire"
        let (cache, feeds) = isShared ? shared! : open(path)
        var program = CallFuzzing(bytes: input.dropFirst(), cache: cache, feeds: feeds)
        if isShared {
            withUnsafeMutablePointer(to: &program) { program in
                _ = quire_batch_run(
                    cache,
                    { context, batch in
                        let program = context!.assumingMemoryBound(to: CallFuzzing.self)
                        let whole = program.pointee
                        program.pointee.batch = batch
                        program.pointee.runAll()
                        program.pointee = whole  // it may run again
                        return Int32(QUIRE_BAD_ARGUMENT)
                    }, program)
            }
        } else {
            program.runAll()
            var count = 0
            let status = quire_check(cache, 0, 0, nil, nil, nil, &count)
            precondition(status == QUIRE_OK && count == 0, "check finds damage")
            for feed in feeds { quire_feed_close(feed) }
            quire_close(cache)
            for end in ["", "-lock"] { unlink(path + end) }
        }
    }

    private static func open(_ path: String) -> (OpaquePointer, [OpaquePointer]) {
        var cache: OpaquePointer?
        var options = sized(quire_cache_options())
        options.durability = Int32(QUIRE_DURABILITY_RELAXED)
        options.map_size = 1 << 22
        precondition(quire_open(path, &options, &cache) == QUIRE_OK, "no cache")
        let feeds = [
            (QUIRE_ORDER_STABLE, QUIRE_PAGING_KEYSET), (QUIRE_ORDER_BUMP, QUIRE_PAGING_CURSOR),
            (QUIRE_ORDER_KEYLESS, QUIRE_PAGING_OFFSET), (QUIRE_ORDER_RANKED, QUIRE_PAGING_IDS),
        ]
        .map { order, paging in
            var feed: OpaquePointer?
            var options = sized(quire_feed_options())
            (options.order, options.paging) = (Int32(order), Int32(paging))
            (options.page_size, options.minimum_run, options.first_page) = (3, 2, 1)
            let name = "\(order)"
            precondition(
                Bytes.lending(name) { quire_feed_open(cache, $0, &options, &feed) } == QUIRE_OK, "no feed")
            ViewCalls.open(feed!)
            return feed!
        }
        return (cache!, feeds)
    }

    // MARK: Bytes

    private init(bytes: ArraySlice<UInt8>, cache: OpaquePointer, feeds: [OpaquePointer]) {
        (self.bytes, self.cache, self.feeds) = (bytes, cache, feeds)
    }

    private mutating func byte() -> Int { Int(bytes.popFirst() ?? 0) }
    private mutating func below(_ count: Int) -> Int { byte() % count }
    private mutating func id() -> String { Self.ids[below(Self.ids.count)] }
    private mutating func feed() -> OpaquePointer { feeds[below(feeds.count)] }

    /// Small ones, and those at which arithmetic ends.
    private mutating func number() -> Int64 {
        let small = byte()
        return small < 250 ? Int64(small) : [.max, .min, -1, 1 << 32, Int64(Int32.max), 1 << 62][small - 250]
    }

    // MARK: Calls

    private mutating func runAll() {
        var calls = 0
        while !bytes.isEmpty && calls < 64 {
            calls += 1
            call()
        }
    }

    private mutating func call() {
        let (feed, id) = (feed(), id())
        var count: UInt64 = 0
        var done: Int32 = 0
        switch below(20) {
        case 0, 1, 2: plan(feed)
        case 3, 4, 5: ingest(feed)
        case 6: Bytes.lending(id) { _ = quire_delete(feed, batch, $0) }
        case 7: Bytes.lending([id, self.id(), self.id()]) { _ = quire_evict(feed, batch, $0, &count) }
        case 8: Bytes.lending(id) { _ = quire_pin(feed, batch, $0) }
        case 9: Bytes.lending(id) { _ = quire_unpin(feed, batch, $0) }
        case 10:
            Bytes.lending(id) { id in
                Bytes.lending("body") { _ = quire_insert_local(feed, batch, id, $0, &done) }
            }
        case 11: Bytes.lending(id) { _ = quire_remove_local(feed, batch, $0, &done) }
        case 12: prune(feed)
        case 13:
            var version = number()
            Bytes.lending(id) { id in
                Bytes.lending("new body") {
                    _ = quire_update_body(
                        cache, batch, quire_bytes(), id, $0, &version,
                        UInt32(truncatingIfNeeded: version) & 511, &done)
                }
            }
        case 14: fields(id)
        case 15: look(feed)
        case 16:
            if batch == nil { _ = quire_reclaim(cache, Int(truncatingIfNeeded: number()), &count) }
            let ticket = tickets[below(tickets.count)]
            if below(2) == 0 {
                _ = quire_cancel(feed, batch, ticket)
            } else {
                var outcome = quire_outcome()
                outcome.struct_size = UInt32(MemoryLayout<quire_outcome>.size)
                _ = quire_drop_link(feed, batch, ticket, &outcome)
                quire_outcome_free(&outcome)
            }
        case 17: name(feed, id)
        case 18: push(feed)
        default: record(feed)
        }
    }

    private mutating func name(_ feed: OpaquePointer, _ id: String) {
        let (other, isLocal) = (self.id(), below(2) == 0)
        var result: Int32 = 0
        Bytes.lending(id) { id in
            Bytes.lending(other) {
                _ =
                    isLocal
                    ? quire_confirm_local(feed, batch, id, $0, &result)
                    : quire_add_alias(cache, batch, quire_bytes(), id, $0, &result)
            }
        }
    }

    private mutating func plan(_ feed: OpaquePointer) {
        var place = sized(quire_place())
        place.kind = Int32(below(12))
        place.gap = UInt64(bitPattern: number())
        place.limit = UInt32(truncatingIfNeeded: number())
        place.is_bounded = Int32(below(2))
        var request = sized(quire_request())
        Bytes.lending(id()) { target in
            place.target = target
            withUnsafePointer(to: target) {
                place.posts = quire_ids(items: $0, count: 1)
                if quire_plan(feed, batch, &place, &request) == QUIRE_OK { tickets.append(request.ticket) }
            }
        }
        quire_request_free(&request)
    }

    private mutating func withAnswer(_ body: (UnsafePointer<quire_answer>) -> Void) {
        let names = (0..<below(8)).map { _ in id() }
        var answer = sized(quire_answer())
        answer.next.kind = Int32(below(10))
        answer.previous.kind = Int32(below(10))
        answer.fetched_at = number()
        answer.opaque_rows = UInt64(below(3))
        let hasToken = below(3) == 0
        let keys = names.map { _ in (key: number(), version: number(), flags: UInt32(below(4))) }
        Bytes.lending(id()) { token in
            answer.next.text = token
            answer.previous.text = token
            Bytes.lending(names) { ids in
                let posts = zip(0..<names.count, keys).map { i, key in
                    quire_post(
                        id: ids.items![i], body: ids.items![i], key: key.key, version: key.version,
                        flags: key.flags, detail: UInt32(key.flags) << 6)
                }
                posts.withUnsafeBufferPointer { posts in
                    answer.post_size = UInt32(MemoryLayout<quire_post>.stride)
                    (answer.posts, answer.count) = (posts.baseAddress, posts.count)
                    if hasToken { (answer.since, answer.deleted) = (token, ids) }
                    withUnsafePointer(to: answer, body)
                }
            }
        }
    }

    private mutating func ingest(_ feed: OpaquePointer) {
        let ticket = below(3) == 0 ? tickets[below(tickets.count)] : tickets[tickets.count - 1]
        let batch = batch
        withAnswer { answer in
            var outcome = sized(quire_outcome())
            _ = quire_ingest(feed, batch, ticket, answer, &outcome)
            quire_outcome_free(&outcome)
        }
    }

    private mutating func push(_ feed: OpaquePointer) {
        let (batch, follows, hasNumber) = (batch, below(2) == 0 ? id() : "", below(2) == 0)
        var number = UInt64(bitPattern: number())
        switch below(8) {
        case 0: _ = quire_begin_live(feed, batch, &number)
        case 1: _ = quire_end_live(feed, batch)
        default: break
        }
        withAnswer { answer in
            var outcome = sized(quire_outcome())
            Bytes.lending(follows) { follows in
                withUnsafeMutablePointer(to: &number) {
                    _ = quire_push(
                        feed, batch, answer, hasNumber ? UnsafePointer($0) : nil, follows, &outcome)
                }
            }
            quire_outcome_free(&outcome)
        }
    }

    private mutating func record(_ feed: OpaquePointer) {
        var run: OpaquePointer?
        guard quire_crawl_begin(feed, Int32(below(4)), UInt64(bitPattern: number()), &run) == QUIRE_OK else {
            return
        }
        defer { quire_crawl_end(run) }
        for _ in 0..<below(3) {
            let page = UInt64(bitPattern: number())
            let batch = batch
            withAnswer { answer in
                var outcome = sized(quire_outcome())
                _ = quire_crawl_ingest(run, batch, page, answer, &outcome)
                quire_outcome_free(&outcome)
            }
        }
    }

    private mutating func prune(_ feed: OpaquePointer) {
        var policy = sized(quire_prune_policy())
        var result = sized(quire_prune_result())
        policy.flags = UInt32(byte())
        (policy.maximum_posts, policy.maximum_pages) = (
            UInt64(bitPattern: number()), UInt64(bitPattern: number())
        )
        (policy.maximum_age, policy.now) = (number(), number())
        policy.budget = UInt64(bitPattern: number())
        _ = quire_prune(feed, batch, &policy, &result)
    }

    private mutating func fields(_ id: String) {
        let version = number()
        var result: Int32 = 0
        Bytes.lending([id, self.id()]) { ids in
            var field = quire_field()
            (field.name, field.value) = (ids.items![1], ids.items![0])
            _ = quire_update_fields(cache, batch, quire_bytes(), ids.items![0], &field, 1, version, &result)
        }
    }

    private mutating func look(_ feed: OpaquePointer) {
        var snapshot: OpaquePointer?
        guard quire_snapshot_begin(cache, &snapshot) == QUIRE_OK else { return }
        defer { quire_snapshot_end(snapshot) }
        var rows = [quire_row](repeating: quire_row(), count: 4)
        var count = 0
        _ = quire_read_after(snapshot, feed, nil, &rows, 4, &count)
        if count > 0 {
            var position = rows[below(count)].position
            _ = quire_read_before(snapshot, feed, &position, &rows, 4, &count)
            var rank: UInt64 = 0
            let status = quire_rank_of_row(snapshot, feed, &position, &rank)
            precondition(status == QUIRE_OK && rank < 4, "a row has no rank")
            _ = quire_rank_of_key(snapshot, feed, number(), &rank)
            _ = quire_read_from_rank(snapshot, feed, UInt64(bitPattern: number()), &rows, 4, &count)
        }
        var changes: UnsafePointer<quire_change>?
        _ = quire_changes_since(snapshot, UInt64(bitPattern: number()), &changes, &count)
        look(snapshot, feed)
        ViewCalls.read(snapshot, feed)
    }

    /// Opens a window, moves it and reads it.
    private mutating func look(_ snapshot: OpaquePointer?, _ feed: OpaquePointer?) {
        var start = quire_window_start()
        start.struct_size = UInt32(MemoryLayout<quire_window_start>.size)
        (start.kind, start.key, start.rank) = (Int32(below(6)), number(), UInt64(bitPattern: number()))
        (start.above, start.below) = (UInt32(below(4)), UInt32(below(4)))
        var window: OpaquePointer?
        guard quire_window_open(snapshot, feed, &start, &window) == QUIRE_OK else { return }
        defer { quire_window_close(window) }
        _ = quire_window_look(window, UInt64(bitPattern: number()), UInt32(below(4)), UInt32(below(4)))
        var difference = quire_difference()
        difference.struct_size = UInt32(MemoryLayout<quire_difference>.size)
        let status = quire_window_update(window, snapshot, &difference)
        precondition(status == QUIRE_OK, "a window is not updated")
        var rows = [quire_row](repeating: quire_row(), count: 8)
        var count = 0
        precondition(quire_window_read(window, snapshot, 0, &rows, 8, &count) == QUIRE_OK && count < 8)
    }
}

/// Text as the C API takes it.
private enum Bytes {
    @discardableResult
    static func lending<R>(_ text: String, _ body: (quire_bytes) -> R) -> R {
        var text = text
        return text.withUTF8 { body(quire_bytes(data: $0.baseAddress, size: $0.count)) }
    }

    static func lending<R>(_ texts: [String], _ body: (quire_ids) -> R) -> R {
        let whole = Array(texts.joined().utf8)
        return whole.withUnsafeBufferPointer { whole in
            var at = 0
            let items = texts.map { text in
                defer { at += text.utf8.count }
                return quire_bytes(data: whole.baseAddress.map { $0 + at }, size: text.utf8.count)
            }
            return items.withUnsafeBufferPointer { body(quire_ids(items: $0.baseAddress, count: $0.count)) }
        }
    }
}

/// What the _INIT macros do, which Swift does not import.
private func sized<T>(_ structure: T) -> T {
    var structure = structure
    withUnsafeMutableBytes(of: &structure) { $0.storeBytes(of: UInt32($0.count), as: UInt32.self) }
    return structure
}
