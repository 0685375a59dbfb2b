import CQuire
import Foundation
import Testing

/// A cache and a feed as a C program has them: this folder's tests see quire.h, not the engine.
final class CProgram {
    let folder: String
    private(set) var cache: OpaquePointer?
    private(set) var feed: OpaquePointer?

    var path: String { folder + "/test.quire" }

    init(mapSize: UInt64 = 0) throws {
        folder = NSTemporaryDirectory() + "/quire-c-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var options = sized(quire_cache_options())
        options.durability = Int32(QUIRE_DURABILITY_RELAXED)
        options.map_size = mapSize
        try ok(quire_open(path, &options, &cache))
        feed = try openFeed("main")
    }

    deinit {
        quire_feed_close(feed)
        quire_close(cache)
        try? FileManager.default.removeItem(atPath: folder)
    }

    func openFeed(_ name: StaticString, order: Int = QUIRE_ORDER_KEYLESS) throws -> OpaquePointer {
        var feed: OpaquePointer?
        var options = sized(quire_feed_options())
        (options.order, options.paging) = (Int32(order), Int32(QUIRE_PAGING_CURSOR))
        (options.page_size, options.minimum_run, options.first_page) = (20, 2, 1)
        try ok(quire_feed_open(cache, bytes(name), &options, &feed))
        return try #require(feed)
    }

    /// Plans and ingests a page whose ids are one letter each. Returns the verdict's name.
    @discardableResult
    func page(
        at kind: Int = QUIRE_PLACE_HEAD, gap: UInt64 = 0, _ letters: StaticString,
        next: StaticString, in batch: OpaquePointer? = nil
    ) throws -> String {
        var place = sized(quire_place())
        (place.kind, place.gap) = (Int32(kind), gap)
        var request = sized(quire_request())
        try ok(quire_plan(feed, batch, &place, &request))
        defer { quire_request_free(&request) }
        var outcome = sized(quire_outcome())
        try answer(letters, next: next) {
            try ok(quire_ingest(feed, batch, request.ticket, $0, &outcome))
        }
        defer { quire_outcome_free(&outcome) }
        return String(cString: quire_verdict_name(outcome.verdict)!)
    }

    /// Plans and ingests a page at the head of a feed, of posts whose ids are the digits of their keys.
    func page(keys: [Int64], of feed: OpaquePointer) throws {
        var place = sized(quire_place())
        place.kind = Int32(QUIRE_PLACE_HEAD)
        var request = sized(quire_request())
        try ok(quire_plan(feed, nil, &place, &request))
        defer { quire_request_free(&request) }
        var outcome = sized(quire_outcome())
        defer { quire_outcome_free(&outcome) }
        let digits: StaticString = "0123456789"
        let posts = keys.map { key in
            let id = quire_bytes(data: digits.utf8Start + Int(key), size: 1)
            return quire_post(
                id: id, body: id, key: key, version: 0, flags: UInt32(QUIRE_POST_HAS_KEY), detail: 0)
        }
        try posts.withUnsafeBufferPointer { posts in
            var answer = sized(quire_answer())
            answer.post_size = UInt32(MemoryLayout<quire_post>.stride)
            (answer.posts, answer.count) = (posts.baseAddress, posts.count)
            answer.next.kind = Int32(QUIRE_LINK_MORE)
            try ok(quire_ingest(feed, nil, request.ticket, &answer, &outcome))
        }
    }

    func answer(
        _ letters: StaticString, next: StaticString,
        _ body: (UnsafePointer<quire_answer>) throws -> Void
    ) rethrows {
        let posts = (0..<letters.utf8CodeUnitCount).map { at in
            let letter = quire_bytes(data: letters.utf8Start + at, size: 1)
            return quire_post(id: letter, body: letter, key: 0, version: 0, flags: 0, detail: 0)
        }
        try posts.withUnsafeBufferPointer { posts in
            var answer = sized(quire_answer())
            answer.post_size = UInt32(MemoryLayout<quire_post>.stride)
            (answer.posts, answer.count) = (posts.baseAddress, posts.count)
            answer.next.kind = Int32(QUIRE_LINK_TOKEN)
            answer.next.text = bytes(next)
            try body(&answer)
        }
    }

    /// The id of a row, as text.
    func id(_ row: quire_row) -> String {
        var (row, digits) = (row, [CChar](repeating: 0, count: Int(QUIRE_DIGITS)))
        return digits.withUnsafeMutableBufferPointer { string(quire_row_id(&row, $0.baseAddress)) }
    }

    /// The feed as one line, read a few rows at a time.
    func picture() throws -> String {
        try withSnapshot { snapshot in
            var words: [String] = []
            var rows = [quire_row](repeating: quire_row(), count: 3)
            var count = 0
            try ok(quire_read_after(snapshot, feed, nil, &rows, 3, &count))
            while count > 0 {
                words += rows[..<count].map {
                    $0.kind == QUIRE_ROW_GAP ? "~" : id($0)
                }
                var position = rows[count - 1].position
                try ok(quire_read_after(snapshot, feed, &position, &rows, 3, &count))
            }
            return words.joined(separator: " ")
        }
    }

    func withSnapshot<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
        var snapshot: OpaquePointer?
        try ok(quire_snapshot_begin(cache, &snapshot))
        defer { quire_snapshot_end(snapshot) }
        return try body(try #require(snapshot))
    }
}

/// What the _INIT macros do, which Swift does not import.
func sized<T>(_ structure: T) -> T {
    var structure = structure
    withUnsafeMutableBytes(of: &structure) {
        $0.storeBytes(of: UInt32($0.count), as: UInt32.self)
    }
    return structure
}

func bytes(_ text: StaticString) -> quire_bytes {
    quire_bytes(data: text.utf8Start, size: text.utf8CodeUnitCount)
}

func string(_ bytes: quire_bytes) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes.data, count: bytes.size), as: UTF8.self)
}

struct CFailure: Error, CustomStringConvertible {
    let description: String
}

func ok(_ status: quire_status) throws {
    if status == QUIRE_OK { return }
    var error = sized(quire_error())
    quire_last_error(&error)
    throw CFailure(description: "\(status): \(error.message.map { String(cString: $0) } ?? "")")
}
