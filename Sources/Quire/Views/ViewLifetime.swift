// Making and removing views.

extension WriteSession {
    /// Opens a view, and makes it if there is none, or one of another order or version. Returns its number.
    func openView(
        named name: String, _ order: StoredViewOrder, version: UInt64, of feed: UInt32
    ) throws -> UInt8 {
        if name.isEmpty || name.utf8.count > ViewRecord.nameLimit {
            throw QuireError(.badArgument, "the name of a view has 1 to 255 bytes")
        }
        try forgetLoaded(feed)
        var owner = try transaction.feed(feed)
        let views = try transaction.views(of: feed)
        let known = views.first { $0.record.name == name }
        if let known, known.record.order == order, known.record.version == version { return known.number }
        let free = (1...UInt8.max).first { number in !views.contains { $0.number == number } }
        guard let number = known?.number ?? free else {
            throw QuireError(.badArgument, "feed \(owner.name) has 255 views already")
        }
        touch()
        try removeView(number, of: feed)
        try transaction.put(
            .views(of: feed), [number], ViewRecord(name: name, order: order, version: version))
        if !owner.hasViews {
            owner.hasViews = true
            try transaction.put(.record(of: feed), NoKey(), owner)
        }
        return number
    }

    /// Removes the view of this name. Returns false if there is none.
    func removeView(named name: String, of feed: UInt32) throws -> Bool {
        try forgetLoaded(feed)
        var owner = try transaction.feed(feed)
        let views = try transaction.views(of: feed)
        guard let known = views.first(where: { $0.record.name == name }) else { return false }
        touch()
        try removeView(known.number, of: feed)
        if views.count == 1 {
            owner.hasViews = false
            try transaction.put(.record(of: feed), NoKey(), owner)
        }
        return true
    }

    private func removeView(_ number: UInt8, of feed: UInt32) throws {
        for table in Table.parts(of: feed, view: number) { try transaction.deleteAll(of: table) }
        try transaction.delete(.views(of: feed), [number])
    }

    /// Lets a view see up to `limit` chunks that wait for its function. Returns false if none is left.
    func catchUp(_ number: UInt8, of feed: UInt32, _ functions: ViewFunctions, atMost limit: Int) throws
        -> Bool
    {
        guard let view = try transaction.views(of: feed).first(where: { $0.number == number })?.record else {
            return false
        }
        if view.isCurrent { return false }
        var keeper = ViewKeeper(self, feed, number, view, functions.function(of: feed, view))
        touch()
        let isWaiting = try keeper.catchUp(atMost: limit)
        try keeper.store()
        return isWaiting
    }
}
