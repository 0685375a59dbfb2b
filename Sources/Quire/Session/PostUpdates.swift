// R23: changes of posts that do not come with a page.

extension WriteSession {
    func update(
        _ id: PostID, body: [UInt8], version: Int64?, detail: Detail = .full,
        in collection: String = ""
    ) throws -> UpdateResult {
        guard let number = try transaction.collection(collection) else { return .missing }
        let id = counters.aliases == 0 ? id : try transaction.name(of: id, in: number)
        let index = try index(of: number)
        let positions = index.positions(of: id)
        let patch = try patch(of: id, at: positions)
        guard let before = try patch?.entry ?? transaction.post(id, at: positions) else { return .missing }
        if before.body.record == 0, let stored = before.version, let version, version < stored {
            return .stale
        }
        var entry = before
        let isTaken = entry.meets(version: version, detail: body.isEmpty ? .full : detail, hasBody: true)
        if body.isEmpty { entry.newest = nil }
        var found: FoundBodies?
        let isSame = try isEqual(before.body, body[...], &found)
        if isSame || !isTaken {
            if !entry.hasSameBody(as: before) && !entry.isPlaceholder {
                try repoint(id, to: entry, at: positions, patch)
                touch()
            }
            return isTaken ? .same : .stale
        }
        enter(number)
        release(before.body)
        let isPatchValid = hasRoom(for: body.count)  // otherwise a full record is written first
        entry.body = BodyReference()
        if !body.isEmpty {
            try requireHeadroom(for: body.count)
            entry.body = try store(body, of: index.address(of: id))
            counters.bodyBytes &+= UInt64(body.count)
        }
        try repoint(id, to: entry, at: positions, isPatchValid ? patch : nil)
        touch()
        return .changed
    }

    /// Returns the patch for the entry of a post that is in one place, valid until the next write.
    private func patch(
        of id: PostID, at positions: [(feed: UInt32, position: UInt64)]
    ) throws -> ChunkPatch? {
        if positions.count != 1 { return nil }
        let (feed, position) = positions[0]
        try forgetLoaded(feed)
        guard let patch = try transaction.patch(of: id, at: position, of: feed) else {
            throw QuireError.corrupt("the place of post \(id)")
        }
        return patch
    }

    func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        guard let number = try transaction.collection(collection) else { return .missing }
        let id = counters.aliases == 0 ? id : try transaction.name(of: id, in: number)
        let holders = try index(of: number).positions(of: id)
        if holders.isEmpty { return .missing }
        let stored = try transaction.fields(of: id, in: number)
        var record = stored ?? FieldsRecord(id: id)
        var (isChanged, isApplied) = (false, false)
        for (name, value) in fields {
            let field = FieldsRecord.Field(name: name, version: version, value: value)
            guard let at = record.fields.firstIndex(where: { $0.name == name }) else {
                record.fields.append(field)
                (isChanged, isApplied) = (true, true)
                continue
            }
            if version < record.fields[at].version { continue }
            isApplied = true
            isChanged = isChanged || record.fields[at].value != value
            record.fields[at] = field
        }
        if !isApplied { return .stale }
        if stored == nil { counters.fieldRecords += 1 }
        record.fields.sort { $0.name < $1.name }
        try transaction.put(.fields, PostKey.bytes(id, in: number), record)
        touch()
        if isChanged {
            for (feed, _) in holders { noteUpdate(of: id, in: feed) }
        }
        return isChanged ? .changed : .same
    }
}

// R31.5: requested bodies, in a feed whose lists bring the rows.

extension WriteSession {
    /// Takes in an answer that changes bodies only. A post that is not in it is not gone, and neighbours in
    /// it need not be neighbours in the feed.
    func takeBodies(
        _ answer: Answer, _ ticket: TicketRecord, in feed: UInt32, _ record: FeedRecord
    ) throws -> Outcome {
        let isStale = ticket.resets != record.resets
        if isStale || answer.posts.isEmpty {
            try cancel(Ticket(ticket.number), in: feed)
            return isStale ? Outcome(.stale, reason: "reset") : Outcome(.empty)
        }
        // before any write: the index lends bytes that a write may move
        let places = try index(of: record.collection).positions(of: answer.posts.map(\.id), in: feed)
        try tickets.remove(Ticket(ticket.number), of: feed)
        touch()
        var outcome = Outcome()
        for (post, place) in zip(answer.posts, places) {
            guard place != nil, !post.body.isEmpty, ticket.ids.contains(post.id) else {
                outcome.ignored.append(post.id)
                continue
            }
            outcome.duplicates.append(post.id)
            let result = try update(
                post.id, body: Array(answer.bytes[post.body]), version: post.version, detail: post.detail,
                in: record.options.collection)
            if result == .changed { outcome.updated += 1 }
        }
        outcome.opaqueRows = answer.opaqueRows
        return outcome
    }
}
