import CQuire
@_spi(Unstable) import Quire

// Sections 1 to 6 of quire.h, in the same order.

// MARK: Version, errors

@_cdecl("quire_version_number") @implementation
public func quire_version_number() -> UInt32 { UInt32(QUIRE_VERSION_NUMBER) }

@_cdecl("quire_version_string") @implementation
public func quire_version_string() -> UnsafePointer<CChar>? { Names.version[0] }

@_cdecl("quire_last_error") @implementation
public func quire_last_error(_ out: UnsafeMutablePointer<quire_error>?) -> quire_status {
    var error = quire_error()
    LastError.get(&error)
    return quire_status(write(error, to: out) ? QUIRE_OK : QUIRE_BAD_ARGUMENT)
}

@_cdecl("quire_status_name") @implementation
public func quire_status_name(_ status: quire_status) -> UnsafePointer<CChar>? {
    Names.statuses[status]
}

@_cdecl("quire_list_free") @implementation
public func quire_list_free(_ list: UnsafeMutablePointer<quire_list>?) {
    if let list = take(list) { Arena.free(list.owner) }
}

// MARK: The cache

@_cdecl("quire_open") @implementation
public func quire_open(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<quire_cache_options>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) { try open(path, options, nil, out!) }
}

@_cdecl("quire_open_with_budget") @implementation
public func quire_open_with_budget(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<quire_cache_options>?,
    _ budget: UnsafePointer<quire_budget>?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) { try open(path, options, cacheBudget(budget), out!) }
}

private func open(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<quire_cache_options>?, _ budget: CacheBudget?,
    _ out: UnsafeMutablePointer<OpaquePointer?>
) throws {
    Process.watchForks()
    let path = try Arguments.path(path)
    var (options, isVerified) = try cacheOptions(options)
    options.budget = budget
    out.pointee = try Handles.add(
        CacheBox(isVerified ? Cache(verifying: path, options: options) : Cache(at: path, options: options)))
}

private func cacheBudget(_ pointer: UnsafePointer<quire_budget>?) throws(Failure) -> CacheBudget {
    let given = try Arguments.structure(pointer, "the budget")
    var budget = CacheBudget()
    if given.file_bytes > 0 { budget.fileBytes = Int(clamping: given.file_bytes) }
    (budget.cache, budget.collection) = (limits(given.cache), limits(given.collection))
    budget.feed = limits(given.feed)
    return budget
}

private func limits(_ given: quire_limits) -> CacheBudget.Limits {
    func limit<N: FixedWidthInteger>(_ number: UInt64) -> N? { number == 0 ? nil : N(clamping: number) }
    return CacheBudget.Limits(
        posts: limit(given.posts), bodyBytes: limit(given.body_bytes), age: limit(given.age_ms))
}

/// Returns the options, and whether to test the file first.
private func cacheOptions(
    _ pointer: UnsafePointer<quire_cache_options>?
) throws(Failure) -> (CacheOptions, isVerified: Bool) {
    var result = CacheOptions()
    if pointer == nil { return (result, false) }
    let options = try Arguments.structure(pointer, "the cache options")
    switch Int(options.durability) {
    case QUIRE_DURABILITY_FULL: result.durability = .full
    case QUIRE_DURABILITY_RELAXED: result.durability = .relaxed
    default: throw Arguments.bad("unknown durability \(options.durability)")
    }
    let size = try Arguments.count(options.map_size, atMost: 1 << 46, "map_size")
    if size > 0 { result.mapSize = Int64(size) }
    switch options.write_timeout_ms {
    case 0: break
    case .max: result.writeTimeout = .seconds(Int64.max)
    case let limit: result.writeTimeout = .milliseconds(limit)
    }
    switch options.maximum_snapshot_age {
    case 0: break
    case .max: result.maximumSnapshotAge = .max
    case let age: result.maximumSnapshotAge = Int(age)
    }
    let flags = try Arguments.flags(
        options.flags, QUIRE_VERIFY_ON_OPEN | QUIRE_READ_ONLY, "the cache options")
    result.isReadOnly = flags & UInt32(QUIRE_READ_ONLY) != 0
    return (result, flags & UInt32(QUIRE_VERIFY_ON_OPEN) != 0)
}

