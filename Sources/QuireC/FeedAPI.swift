import CQuire
import Quire

// Sections 7 to 9 of quire.h, in the same order.

// MARK: Plan

@_cdecl("quire_plan") @implementation
public func quire_plan(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ place: UnsafePointer<quire_place>?,
    _ out: UnsafeMutablePointer<quire_request>?
) -> quire_status {
    attempt(filling: out) { out in
        let given = try Arguments.structure(place, "the place")
        let place = try Place(given)
        let limit = try Arguments.count(
            UInt64(given.limit), atMost: Int(QUIRE_COUNT_LIMIT), "the place's limit")
        let isBounded = try Arguments.flag(given.is_bounded, "is_bounded")
        let link = try Arguments.link(given.link)
        let operation = FeedOperation.plan(
            place, limit: limit == 0 ? nil : limit, isBounded: isBounded, link: link == .unknown ? nil : link)
        switch try perform(operation, on: feed, batch).plan {
        case .refused(let refusal):
            out.refusal = refusal.number
            out.help = refusal.help.number
        case .request(let request): try out.fill(request)
        }
    }
}

extension Place {
    init(_ place: quire_place) throws(Failure) {
        switch Int(place.kind) {
        case QUIRE_PLACE_HEAD: self = .head
        case QUIRE_PLACE_TAIL: self = .tail
        case QUIRE_PLACE_GAP: self = .gap(GapID(place.gap))
        case QUIRE_PLACE_ABOVE_GAP: self = .aboveGap(GapID(place.gap))
        case QUIRE_PLACE_OPEN_HEAD: self = .openHead
        case QUIRE_PLACE_AROUND: self = .around(try Arguments.id(place.target))
        case QUIRE_PLACE_PAGE: self = .page(try pageNumber(place.page))
        case QUIRE_PLACE_JOIN: self = .join(above: try Arguments.id(place.target))
        case QUIRE_PLACE_BODIES: self = .bodies(try Arguments.ids(place.posts, "the posts of the place"))
        case QUIRE_PLACE_DELTA: self = .delta
        default: throw Arguments.bad("a place of unknown kind \(place.kind)")
        }
    }
}

extension quire_request {
    fileprivate mutating func fill(_ request: Request) throws(Failure) {
        let arena = Arena()
        ticket = request.ticket.number
        is_overlapping = request.isOverlapping ? 1 : 0
        switch request.target {
        case .link(let target):
            kind = Int32(QUIRE_REQUEST_LINK)
            link = arena.link(target, isOverlapping: request.isOverlapping)
        case .position(let offset, let rows):
            kind = Int32(QUIRE_REQUEST_POSITION)
            (position, limit) = (count(offset), count(rows ?? 0))
        case .page(let number, let rows):
            kind = Int32(QUIRE_REQUEST_PAGE)
            (position, limit) = (count(number), count(rows ?? 0))
        case .around(let post):
            kind = Int32(QUIRE_REQUEST_AROUND)
            link.text = arena.id(post)
        case .snapshot: kind = Int32(QUIRE_REQUEST_SNAPSHOT)
        case .delta(let since):
            kind = Int32(QUIRE_REQUEST_DELTA)
            link.text = arena.text(since)
        case .bodies(let posts):
            kind = Int32(QUIRE_REQUEST_BODIES)
            ids = arena.ids(posts)
        }
        if let post = request.until { until = arena.id(post) }
        owner = try arena.owner()
    }
}

@_cdecl("quire_request_free") @implementation
public func quire_request_free(_ request: UnsafeMutablePointer<quire_request>?) {
    if let request = take(request) { Arena.free(request.owner) }
}

@_cdecl("quire_refusal_name") @implementation
public func quire_refusal_name(_ refusal: Int32) -> UnsafePointer<CChar>? { Names.refusals[refusal] }

@_cdecl("quire_help_name") @implementation
public func quire_help_name(_ help: Int32) -> UnsafePointer<CChar>? { Names.helps[help] }

@_cdecl("quire_cancel") @implementation
public func quire_cancel(_ feed: OpaquePointer?, _ batch: OpaquePointer?, _ ticket: UInt64) -> quire_status {
    attempt { _ = try perform(.cancel(Ticket(ticket)), on: feed, batch) }
}

