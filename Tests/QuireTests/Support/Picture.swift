@testable import Quire

/// The one-line picture of a feed.
///
///     [a b c] ~n2~ [x y z] |T        two segments, a gap, a tail link
///     [a b c] ~n2^u2~ [x y z] |end   the gap also knows a link upwards
///     u1| [c d e] |T                 open head: link u1 leads upwards
///     [+L a ?b] |@p1                 + detached entry, ? placeholder, @ overlapping link
enum Picture {
    // MARK: Showing

    static func show(_ feed: Feed) throws -> String {
        let (rows, record) = try feed.cache.environment.read { transaction in
            let reader = RowReader(transaction: transaction, feed: feed.number)
            return (try reader.rows(after: nil, limit: .max), try reader.record())
        }
        var parts = record.head.link == .end ? [] : [text(record.head) + "|"]
        var run: [String] = []
        func close() {
            parts.append("[" + run.joined(separator: " ") + "]")
            run = []
        }
        for row in rows {
            switch row {
            case .post(let post):
                run.append(
                    (post.isDetached ? "+" : "") + (post.isPlaceholder ? "?" : "") + post.id.description)
            case .gap(let gap):
                close()
                let down = (gap.isDownOverlapping ? "@" : "") + gap.down.description
                let up =
                    gap.up == .unknown
                    ? "" : "^" + (gap.isUpOverlapping ? "@" : "") + gap.up.description
                parts.append("~\(down)\(up)~")
            }
        }
        close()
        return (parts + ["|" + text(record.tail)]).joined(separator: " ")
    }

    private static func text(_ edge: Edge) -> String {
        (edge.isOverlapping ? "@" : "") + edge.link.description
    }

    // MARK: Reading

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    enum Token {
        case segment([String])
        case gap(String)
        case head(String)
        case tail(String)
    }

    static func tokens(_ text: String) throws -> [Token] {
        var tokens: [Token] = []
        var rest = Substring(text)
        func take(upTo end: Character) throws -> String {
            guard let at = rest.firstIndex(of: end) else {
                throw Mistake(description: "bad picture: \(text)")
            }
            defer { rest = rest[rest.index(after: at)...] }
            return String(rest[..<at])
        }
        while true {
            rest = rest.drop { $0 == " " }
            guard let first = rest.first else { return tokens }
            switch first {
            case "[":
                rest = rest.dropFirst()
                tokens.append(.segment(try take(upTo: "]").split(separator: " ").map(String.init)))
            case "~":
                rest = rest.dropFirst()
                tokens.append(.gap(try take(upTo: "~")))
            case "|":
                tokens.append(.tail(String(rest.dropFirst().prefix { $0 != " " })))
                rest = rest.drop { $0 != " " }
            default: tokens.append(.head(try take(upTo: "|")))
            }
        }
    }

    static func link(_ word: String) -> Link {
        switch word {
        case "?": .unknown
        case "end": .end
        case "confirm-end": .confirmEnd
        case "head": .head
        case "more": .more
        default: .token(word)
        }
    }

    /// A page that delivered some of the entries, as scenarios list them.
    struct Page {
        var ids: [String]
        var own: Link
        var next: Link
        var previous: Link
        var fetchedAt: Int64
    }

    /// Puts the picture into an empty feed. Without pages, each segment is one page.
    static func load(
        _ text: String, into feed: Feed, pages: [Page]? = nil, keys: [String: Int64] = [:]
    ) throws {
        let tokens = try tokens(text)
        var sketch = FeedState(options: feed.options)
        var segments: [[Int]] = []
        for token in tokens { add(token, keys, to: &sketch, segments: &segments) }
        let ids = sketch.index.ids
        try feed.cache.write { session in
            try session.change(feed.number, focus: { try $0.load(posts: ids) }) {
                state throws(Interruption) in
                var segments: [[Int]] = []
                for token in tokens { add(token, keys, to: &state, segments: &segments) }
                addPages(pages ?? defaultPages(state, segments), to: &state)
                try settleOverlaps(&state)
                return WriteSession.Effect()
            }
        }
    }

