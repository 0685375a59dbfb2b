import CQuire
import Quire
import QuireC
import QuireDumps

// Section 2 of quire_profiles.h, in the same order.

@_cdecl("quire_parse") @implementation
public func quire_parse(
    _ profile: OpaquePointer?, _ response: UnsafePointer<quire_response>?,
    _ out: UnsafeMutablePointer<quire_parsed>?
) -> quire_status {
    var refusal: quire_parsed?
    let status = attempt(filling: out) { out in
        let box = try Handles.object(profile, as: ProfileBox.self)
        let given = try Arguments.structure(response, "the response")
        let body = try Arguments.bytes(given.body, atMost: Int(QUIRE_BODIES_LIMIT), "the response")
        let envelope = try Envelope(given)
        switch box.read(Array(body), envelope) {
        case .success(let parsed):
            let arena = Arena()
            out.fill(parsed, arena)
            out.owner = try arena.owner()
        case .failure(let error):
            out.fill(error, box.advice(in: envelope))
            refusal = out
            throw Failure(QUIRE_BAD_RESPONSE, error.message)
        }
    }
    if let refusal { _ = write(refusal, to: out) }
    return status
}

extension Envelope {
    /// Nil if nothing is known but the body, which may be a recorded exchange.
    fileprivate init?(_ given: quire_response) throws(Failure) {
        let limit = Int(QUIRE_TEXT_LIMIT)
        guard given.status == 0 || 100..<1_000 ~= given.status else {
            throw Arguments.bad("the response: a status of \(given.status)")
        }
        let request =
            try Arguments.bytes(given.request, atMost: limit, "the address of the request").isEmpty
            ? nil : try Arguments.text(given.request, atMost: limit, "the address of the request")
        let headers = try Arguments.array(given.headers, given.header_count, "the headers")
        if request == nil && given.status == 0 && headers.isEmpty { return nil }
        self.init(request: request, status: given.status == 0 ? nil : Int(given.status))
        for header in headers.bindMemory(to: quire_field.self) {
            let name = try Arguments.text(header.name, atMost: limit, "the name of a header")
            let value = try Arguments.bytes(header.value, atMost: limit, "the value of a header")
            add(name, String(decoding: value, as: UTF8.self))
        }
    }
}

extension quire_parsed {
    fileprivate mutating func fill(_ response: Response, _ arena: Arena) {
        answer = UnsafePointer(quire_answer.make(of: response.answer, in: arena))
        switch response.asked {
        case nil: asked = Int32(QUIRE_ASKED_UNKNOWN)
        case .head: asked = Int32(QUIRE_ASKED_HEAD)
        case .below: asked = Int32(QUIRE_ASKED_BELOW)
        case .newer(let id): (asked, asked_id) = (Int32(QUIRE_ASKED_NEWER), arena.id(id))
        case .above(let id): (asked, asked_id) = (Int32(QUIRE_ASKED_ABOVE), arena.id(id))
        case .around(let id): (asked, asked_id) = (Int32(QUIRE_ASKED_AROUND), arena.id(id))
        }
        own = arena.link(response.own ?? .unknown)
        if response.isEndDoubtful { flags |= UInt32(QUIRE_PARSED_END_IS_DOUBTFUL) }
        set(\.page, response.page, QUIRE_PARSED_HAS_PAGE)
        set(\.pages, response.pages, QUIRE_PARSED_HAS_PAGES)
        set(\.total, response.total, QUIRE_PARSED_HAS_TOTAL)
        setAdvice(response)
    }

    /// Fills in what is known of a response that is no page.
    fileprivate mutating func fill(_ error: DumpError, _ advice: Response) {
        if error.kind == .expired { flags |= UInt32(QUIRE_PARSED_LINK_IS_REFUSED) }
        if error.kind == .later { flags |= UInt32(QUIRE_PARSED_ERROR_PASSES) }
        setAdvice(advice)
    }

    private mutating func setAdvice(_ response: Response) {
        set(\.backoff_ms, response.backoff.map(milliseconds), QUIRE_PARSED_HAS_BACKOFF)
        set(\.quota, response.quota, QUIRE_PARSED_HAS_QUOTA)
        set(\.quota_renewal_ms, response.quotaRenewal.map(milliseconds), QUIRE_PARSED_HAS_QUOTA_RENEWAL)
    }

    private mutating func set(
        _ field: WritableKeyPath<quire_parsed, UInt64>, _ number: Int?, _ flag: Int
    ) {
        guard let number else { return }
        self[keyPath: field] = count(number)
        flags |= UInt32(flag)
    }
}

/// A server may write any number of seconds.
private func milliseconds(_ seconds: Double) -> Int { Int(min(seconds * 1000, 0x1p53).rounded(.up)) }

extension quire_answer {
    /// The same answer, with all that it points to in the arena.
    fileprivate static func make(of answer: Answer, in arena: Arena) -> UnsafeMutablePointer<quire_answer> {
        let bodies = arena.bytes(answer.bytes)
        let posts = arena.array(answer.posts.count, of: quire_post.self)
        for (at, post) in answer.posts.enumerated() {
            let data = post.body.isEmpty ? nil : bodies.data.map { $0 + post.body.lowerBound }
            let flags =
                (post.key == nil ? 0 : QUIRE_POST_HAS_KEY)
                | (post.version == nil ? 0 : QUIRE_POST_HAS_VERSION) | QUIRE_POST_HAS_DETAIL
            (posts + at).initialize(
                to: quire_post(
                    id: arena.id(post.id), body: quire_bytes(data: data, size: post.body.count),
                    key: post.key ?? 0, version: post.version ?? 0, flags: UInt32(flags),
                    detail: UInt32(post.detail.rawValue)))
        }
        let made = arena.array(1, of: quire_answer.self)
        made.initialize(to: quire_answer())
        made.pointee.struct_size = UInt32(MemoryLayout<quire_answer>.size)
        made.pointee.post_size = UInt32(MemoryLayout<quire_post>.stride)
        if !answer.posts.isEmpty { made.pointee.posts = UnsafePointer(posts) }
        made.pointee.count = answer.posts.count
        made.pointee.opaque_rows = UInt64(clamping: answer.opaqueRows)
        made.pointee.next = arena.link(answer.next)
        made.pointee.previous = arena.link(answer.previous)
        if let since = answer.since { made.pointee.since = arena.text(since) }
        made.pointee.deleted = arena.ids(answer.deleted)
        return made
    }
}

@_cdecl("quire_parsed_free") @implementation
public func quire_parsed_free(_ parsed: UnsafeMutablePointer<quire_parsed>?) {
    if let parsed = take(parsed) { Arena.free(parsed.owner) }
}
