// R23: changes of posts that come without a page.

extension WriteSession {
    func update(
        _ id: PostID, body: [UInt8], version: Int64?, in collection: String = ""
    ) throws -> UpdateResult {
        guard let number = try transaction.collection(collection) else { return .missing }
        let index = try index(of: number)
        let positions = index.positions(of: id)
        guard var entry = try transaction.post(id, at: positions) else { return .missing }
        if let stored = entry.version, let version, version < stored { return .stale }
        let newVersion = [entry.version, version].compactMap(\.self).max()
        let isSame =
            entry.body.record == 0 ? body.isEmpty : try isEqual(entry.body, body[...])
        if isSame {
            if newVersion != entry.version && !entry.isFault {
                entry.version = newVersion
                try repoint(id, to: entry, at: positions)
                touch()
            }
            return .same
        }
        release(entry.body)
        entry.body = BodyReference()
        if !body.isEmpty {
            try requireHeadroom()
            entry.body = try store([(index.address(of: id), 0..<body.count)], of: body)[0]
            counters.bodyBytes &+= UInt64(body.count)
        }
        entry.version = newVersion
        try repoint(id, to: entry, at: positions)
        touch()
        return .changed
    }

    func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64, in collection: String = ""
    ) throws -> UpdateResult {
        guard let number = try transaction.collection(collection) else { return .missing }
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
        try transaction.put(.fields, PostKey.bytes(id, in: number), record.encoded())
        touch()
        if isChanged {
            for (feed, _) in holders { note([.updated(id)], in: feed) }
        }
        return isChanged ? .changed : .same
    }
}
