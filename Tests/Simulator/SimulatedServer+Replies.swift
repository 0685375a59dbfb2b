import Quire

/// An answer of the server, and what an independent check needs to know about it.
public struct SimulatedReply: Sendable {
    /// What the client gets.
    public var answer: Answer
    /// The posts the server meant to show, in its order: without the repetitions that a fault adds.
    public var shown: [PostID]
    /// Where each of these posts was.
    public var positions: [PostID: Int64]
    /// The places for which the answer speaks: the server showed everything that lay there. Without
    /// bound at the end of the list. Nil if the answer shows nothing and proves nothing.
    public var covered: ClosedRange<Int64>?
    /// The server's time: later arrivals are not in the answer.
    public var time: Int
}

extension SimulatedServer {
    /// What the server answers to a request now.
    ///
    /// - Parameters:
    ///   - until: For bounded requests. The answer ends above this post, or with it
    ///     (``SimulatedServer/showsBounds``), and says `.end` if it got there.
    ///   - limit: How many posts a page has, where the target does not say.
    ///   - options: Keys are sent in feeds whose order class promises them.
    ///   - position: Where the client last saw a post (requests like `.below(id)`). The server's own
    ///     memory if nil.
    /// - Returns: Nil if the post that the request names never existed, if the server refuses (``kind``), or
    ///   if the target is no request.
    public func reply(
        to target: Request.Target, until: PostID? = nil, limit: Int, options: FeedOptions,
        position: ((PostID) -> Int64?)? = nil
    ) -> SimulatedReply? {
        let place = position ?? { self.position(of: $0) }
        switch target {
        case .link(let link):
            return reply(to: link, until: until, limit: limit, options: options, place: place)
        case .position(let offset, let asked):
            guard let size = kind.rows(askedFor: asked) else { return nil }
            return reply(from: offset, size: size, options: options)
        case .page(let number, let asked):
            return reply(page: number, asked: asked, options: options)
        case .around(let id):
            let at = firstIndex { $0 <= (place(id) ?? .min) }
            return reply(
                window: max(0, at - limit / 2)..<min(ids.count, at + limit / 2 + 1), options: options)
        case .snapshot:
            var reply = reply(window: 0..<0, options: options)
            reply.shown = ids.filter { !hides($0) }
            for id in reply.shown { reply.answer.append(id: id) }
            reply.covered = .min ... .max
            return reply
        case .delta: return nil
        case .bodies(let wanted):
            return self.reply(showing: wanted.filter(shows), options: options)
        }
    }

    /// The answer alone; an empty one that says nothing where ``reply(to:until:limit:options:position:)``
    /// gives nil.
    public func answer(
        to target: Request.Target, until: PostID? = nil, limit: Int, options: FeedOptions,
        position: ((PostID) -> Int64?)? = nil
    ) -> Answer {
        let reply = reply(to: target, until: until, limit: limit, options: options, position: position)
        return reply?.answer ?? Answer()
    }