@_cdecl("quire_drop_link") @implementation
public func quire_drop_link(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ ticket: UInt64,
    _ out: UnsafeMutablePointer<quire_outcome>?
) -> quire_status {
    attempt(filling: out) { out in
        try out.fill(try perform(.dropLink(of: Ticket(ticket)), on: feed, batch).outcome)
    }
}

// MARK: Ingest

@_cdecl("quire_ingest") @implementation
public func quire_ingest(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ ticket: UInt64,
    _ answer: UnsafePointer<quire_answer>?, _ out: UnsafeMutablePointer<quire_outcome>?
) -> quire_status {
    attempt(filling: out) { out in
        let answer = try Answer(answer)
        try out.fill(try perform(.ingest(answer, for: Ticket(ticket)), on: feed, batch).outcome)
    }
}

extension Answer {
    /// Copies the bodies into one array, as the engine requires.
    init(_ pointer: UnsafePointer<quire_answer>?) throws(Failure) {
        let answer = try Arguments.structure(pointer, "the answer")
        self.init(
            next: try Arguments.link(answer.next), previous: try Arguments.link(answer.previous),
            opaqueRows: try Arguments.count(
                answer.opaque_rows, atMost: Int(QUIRE_COUNT_LIMIT), "opaque_rows"),
            fetchedAt: answer.fetched_at)
        if try Arguments.flag(answer.has_total, "has_total") { total = Int(clamping: answer.total) }
        if answer.since.size > 0 {
            since = try Arguments.text(answer.since, atMost: Int(QUIRE_TEXT_LIMIT), "the token of the answer")
        }
        deleted = try Arguments.ids(answer.deleted, "the deleted posts")
        let stride = Int(answer.post_size)
        guard quire_post.isSize(stride), stride % 8 == 0 else {
            throw Arguments.bad("the answer: its post_size is \(stride)")
        }
        let array = try Arguments.array(answer.posts, answer.count, stride: stride, "the posts")
        func post(_ at: Int) -> quire_post { quire_post(array.baseAddress! + at * stride, size: stride) }
        let limit = Int(QUIRE_BODIES_LIMIT)
        var size = 0
        for at in 0..<answer.count {
            if quire_post.asksForMore(array.baseAddress! + at * stride, size: stride) {
                throw Arguments.bad("the posts[\(at)] asks for a newer library")
            }
            size += try Arguments.item(at, of: "the posts") { () throws(Failure) in
                try Arguments.bytes(post(at).body, atMost: limit - size, "the bodies until here").count
            }
        }
        bytes.reserveCapacity(size)
        posts.reserveCapacity(answer.count)
        for at in 0..<answer.count {
            let post = post(at)
            let start = bytes.count
            bytes += try Arguments.bytes(post.body, atMost: limit, "a body")
            posts.append(
                try Arguments.item(at, of: "the posts") { () throws(Failure) in
                    try Post(post, body: start..<bytes.count)
                })
        }
    }
}

extension Post {
    fileprivate init(_ post: quire_post, body: Range<Int>) throws(Failure) {
        let flags = try Arguments.flags(
            post.flags, QUIRE_POST_HAS_KEY | QUIRE_POST_HAS_VERSION | QUIRE_POST_HAS_DETAIL, "a post")
        self.init(
            id: try Arguments.id(post.id),
            key: flags & UInt32(QUIRE_POST_HAS_KEY) == 0 ? nil : post.key,
            version: flags & UInt32(QUIRE_POST_HAS_VERSION) == 0 ? nil : post.version,
            detail: flags & UInt32(QUIRE_POST_HAS_DETAIL) == 0 ? .full : try Arguments.detail(post.detail),
            body: body)
    }
}

extension quire_outcome {
    fileprivate mutating func fill(_ outcome: Outcome) throws(Failure) {
        let arena = Arena()
        verdict = outcome.verdict.number
        is_unchanged = outcome.isUnchanged ? 1 : 0
        help = outcome.help?.number ?? 0
        page = outcome.page ?? 0
        duplicates_in_page = count(outcome.duplicatesInPage)
        opaque_rows = count(outcome.opaqueRows)
        gaps_closed = count(outcome.gapsClosed)
        gaps_opened = count(outcome.gapsOpened)
        updated = count(outcome.updated)
        reason = arena.text(outcome.reason)
        added = arena.ids(outcome.new)
        duplicates = arena.ids(outcome.duplicates)
        moved = arena.ids(outcome.moved)
        removed = arena.ids(outcome.removed)
        kept = arena.ids(outcome.kept)
        displaced = arena.ids(outcome.displaced)
        ignored = arena.ids(outcome.ignored)
        sticky = arena.ids(outcome.sticky)
        disorder = arena.ids(outcome.disorder)
        unplaced = arena.ids(outcome.unplaced)
        (disproved_sizes, disproved_rows) = outcome.disprovedSizes?.numbers ?? (0, 0)
        owner = try arena.owner()
    }
}

