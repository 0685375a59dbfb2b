// R28: several ids of one post. Entries, fields and the id index know a post by one id, its name. Every other
// id refers directly to the name, and the name lists the others. So the name can change, and a look-up takes
// at most one step.

// Every id in a call, an answer or a ticket is first replaced by the name of its post. In a cache without
// aliases this costs one comparison.

extension WriteSession {
    func name(of id: PostID, in feed: UInt32) throws -> PostID {
        if counters.aliases == 0 { return id }
        return try transaction.name(of: id, in: transaction.feed(feed).collection)
    }

    func names(of ids: [PostID], in feed: UInt32) throws -> [PostID] {
        if counters.aliases == 0 { return ids }
        let collection = try transaction.feed(feed).collection
        return try ids.map { try transaction.name(of: $0, in: collection) }
    }

    func named(_ answer: Answer, in feed: UInt32) throws -> Answer {
        if counters.aliases == 0 { return answer }
        let collection = try transaction.feed(feed).collection
        var answer = answer
        // an answer may show a post by several ids; the key given for its name counts
        var keys: [PostID: Int64?] = [:]
        for post in answer.posts where keys[post.id] == nil { keys[post.id] = .some(post.key) }
        for i in answer.posts.indices {
            let name = try transaction.name(of: answer.posts[i].id, in: collection)
            if name == answer.posts[i].id { continue }
            answer.posts[i].id = name
            if let key = keys[name] { answer.posts[i].key = key }
        }
        answer.deleted = try answer.deleted.map { try transaction.name(of: $0, in: collection) }
        return answer
    }

    func named(_ ticket: TicketRecord, in feed: UInt32) throws -> TicketRecord {
        let collection = try transaction.feed(feed).collection
        func name(_ id: PostID) throws -> PostID { try transaction.name(of: id, in: collection) }
        var ticket = ticket
        ticket.after = try ticket.after.map(name)
        ticket.minted = try ticket.minted.map(name)
        ticket.ids = try ticket.ids.map(name)
        if let join = ticket.join {
            ticket.join!.upper = try name(join.upper)
            ticket.join!.lower = try name(join.lower)
        }
        return ticket
    }

    func named(_ place: Place, in feed: UInt32) throws -> Place {
        if counters.aliases == 0 { return place }
        return switch place {
        case .bodies(let ids): .bodies(try names(of: ids, in: feed))
        case .join(let id): .join(above: try name(of: id, in: feed))
        case .around(let id): .around(try name(of: id, in: feed))
        default: place
        }
    }
}

// MARK: Uniting

extension WriteSession {
    /// Records that a local post of a feed has this id on the server.
    func confirmLocal(_ local: PostID, as id: PostID, in feed: UInt32) throws -> AliasResult {
        let record = try transaction.feed(feed)
        let local = try name(of: local, in: feed)
        let positions = try index(of: record.collection).positions(of: local)
        guard let position = positions.first(where: { $0.feed == feed })?.position,
            try transaction.entry(of: local, at: position, of: feed).isDetached
        else { return .missing }
        return try unite(local, with: id, in: record.options.collection)
    }

    /// Unites two ids of one post of the collection. It is known as `id` from now on.
    func unite(_ alias: PostID, with id: PostID, in collection: String) throws -> AliasResult {
        guard let number = try transaction.collection(collection) else { return .missing }
        let alias = try transaction.name(of: alias, in: number)
        let id = try transaction.name(of: id, in: number)
        if alias == id { return .same }
        touch()
        let positions = try index(of: number).positions(of: alias)
        let newest = try transaction.post(alias, at: positions)?.newest
        if !positions.isEmpty { try uniteFields(alias, with: id, in: number) }
        for feed in try transaction.feeds(of: number) {
            let position = positions.first { $0.feed == feed }?.position
            let isDeleted = try transaction.get(.tombstones(of: feed), PostKey.bytes(alias)) != nil
            if position == nil && !isDeleted { continue }
            let entry = try position.map { try transaction.entry(of: alias, at: $0, of: feed) }
            try unite(alias, with: id, in: feed, entry)
        }
        try redirect(alias, to: id, in: number)
        if let newest { try noteNewest(newest, of: id, in: number) }
        return positions.isEmpty ? .noted : .united
    }

