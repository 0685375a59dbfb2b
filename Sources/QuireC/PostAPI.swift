import CQuire
import Quire

// Sections 10 and 11 of quire.h, in the same order.

// MARK: Posts

@_cdecl("quire_contains") @implementation
public func quire_contains(
    _ feed: OpaquePointer?, _ ids: quire_ids, _ out: UnsafeMutablePointer<UInt8>?
) -> quire_status {
    attempt {
        let feed = try Handles.object(feed, as: FeedBox.self).feed
        let ids = try Arguments.ids(ids, "the ids")
        if ids.isEmpty { return }
        guard let out else { throw Arguments.bad("out_flags is NULL") }
        out.update(repeating: 0, count: ids.count)
        let found = try feed.cache.withSnapshot { try $0.contains(ids, in: feed) }
        for (at, isFound) in found.enumerated() { out[at] = isFound ? 1 : 0 }
    }
}

@_cdecl("quire_update_body") @implementation
public func quire_update_body(
    _ cache: OpaquePointer?, _ batch: OpaquePointer?, _ collection: quire_bytes, _ id: quire_bytes,
    _ body: quire_bytes, _ version: UnsafePointer<Int64>?, _ detail: UInt32,
    _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cache, as: CacheBox.self)
        let collection = try Arguments.collection(collection)
        let id = try Arguments.id(id)
        let body = Array(try Arguments.bytes(body, atMost: Int(QUIRE_BODIES_LIMIT), "the body"))
        if let version, !Arguments.isAligned(version) { throw Arguments.bad("version") }
        let detail = try Arguments.detail(detail)
        let operation = CacheOperation.updateBody(
            id, body, version: version?.pointee, detail: detail, collection: collection)
        out!.pointee = try box.perform(operation, batch).update.number
    }
}

@_cdecl("quire_update_fields") @implementation
public func quire_update_fields(
    _ cache: OpaquePointer?, _ batch: OpaquePointer?, _ collection: quire_bytes, _ id: quire_bytes,
    _ fields: UnsafePointer<quire_field>?, _ count: Int, _ version: Int64,
    _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cache, as: CacheBox.self)
        let collection = try Arguments.collection(collection)
        let id = try Arguments.id(id)
        let array = try Arguments.array(fields, count, "the fields")
        var values: [String: [UInt8]] = [:]
        for (at, field) in array.bindMemory(to: quire_field.self).enumerated() {
            let (name, value) = try Arguments.item(at, of: "the fields") { () throws(Failure) in
                let limit = Int(QUIRE_TEXT_LIMIT)
                let name = try Arguments.text(field.name, atMost: limit, "the name of a field")
                return (name, try Arguments.bytes(field.value, atMost: limit, "the value of a field"))
            }
            if values.updateValue(Array(value), forKey: name) != nil {
                throw Arguments.bad("field \(name) is given twice")
            }
        }
        let operation = CacheOperation.updateFields(id, values, version: version, collection: collection)
        out!.pointee = try box.perform(operation, batch).update.number
    }
}

@_cdecl("quire_add_alias") @implementation
public func quire_add_alias(
    _ cache: OpaquePointer?, _ batch: OpaquePointer?, _ collection: quire_bytes, _ alias: quire_bytes,
    _ id: quire_bytes, _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(cache, as: CacheBox.self)
        let collection = try Arguments.collection(collection)
        let alias = try Arguments.id(alias)
        let id = try Arguments.id(id)
        let operation = CacheOperation.addAlias(alias, of: id, collection: collection)
        out!.pointee = try box.perform(operation, batch).alias.number
    }
}

@_cdecl("quire_delete") @implementation
public func quire_delete(_ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes) -> quire_status {
    attempt {
        let id = try Arguments.id(id)
        _ = try perform(.delete(id), on: feed, batch)
    }
}

@_cdecl("quire_evict") @implementation
public func quire_evict(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ ids: quire_ids,
    _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let ids = try Arguments.ids(ids, "the ids")
        out!.pointee = count(try perform(.evict(ids), on: feed, batch).count)
    }
}

@_cdecl("quire_evict_page") @implementation
public func quire_evict_page(
    _ feed: OpaquePointer?, _ index: UInt64, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        guard let at = Int(exactly: index) else {
            let name = try Handles.object(feed, as: FeedBox.self).feed.name
            throw Failure(QUIRE_NOT_FOUND, "feed \(name) has no page \(index)")
        }
        out!.pointee = count(try perform(.evictPage(at: at), on: feed, nil).count)
    }
}

@_cdecl("quire_set_visible") @implementation
public func quire_set_visible(_ feed: OpaquePointer?, _ ids: quire_ids) -> quire_status {
    attempt {
        let ids = try Arguments.ids(ids, "the ids")
        try Handles.object(feed, as: FeedBox.self).feed.visible = Set(ids)
    }
}

@_cdecl("quire_pin") @implementation
public func quire_pin(_ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes) -> quire_status {
    attempt { try setPinned(true, id, feed, batch) }
}

@_cdecl("quire_unpin") @implementation
public func quire_unpin(_ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes) -> quire_status {
    attempt { try setPinned(false, id, feed, batch) }
}

