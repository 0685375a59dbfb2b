// R23: changes of posts that come without a page.

extension WriteSession {
    func update(_ id: PostID, body: [UInt8], version: Int64?) throws -> UpdateResult {
        guard var post = try posts.record(of: id) else { return .missing }
        if let stored = post.version, let version, version < stored { return .stale }
        let newVersion = [post.version, version].compactMap(\.self).max()
        if post.body.record != 0, try bodies.bytes(post.body).elementsEqual(body) {
            if newVersion != post.version {
                post.version = newVersion
                try posts.put(post, of: id)
                touch()
            }
            return .same
        }
        counters.bodyRecords += 1
        let references = try bodies.store(
            [id], [0..<body.count], of: body, as: counters.bodyRecords)
        try bodies.release(post.body)
        counters.bodyBytes &-= UInt64(post.body.length)
        counters.bodyBytes &+= UInt64(body.count)
        post.body = references[0]
        post.version = newVersion
        try posts.put(post, of: id)
        try repoint(id, to: references[0], except: nil)
        touch()
        return .changed
    }

    func update(
        _ id: PostID, fields: [String: [UInt8]], version: Int64
    ) throws -> UpdateResult {
        guard var post = try posts.record(of: id) else { return .missing }
        var (isChanged, isApplied) = (false, false)
        for (name, value) in fields {
            let field = PostRecord.Field(name: name, version: version, value: value)
            guard let at = post.fields.firstIndex(where: { $0.name == name }) else {
                post.fields.append(field)
                (isChanged, isApplied) = (true, true)
                continue
            }
            if version < post.fields[at].version { continue }
            isApplied = true
            isChanged = isChanged || post.fields[at].value != value
            post.fields[at] = field
        }
        if !isApplied { return .stale }
        post.fields.sort { $0.name < $1.name }
        try posts.put(post, of: id)
        touch()
        if isChanged {
            for (feed, _) in try posts.places(of: id) { note([.updated(id)], in: feed) }
        }
        return isChanged ? .changed : .same
    }
}