@_cdecl("quire_outcome_free") @implementation
public func quire_outcome_free(_ outcome: UnsafeMutablePointer<quire_outcome>?) {
    if let outcome = take(outcome) { Arena.free(outcome.owner) }
}

@_cdecl("quire_verdict_name") @implementation
public func quire_verdict_name(_ verdict: Int32) -> UnsafePointer<CChar>? { Names.verdicts[verdict] }

// MARK: Push

@_cdecl("quire_push") @implementation
public func quire_push(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ answer: UnsafePointer<quire_answer>?,
    _ number: UnsafePointer<UInt64>?, _ follows: quire_bytes,
    _ out: UnsafeMutablePointer<quire_outcome>?
) -> quire_status {
    attempt(filling: out) { out in
        let answer = try Answer(answer)
        let number = try Arguments.number(number, "the number of a message")
        let follows = follows.size == 0 ? nil : try Arguments.id(follows)
        let operation = FeedOperation.push(answer, number: number, follows: follows)
        try out.fill(try perform(operation, on: feed, batch).outcome)
    }
}

@_cdecl("quire_begin_live") @implementation
public func quire_begin_live(
    _ feed: OpaquePointer?, _ batch: OpaquePointer?, _ after: UnsafePointer<UInt64>?
) -> quire_status {
    attempt {
        let after = try Arguments.number(after, "the number of a message")
        _ = try perform(.beginLive(after: after), on: feed, batch)
    }
}

@_cdecl("quire_end_live") @implementation
public func quire_end_live(_ feed: OpaquePointer?, _ batch: OpaquePointer?) -> quire_status {
    attempt { _ = try perform(.endLive, on: feed, batch) }
}

// MARK: Crawls

@_cdecl("quire_crawl_begin") @implementation
public func quire_crawl_begin(
    _ feed: OpaquePointer?, _ kind: Int32, _ start: UInt64,
    _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> quire_status {
    attempt(clear(out)) {
        let box = try Handles.object(feed, as: FeedBox.self)
        let place: Crawl.Start =
            switch Int(kind) {
            case QUIRE_CRAWL_HEAD: .head(page: try pageNumber(start))
            case QUIRE_CRAWL_TAIL where start == 0: .tail
            case QUIRE_CRAWL_GAP: .gap(GapID(start))
            default: throw Arguments.bad("a crawl of unknown kind \(kind), or at the tail with a start")
            }
        out!.pointee = try Handles.add(CrawlBox(box, place))
    }
}

private func pageNumber(_ number: UInt64) throws(Failure) -> Int {
    try Arguments.count(number, atMost: Int(QUIRE_PAGE_LIMIT) - 1, "the number of a page")
}

@_cdecl("quire_crawl_end") @implementation
public func quire_crawl_end(_ crawl: OpaquePointer?) { Handles.release(crawl, as: CrawlBox.self) }

@_cdecl("quire_crawl_ingest") @implementation
public func quire_crawl_ingest(
    _ crawl: OpaquePointer?, _ batch: OpaquePointer?, _ page: UInt64,
    _ answer: UnsafePointer<quire_answer>?, _ out: UnsafeMutablePointer<quire_outcome>?
) -> quire_status {
    attempt(filling: out) { out in
        let box = try Handles.object(crawl, as: CrawlBox.self)
        let batchBox = try batch.map { try Handles.object($0, as: BatchBox.self) }
        let page = page == .max ? nil : try pageNumber(page)
        let answer = try Answer(answer)
        let before = box.crawl.withLock { $0 }
        let (outcome, after) = try box.feed.perform(.crawl(answer, page: page, of: before), batch).crawled
        batchBox?.note(box, at: before)
        box.crawl.withLock { $0 = after }
        try out.fill(outcome)
    }
}