@_cdecl("quire_close") @implementation
public func quire_close(_ cache: OpaquePointer?) { Handles.release(cache, as: CacheBox.self) }

@_cdecl("quire_stats") @implementation
public func quire_stats(
    _ cache: OpaquePointer?, _ out: UnsafeMutablePointer<quire_statistics>?
) -> quire_status {
    attempt(filling: out) { out in
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        let statistics = try cache.withSnapshot { try $0.statistics() }
        out.feeds = count(statistics.feeds)
        out.posts = count(statistics.posts)
        out.pages = count(statistics.pages)
        out.gaps = count(statistics.gaps)
        out.body_bytes = statistics.bodyBytes
        out.dead_body_bytes = statistics.deadBodyBytes
        out.generation = statistics.generation
        out.used_bytes = statistics.usedBytes
        out.free_bytes = statistics.freeBytes
        out.snapshots = count(statistics.snapshots)
        out.oldest_snapshot_age = count(statistics.oldestSnapshotAge)
        out.oldest_snapshot_process = Int64(statistics.oldestSnapshotProcess)
        out.pinned_bytes = statistics.pinnedBytes
    }
}

@_cdecl("quire_get_evictions") @implementation
public func quire_get_evictions(
    _ cache: OpaquePointer?, _ out: UnsafeMutablePointer<quire_evictions>?
) -> quire_status {
    attempt(filling: out) { out in
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        let evictions = try cache.withSnapshot { try $0.evictions() }
        let all = evictions.all
        out.pages = all.pages
        out.posts = all.posts
        out.body_bytes = all.bodyBytes
        out.posts_by_age = evictions.age.posts
        out.posts_by_feed = evictions.feed.posts
        out.posts_by_collection = evictions.collection.posts
        out.posts_by_cache = evictions.cache.posts
        out.posts_by_file = evictions.file.posts
        out.hits = evictions.hits
        out.misses = evictions.misses
    }
}

@_cdecl("quire_check") @implementation
public func quire_check(
    _ cache: OpaquePointer?, _ flags: UInt32, _ limit: Int, _ found: quire_finding_callback?,
    _ progress: quire_progress_callback?, _ context: UnsafeMutableRawPointer?,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        let flags = try Arguments.flags(flags, QUIRE_CHECK_QUICK, "quire_check")
        let level: CheckLevel = flags & UInt32(QUIRE_CHECK_QUICK) != 0 ? .quick : .full
        let limit = try Arguments.findingLimit(limit)
        let listener = Listener(found: found, progress: progress, context: context)
        out!.pointee = try listener.search { try cache.check(level, limit: limit, progress: $0) }
    }
}

@_cdecl("quire_finding_name") @implementation
public func quire_finding_name(_ code: Int32) -> UnsafePointer<CChar>? { Names.findings[code] }

@_cdecl("quire_copy") @implementation
public func quire_copy(_ cache: OpaquePointer?, _ path: UnsafePointer<CChar>?) -> quire_status {
    attempt {
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        try cache.copy(to: try Arguments.path(path))
    }
}

@_cdecl("quire_reclaim") @implementation
public func quire_reclaim(
    _ cache: OpaquePointer?, _ budget: Int, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        if budget < 0 { throw Arguments.bad("a budget of \(UInt(bitPattern: budget)) bytes") }
        out!.pointee = count(try cache.reclaim(budget: budget == 0 ? 1 << 20 : budget))
    }
}

// MARK: Feeds

