import CQuire

/// Two views of a feed of a ``CallFuzzing`` program. A check asks their callbacks again, so each commit of
/// such a program must have kept them.
enum ViewCalls {
    private static let names = ["in feed", "by keys"]

    /// Opens both, in the order of the feed and by keys. They are kept until the cache is closed.
    static func open(_ feed: OpaquePointer) {
        for (name, order) in zip(names, [QUIRE_VIEW_FEED, QUIRE_VIEW_KEYS]) {
            var options = quire_view_options()
            options.struct_size = UInt32(MemoryLayout<quire_view_options>.size)
            (options.order, options.version) = (Int32(order), 1)
            var view: OpaquePointer?
            let status = lending(name) { name in
                quire_view_open(
                    feed, name, &options,
                    { _, post, entry in
                        guard let post = post?.pointee, let entry else { return 0 }
                        entry.pointee.section = quire_bytes(
                            data: post.body.data, size: min(1, post.body.size))
                        entry.pointee.key = post.body
                        return post.body.size % 3 == 1 || post.id_number % 2 == 0 ? 1 : 0
                    }, nil, &view)
            }
            precondition(status == QUIRE_OK, "no view")
            quire_view_close(view)
        }
    }

    /// Reads both, in portions: each row once, as many posts as the view says, and as its sections say.
    static func read(_ snapshot: OpaquePointer?, _ feed: OpaquePointer) {
        for name in names {
            var view: OpaquePointer?
            guard lending(name, { quire_view_find(feed, $0, &view) }) == QUIRE_OK else { continue }
            defer { quire_view_close(view) }
            var info = quire_view_info()
            info.struct_size = UInt32(MemoryLayout<quire_view_info>.size)
            guard quire_view_get_info(snapshot, view, &info) == QUIRE_OK else { continue }
            precondition(info.is_current == 1, "a view is not current")
            var rows = [quire_row](repeating: quire_row(), count: 3)
            var (posts, count, isGap): (UInt64, Int, Bool) = (0, 0, false)
            var position: quire_position?
            repeat {
                let status = withUnsafePointer(to: position ?? quire_position()) { start in
                    quire_view_read_after(snapshot, view, position == nil ? nil : start, &rows, 3, &count)
                }
                precondition(status == QUIRE_OK, "a view is not read")
                for row in rows[..<count] {
                    precondition(row.kind == Int32(QUIRE_ROW_POST) || !isGap, "two gaps")
                    isGap = row.kind != Int32(QUIRE_ROW_POST)
                    if !isGap { posts += 1 }
                    position = row.position
                }
            } while count == 3
            var sections = [quire_view_section](repeating: quire_view_section(), count: 300)
            var last: UInt64 = 0
            if quire_view_sections(snapshot, view, 0, &sections, 300, &count) == QUIRE_OK, count > 0 {
                last = sections[count - 1].rank + sections[count - 1].posts
            }
            precondition(posts == info.posts && posts == last, "a view counts otherwise")
        }
    }

    private static func lending(_ text: String, _ body: (quire_bytes) -> quire_status) -> quire_status {
        var text = text
        return text.withUTF8 { body(quire_bytes(data: $0.baseAddress, size: $0.count)) }
    }
}
