/// Checks the views of one feed against its chunks: what each says of a chunk, and whether its sections,
/// ranks, places and counts are the sum of that. If the process knows the function of a view, it is asked
/// again about each post.
struct ViewCheck {
    let transaction: Transaction
    let feed: UInt32
    let owner: FeedRecord
    let context: CheckContext
    let functions: ViewFunctions

    private func find(_ code: Finding.Code, _ view: ViewRecord, _ message: String) {
        context.find(code, "feed \(owner.name)", "view \(view.name): \(message)")
    }

    func run() throws {
        let views = try transaction.views(of: feed)
        if owner.hasViews == views.isEmpty {
            context.find(.count, "feed \(owner.name)", "has \(views.count) views, and says otherwise")
        }
        let isKnown = Set(views.map(\.number))
        var stray: UInt8?
        try forEach(.viewData(of: feed)) { key, _ in
            if let number = key.first, !isKnown.contains(number) { stray = number }
        }
        if let stray { context.find(.orphan, "feed \(owner.name)", "has records of a view number \(stray)") }
        if Set(views.map(\.record.name)).count < views.count {
            context.find(.orphan, "feed \(owner.name)", "two views have the same name")
        }
        for (number, view) in views where !context.isStopped { try check(view, number) }
    }

    private func forEach(
        _ table: Table, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    )
        throws
    {
        try transaction.withCursor(table) { cursor in
            var found = try cursor.first()
            while let (key, value) = found, !context.isStopped {
                try body(key, value)
                found = try cursor.next()
            }
        }
    }

    private func check(_ view: ViewRecord, _ number: UInt8) throws {
        let pending = try checkPending(view, number)
        let ranks = try RankIndex(transaction, .viewRanks(of: feed, view: number))
        var (count, sections) = (0, [[UInt8]: Int]())
        try forEach(.matches(of: feed, view: number)) { key, value in
            guard let at = NumberKey(key)?.number else { return }
            let matches = try ViewMatches(value, "view \(view.name)").all
            if view.order == .feed, ranks.ranks(before: at).rows != count {
                find(
                    .index, view,
                    "ranks count \(ranks.ranks(before: at).rows) posts above, there are \(count)")
            }
            count += matches.count
            for match in matches { sections[match.section, default: 0] += 1 }
            if at > view.built || pending.contains(at) {
                find(.ahead, view, "shows posts of a chunk that it has not seen")
            }
            guard let chunk = try transaction.get(.chunks(of: feed), NumberKey(at)) else {
                return find(.orphan, view, "shows posts of a chunk that does not exist")
            }
            try check(matches, of: view, number, at, chunk)
        }
        if view.order == .feed, ranks.total.rows != count {
            find(.index, view, "ranks count \(ranks.total.rows) posts, there are \(count)")
        }
        if view.posts != UInt64(count) { find(.count, view, "says \(view.posts) posts, there are \(count)") }
        try checkSections(sections, view, number)
        try checkPlaces(view, number)
        if let function = functions.function(of: feed, view) { try ask(function, view, number, pending) }
    }

    private func checkPending(_ view: ViewRecord, _ number: UInt8) throws -> Set<UInt64> {
        var pending: Set<UInt64> = []
        try forEach(.pending(of: feed, view: number)) { key, _ in
            guard let at = NumberKey(key)?.number else { return }
            pending.insert(at)
            if at > view.built { find(.ahead, view, "waits for a chunk that it has not come to") }
            if try transaction.get(.chunks(of: feed), NumberKey(at)) == nil {
                find(.orphan, view, "waits for a chunk that does not exist")
            }
        }
        if UInt64(pending.count) != view.pending {
            find(.count, view, "says that \(view.pending) chunks wait, there are \(pending.count)")
        }
        return pending
    }

    private func check(
        _ matches: [ViewMatch], of view: ViewRecord, _ number: UInt8, _ at: UInt64,
        _ value: UnsafeRawBufferPointer
    ) throws {
        let chunk = try ChunkRecord(value, "a chunk of feed \(owner.name)")
        for match in matches {
            guard match.slot < chunk.ids.count else {
                return find(.missing, view, "shows post \(match.slot) of a chunk of \(chunk.ids.count)")
            }
            guard let place = match.place else {
                if view.order == .keys { find(.missing, view, "a post without a place") }
                continue
            }
            let key = ViewPlace.key(section: match.section, place)
            let stored = try transaction.get(.places(of: feed, view: number), key)
            let known = try stored.map { try ViewPlace($0, "view \(view.name)") }
            if place.id != chunk.ids[match.slot] || known != ViewPlace(id: place.id, chunk: at) {
                find(.index, view, "post \(place.id) is not in its place")
            }
        }
    }

    private func checkSections(_ expected: [[UInt8]: Int], _ view: ViewRecord, _ number: UInt8) throws {
        var left = expected
        try forEach(.sections(of: feed, view: number)) { key, value in
            let count = Int(clamping: try ByteReader.number(value, "view \(view.name)"))
            if left.removeValue(forKey: Array(key)) != count {
                find(.count, view, "a section says \(count) posts, it has \(expected[Array(key)] ?? 0)")
            }
        }
        if !left.isEmpty && !context.isStopped {
            find(.count, view, "\(left.count) sections are not counted")
        }
    }

    private func checkPlaces(_ view: ViewRecord, _ number: UInt8) throws {
        var count: UInt64 = 0
        try forEach(.places(of: feed, view: number)) { _, _ in count += 1 }
        if count != (view.order == .keys ? view.posts : 0), !context.isStopped {
            find(.count, view, "has \(count) places for \(view.posts) posts")
        }
    }

    /// Asks the function about all posts that the view has seen.
    private func ask(
        _ function: @escaping StoredViewFunction, _ view: ViewRecord, _ number: UInt8, _ pending: Set<UInt64>
    ) throws {
        try forEach(.chunks(of: feed)) { key, value in
            guard let at = NumberKey(key)?.number, at <= view.built, !pending.contains(at) else { return }
            let bodies = BodyStore(transaction: transaction)
            let expected = try ViewMatches(
                askingAbout: value, of: feed, view.order, function, body: { try $1(bodies.bytes($0)) })
            if try transaction.matches(of: feed, view: number, at: at) != expected {
                find(.count, view, "shows other posts of a chunk than its function says")
            }
        }
    }
}