    private static func edge(_ word: String, _ state: inout FeedState, border: PostID?) -> Edge {
        let isOverlapping = word.hasPrefix("@")
        let link = link(isOverlapping ? String(word.dropFirst()) : word)
        return state.newEdge(link, after: isOverlapping ? border ?? "?" : nil)
    }

    private static func add(
        _ token: Token, _ keys: [String: Int64], to state: inout FeedState, segments: inout [[Int]]
    ) {
        switch token {
        case .segment(let words):
            segments.append([])
            for word in words {
                let isDetached = word.hasPrefix("+")
                let rest = isDetached ? word.dropFirst() : word[...]
                let isPlaceholder = rest.hasPrefix("?")
                let name = String(isPlaceholder ? rest.dropFirst() : rest)
                var entry = Entry(key: keys[name])
                (entry.isDetached, entry.isPlaceholder) = (isDetached, isPlaceholder)
                state.rows.append(.entry(state.entries.count))
                segments[segments.count - 1].append(state.entries.count)
                state.append(PostID(name)!, entry)
            }
        case .gap(let words):
            let parts = words.split(separator: "^", maxSplits: 1).map(String.init)
            let border = segments.last?.last.map { state.id(of: $0) }
            let down = edge(parts[0], &state, border: border)
            let up = edge(parts.count > 1 ? parts[1] : "?", &state, border: nil)
            state.gapNumbers += 1
            state.rows.append(state.newGap(Gap(id: GapID(state.gapNumbers), down: down, up: up)))
        case .head(let word): state.head = edge(word, &state, border: nil)
        case .tail(let word):
            let border = segments.last?.last.map { state.id(of: $0) }
            state.tail = edge(word, &state, border: border)
        }
    }

    private static func defaultPages(_ state: borrowing FeedState, _ segments: [[Int]]) -> [Page] {
        let gaps = state.gapRows.map { state.gaps[$0] }
        let links = gaps.map(\.down.link) + [state.tail.link]
        let ups = [state.head.link == .end ? .unknown : state.head.link] + gaps.map(\.up.link)
        return segments.enumerated().map { i, segment in
            Page(
                ids: segment.map { state.id(of: $0).description }, own: .unknown,
                next: links[i], previous: ups[i], fetchedAt: 0)
        }
    }

    private static func addPages(_ pages: [Page], to state: inout FeedState) {
        for page in pages {
            let entries = page.ids.map { state.index[PostID($0)!]! }
                .filter { !state.entries[$0].isDetached && !state.entries[$0].isPlaceholder }
            guard let first = entries.first, let last = entries.last else { continue }
            state.pageNumbers += 1
            var stored = StoredPage(number: state.pageNumbers, own: page.own)
            stored.next = page.next == .confirmEnd ? .end : page.next
            stored.previous = page.previous
            stored.first = state.id(of: first)
            stored.last = state.id(of: last)
            (stored.received, stored.new) = (entries.count, entries.count)
            stored.fetchedAt = page.fetchedAt
            state.pages[stored.number] = stored
            for entry in entries { state.entries[entry].page = stored.number }
        }
    }

    /// An overlapping link continues below the nearest page end above its border.
    private static func settleOverlaps(_ state: inout FeedState) throws(Interruption) {
        func start(_ edge: Edge, _ state: borrowing FeedState) throws(Interruption) -> PostID? {
            guard edge.isOverlapping, let border = try state.entryAbove(edge: edge.number) else {
                return nil
            }
            return try state.nearestLink(border).after ?? state.id(of: border)
        }
        for gap in state.gapRows {
            state.gaps[gap].down.after = try start(state.gaps[gap].down, state)
        }
        state.tail.after = try start(state.tail, state)
    }
}