    /// The index of the first post whose position satisfies a condition that, once true, stays true
    /// down the list.
    private func firstIndex(where condition: (Int64) -> Bool) -> Int {
        var low = 0
        var high = ids.count
        while low < high {
            let middle = (low + high) / 2
            if condition(records[ids[middle]]?.position ?? .min) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}

// MARK: Links

extension SimulatedServer {
    private func reply(
        to link: Link, until: PostID?, limit: Int, options: FeedOptions, place: (PostID) -> Int64?
    ) -> SimulatedReply? {
        if kind.linksAreNumbers {
            return number(of: link, options: options).flatMap {
                reply(page: $0, asked: limit, options: options)
            }
        }
        guard let start = Start(link, place: place) else { return nil }
        switch start {
        case .above(let position):
            let end = firstIndex { $0 <= position }
            var reply = reply(window: max(0, end - limit)..<end, options: options)
            reply.answer.next = .unknown
            let top = end <= limit ? .max : reply.covered?.upperBound
            reply.covered = Self.range(position, top)
            return reply
        case .below(let position):
            let first = position == .max ? 0 : firstIndex { $0 < position }
            var last = min(ids.count, first + limit)
            guard let until else { return below(position, rows: first..<last, options: options) }
            guard let bottom = place(until) else { return nil }
            let floor = max(first, firstIndex { showsBounds ? $0 < bottom : $0 <= bottom })
            guard last >= floor else { return below(position, rows: first..<last, options: options) }
            last = floor
            var reply = reply(window: first..<last, options: options)
            reply.answer.next = .end
            reply.answer.previous = .unknown
            reply.covered = Self.range(bottom, position)
            return reply
        }
    }

    /// Where the answer to a link starts.
    private enum Start {
        case below(Int64)
        case above(Int64)

        init?(_ link: Link, place: (PostID) -> Int64?) {
            switch link {
            case .head:
                self = .below(.max)
            case .below(let id):
                guard let position = place(id) else { return nil }
                self = .below(position)
            case .above(let id):
                guard let position = place(id) else { return nil }
                self = .above(position)
            case .token(let text):
                guard let position = Int64(text.dropFirst()) else { return nil }
                self = text.hasPrefix("a") ? .above(position) : .below(position)
            case .unknown, .end, .confirmEnd, .more:
                return nil
            }
        }
    }

    private func below(_ position: Int64, rows: Range<Int>, options: FeedOptions) -> SimulatedReply {
        var reply = reply(window: rows, options: options)
        let bottom = rows.upperBound == ids.count ? .min : reply.covered?.lowerBound
        reply.covered = Self.range(bottom, position)
        return reply
    }

    private func number(of link: Link, options: FeedOptions) -> Int? {
        switch link {
        case .head: options.firstPage
        case .token(let text) where text.hasPrefix("page="): Int(text.dropFirst("page=".count))
        default: nil
        }
    }
}

// MARK: Windows

extension SimulatedServer {
    private func reply(page number: Int, asked: Int?, options: FeedOptions) -> SimulatedReply? {
        guard let size = kind.rows(askedFor: asked) else { return nil }
        let reply = reply(from: (number - options.firstPage) * size, size: size, options: options)
        guard var reply, kind.linksAreNumbers else { return reply }
        if reply.answer.next != .end { reply.answer.next = .token("page=\(number + 1)") }
        reply.answer.previous = number > options.firstPage ? .token("page=\(number - 1)") : .end
        return reply
    }

    /// Rows counted from the top, for servers that know offsets and page numbers; nil: the server refuses.
    private func reply(from start: Int, size: Int, options: FeedOptions) -> SimulatedReply? {
        var start = start
        if start >= ids.count, start > 0 {
            switch kind.beyond {
            case .emptyPage: break
            case .lastPage: start = max(0, (ids.count - 1) / size * size)
            case .firstPage: start = 0
            case .refusal: return nil
            }
        }
        let rows = start..<(start + size)
        var reply = reply(window: rows.clamped(to: 0..<ids.count), options: options)
        let ends = rows.upperBound >= ids.count
        reply.answer.next =
            switch kind.end {
            case .said: ends ? .end : .more
            case .total, .unsaid: .unknown
            }
        reply.answer.total = kind.end == .total ? ids.count : nil
        reply.answer.previous = .unknown
        reply.covered = Self.range(
            ends ? .min : reply.covered?.lowerBound, rows.lowerBound <= 0 ? .max : reply.covered?.upperBound)
        return reply
    }

    /// The posts of a part of the list, with links to what is above and below it.
    private func reply(window: Range<Int>, options: FeedOptions) -> SimulatedReply {
        var reply = reply(showing: Array(ids[window]), options: options)
        var low = ids[window].last.flatMap { records[$0]?.position }
        var high = ids[window].first.flatMap { records[$0]?.position }
        if window.upperBound >= ids.count {
            reply.answer.next = .end
            if low != nil { low = .min }
        } else if window.upperBound > 0 {
            reply.answer.next = token("b", ids[window.upperBound - 1])
        }
        if window.lowerBound == 0 {
            reply.answer.previous = .end
            if high != nil { high = .max }
        } else if window.lowerBound < ids.count {
            reply.answer.previous = token("a", ids[window.lowerBound])
        }
        reply.covered = Self.range(low, high)
        return reply
    }

    private func reply(showing posts: [PostID], options: FeedOptions) -> SimulatedReply {
        let hasKeys = options.order == .stable || options.order == .bump
        var answer = Answer(fetchedAt: Int64(now))
        var positions: [PostID: Int64] = [:]
        let shown = posts.filter { !hides($0) }
        if case .withoutID = kind.filter { answer.opaqueRows = posts.count - shown.count }
        for id in shown {
            guard let record = records[id] else { continue }
            positions[id] = record.position
            answer.append(
                id: id, key: hasKeys ? record.position : nil, version: record.version,
                body: body(of: id) ?? [])
        }
        return SimulatedReply(answer: answer, shown: shown, positions: positions, covered: nil, time: now)
    }

    private func token(_ letter: String, _ id: PostID) -> Link {
        records[id].map { .token("\(letter)\($0.position)") } ?? .unknown
    }

    /// Nil unless both ends are known and enclose something.
    private static func range(_ low: Int64?, _ high: Int64?) -> ClosedRange<Int64>? {
        guard let low, let high, low <= high else { return nil }
        return low...high
    }
}