    /// Unites them in one feed. `entry` is the alias's entry, or nil if the alias has only a tombstone there.
    private func unite(_ alias: PostID, with id: PostID, in feed: UInt32, _ entry: Entry?) throws {
        var bytes = try entry.map { try copy(of: $0.body) } ?? []
        // keep the server's body, not that of the draft
        if entry?.isLocal == true, try hasBody(id, in: feed) { bytes = [] }
        try change(feed, focus: { try $0.load(leaving: [alias, id]) }) { state throws(Interruption) in
            let united = try state.unite(alias, with: id)
            guard let united, let entry else { return Effect() }
            let post = Post(
                id: id, key: entry.key, version: entry.version, detail: entry.detail, body: 0..<bytes.count)
            return Effect(placements: [Placement(entry: united, post: 0)], posts: [post], bytes: bytes)
        }
    }

    private func hasBody(_ id: PostID, in feed: UInt32) throws -> Bool {
        let positions = try index(of: transaction.feed(feed).collection).positions(of: id)
        return try transaction.post(id, at: positions).map { $0.body.record != 0 } ?? false
    }

    /// Makes every id that referred to `alias` refer to `id`.
    private func redirect(_ alias: PostID, to id: PostID, in collection: UInt32) throws {
        let moved = [alias] + (try transaction.aliasRecord(alias, in: collection)?.others ?? [])
        for other in moved { try put(AliasRecord(other, name: id), in: collection) }
        try add(moved, to: id, in: collection)
        counters.aliases += 1
    }

    /// Adds ids to the record of a name. Those that it has are copied as bytes, for there may be thousands.
    private func add(_ ids: [PostID], to name: PostID, in collection: UInt32) throws {
        let (key, what) = (PostKey.bytes(name, in: collection), "the ids of post \(name)")
        guard let value = try transaction.get(.aliases, key),
            try AliasRecord(startOf: value, what).id == name
        else { return try put(AliasRecord(name, name: name, others: ids), in: collection) }
        let known = try AliasRecord.others(in: value, what)
        try transaction.put(.aliases, key) { writer in
            for _ in 0..<2 { name.encode(&writer) }
            writer.number(known.count + ids.count)
            writer.raw(known.bytes)
            for id in ids { id.encode(&writer) }
        }
    }

    private func put(_ record: AliasRecord, in collection: UInt32) throws {
        try transaction.put(.aliases, PostKey.bytes(record.id, in: collection), record)
    }

    /// Removes the aliases of a collection whose last feed leaves.
    func forgetAliases(in collection: UInt32) throws {
        if counters.aliases == 0 { return }
        let start = withUnsafeBytes(of: collection.bigEndian) { Array($0) }
        // the record of the name may come after that of its last alias
        while true {
            let key = try transaction.withCursor(.aliases) { cursor in
                guard let (key, value) = try cursor.seek(start), key.starts(with: start) else {
                    return [UInt8]?.none
                }
                if try !AliasRecord(value, "the ids of a post").isName { counters.aliases -= 1 }
                return Array(key)
            }
            guard let key else { return }
            try transaction.delete(.aliases, key)
        }
    }

    /// Unites the fields of both posts. The newer version of each wins.
    private func uniteFields(_ alias: PostID, with id: PostID, in collection: UInt32) throws {
        guard let leaving = try transaction.fields(of: alias, in: collection) else { return }
        try transaction.delete(.fields, PostKey.bytes(alias, in: collection))
        let known = try transaction.fields(of: id, in: collection)
        if known != nil { counters.fieldRecords -= 1 }
        var record = known ?? FieldsRecord(id: id)
        for field in leaving.fields {
            if let at = record.fields.firstIndex(where: { $0.name == field.name }) {
                if field.version >= record.fields[at].version { record.fields[at] = field }
            } else {
                record.fields.append(field)
            }
        }
        record.fields.sort { $0.name < $1.name }
        try transaction.put(.fields, PostKey.bytes(id, in: collection), record)
        if record == known { return }
        for (feed, _) in try index(of: collection).positions(of: id) { noteUpdate(of: id, in: feed) }
    }

    /// Notes a version that was seen under the other id with less detail than the body has.
    private func noteNewest(_ version: Int64, of id: PostID, in collection: UInt32) throws {
        let positions = try index(of: collection).positions(of: id)
        guard let before = try transaction.post(id, at: positions) else { return }
        var entry = before
        _ = entry.meets(version: version, detail: Detail(rawValue: 0), hasBody: true)
        if !entry.hasSameBody(as: before) { try repoint(id, to: entry, at: positions) }
    }
}