private func setPinned(
    _ pinned: Bool, _ id: quire_bytes, _ feed: OpaquePointer?, _ batch: OpaquePointer?
) throws {
    let id = try Arguments.id(id)
    let box = try Handles.object(feed, as: FeedBox.self)
    if try !box.perform(pinned ? .pin(id) : .unpin(id), batch).flag {
        throw Failure(QUIRE_NOT_FOUND, "feed \(box.feed.name) does not hold post \(id)")
    }
}

@_cdecl("quire_insert_local") @implementation
public func quire_insert_local(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes, _ body: quire_bytes,
    _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        let body = Array(try Arguments.bytes(body, atMost: Int(QUIRE_BODIES_LIMIT), "the body"))
        out!.pointee = try perform(.insertLocal(id, body: body), on: feed, batch).flag ? 1 : 0
    }
}

@_cdecl("quire_remove_local") @implementation
public func quire_remove_local(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes,
    _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        out!.pointee = try perform(.removeLocal(id), on: feed, batch).flag ? 1 : 0
    }
}

@_cdecl("quire_confirm_local") @implementation
public func quire_confirm_local(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ id: quire_bytes, _ server: quire_bytes,
    _ out: UnsafeMutablePointer<Int32>?
) -> quire_status {
    attempt(clear(out)) {
        let id = try Arguments.id(id)
        let server = try Arguments.id(server)
        out!.pointee = try perform(.confirmLocal(id, as: server), on: feed, batch).alias.number
    }
}

@_cdecl("quire_reset") @implementation
public func quire_reset(_ feed: OpaquePointer?, _ batch: OpaquePointer?) -> quire_status {
    attempt { _ = try perform(.reset, on: feed, batch) }
}

@_cdecl("quire_feed_drop") @implementation
public func quire_feed_drop(_ feed: OpaquePointer?, _ batch: OpaquePointer?) -> quire_status {
    attempt { _ = try perform(.drop, on: feed, batch) }
}

@_cdecl("quire_feed_rename") @implementation
public func quire_feed_rename(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ name: quire_bytes
) -> quire_status {
    attempt {
        let name = try feedName(name)
        _ = try perform(.rename(to: name), on: feed, batch)
    }
}

@_cdecl("quire_feed_set_options") @implementation
public func quire_feed_set_options(
    _ feed: OpaquePointer?, _ options: UnsafePointer<quire_feed_options>?,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(feed, as: FeedBox.self)
        guard let options else { throw Arguments.bad("the options are NULL") }
        out!.pointee = try Handles.add(try box.replaced(with: try FeedOptions(options)))
    }
}

@_cdecl("quire_set_attribute") @implementation
public func quire_set_attribute(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ name: quire_bytes,
    _ value: UnsafePointer<quire_bytes>?
) -> quire_status {
    attempt {
        let name = try Arguments.attribute(name)
        let limit = Int(QUIRE_ATTRIBUTE_LIMIT)
        let value = try Arguments.array(value, value == nil ? 0 : 1, "the value")
            .bindMemory(to: quire_bytes.self).first
            .map { Array(try Arguments.bytes($0, atMost: limit, "the value")) }
        _ = try perform(.setAttribute(name, to: value), on: feed, batch)
    }
}

// MARK: Prune

@_cdecl("quire_prune") @implementation
public func quire_prune(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ policy: UnsafePointer<quire_prune_policy>?,
    _ out: UnsafeMutablePointer<quire_prune_result>?
) -> quire_status {
    attempt(filling: out) { out in
        let given = try Arguments.structure(policy, "the policy")
        let policy = try PrunePolicy(given)
        let result: PruneResult
        if given.flags & UInt32(QUIRE_PRUNE_DRY_RUN) == 0 {
            result = try perform(.prune(policy), on: feed, batch).pruned
        } else {
            if batch != nil { throw Arguments.bad("a batch cannot do a dry run") }
            let feed = try Handles.object(feed, as: FeedBox.self).feed
            result = try feed.cache.dryRun { try $0[feed].prune(policy) }
        }
        out.is_done = result.isDone ? 1 : 0
        out.pages = count(result.pages)
        out.posts = count(result.posts)
    }
}

extension PrunePolicy {
    init(_ policy: quire_prune_policy) throws(Failure) {
        self.init()
        let flags = try Arguments.flags(policy.flags, 63, "the policy")
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        dropsOutOfSequence = has(QUIRE_PRUNE_OUT_OF_SEQUENCE)
        if has(QUIRE_PRUNE_BY_AGE) {
            if policy.maximum_age < 0 { throw Arguments.bad("a negative maximum_age") }
            (maximumAge, now) = (policy.maximum_age, policy.now)
        }
        if has(QUIRE_PRUNE_BY_POSTS) { maximumPosts = Int(clamping: policy.maximum_posts) }
        if has(QUIRE_PRUNE_BY_PAGES) { maximumPages = Int(clamping: policy.maximum_pages) }
        if has(QUIRE_PRUNE_BY_BYTES) { maximumBytes = Int(clamping: policy.maximum_bytes) }
        visible = Set(try Arguments.ids(policy.visible, "the visible posts"))
        if policy.budget > 0 { budget = Int(clamping: policy.budget) }
    }
}