@_cdecl("quire_feed_open") @implementation
public func quire_feed_open(
    _ cache: OpaquePointer?, _ name: quire_bytes, _ options: UnsafePointer<quire_feed_options>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cache, as: CacheBox.self)
        let name = try feedName(name)
        let options = try options.map { try FeedOptions($0) }
        out!.pointee = try Handles.add(try box.feed(named: name, options))
    }
}

func feedName(_ name: quire_bytes) throws(Failure) -> String {
    try Arguments.text(name, atMost: Int(QUIRE_NAME_LIMIT), "the name of a feed")
}

extension FeedOptions {
    init(_ pointer: UnsafePointer<quire_feed_options>) throws {
        let options = try Arguments.structure(pointer, "the feed options")
        let flags = try Arguments.flags(
            options.flags, QUIRE_FEED_TRUSTS_END | QUIRE_FEED_STRICT, "the feed options")
        for (name, value, least) in [
            ("page_size", options.page_size, 1), ("minimum_run", options.minimum_run, 1),
            ("first_page", options.first_page, 0),
        ] as [(String, UInt32, UInt32)] where value < least || value > QUIRE_COUNT_LIMIT {
            throw Arguments.bad(
                "the feed options: \(name) is \(value), not from \(least) to \(QUIRE_COUNT_LIMIT)")
        }
        self.init(
            order: try OrderClass(number: options.order),
            paging: try Paging(number: options.paging),
            trustsEnd: flags & UInt32(QUIRE_FEED_TRUSTS_END) != 0,
            pageSize: Int(options.page_size), minimumRun: Int(options.minimum_run),
            sticky: Set(try Arguments.ids(options.sticky, "the sticky posts")),
            firstPage: Int(options.first_page),
            isStrict: flags & UInt32(QUIRE_FEED_STRICT) != 0,
            sizes: try SizePolicy(number: options.sizes, rows: options.rows_per_page),
            collection: try Arguments.collection(options.collection))
    }
}

@_cdecl("quire_feed_find") @implementation
public func quire_feed_find(
    _ cache: OpaquePointer?, _ name: quire_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cache, as: CacheBox.self)
        let name = try feedName(name)
        let cache = try box.cache
        guard let feed = try cache.existingFeed(named: name) else {
            throw Failure(QUIRE_NOT_FOUND, "\(cache.path): there is no feed \(name)")
        }
        out!.pointee = try Handles.add(try box.hold(feed))
    }
}

@_cdecl("quire_feed_close") @implementation
public func quire_feed_close(_ feed: OpaquePointer?) { Handles.release(feed, as: FeedBox.self) }

@_cdecl("quire_feed_names") @implementation
public func quire_feed_names(
    _ cache: OpaquePointer?, _ out: UnsafeMutablePointer<quire_list>?
) -> quire_status {
    attempt(filling: out) { out in
        let cache = try Handles.object(cache, as: CacheBox.self).cache
        let arena = Arena()
        let names = arena.list(try cache.feeds().map(\.name)) { arena.text($0) }
        (out.items, out.count) = (names.items, names.count)
        out.owner = try arena.owner()
    }
}

// MARK: Batches

@_cdecl("quire_batch_run") @implementation
public func quire_batch_run(
    _ cache: OpaquePointer?, _ callback: quire_batch_callback?, _ context: UnsafeMutableRawPointer?
) -> quire_status {
    attempt {
        let cache = try Handles.object(cache, as: CacheBox.self).requireOwn("a batch")
        guard let callback else { throw Arguments.bad("the callback is NULL") }
        let crawls = CrawlLog()
        do {
            try cache.batch { batch in
                crawls.restore()  // the callback may run twice
                try withUnsafePointer(to: batch) { pointer in
                    let box = BatchBox(cache, pointer, crawls)
                    let handle = try Handles.add(box)
                    defer { Handles.release(handle, as: BatchBox.self) }
                    let status = callback(context, handle)
                    if let doom = box.doom { throw doom }
                    if status != QUIRE_OK { throw Abandoned(status: status) }
                }
            }
        } catch {
            crawls.restore()
            throw error
        }
    }
}
