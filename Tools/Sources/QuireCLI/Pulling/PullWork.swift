import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A pull: finds or makes the feed, and asks for what it lacks.
struct PullWork: Sendable {
    let cache: String
    let feed: String
    /// The address that was given.
    let address: PullAddress?
    let headers: [PullHeader]
    let options: IngestOptions
    let limits: PullLimits
    let clock: PagerClock

    /// A feed, and how its server is asked.
    private struct Setup {
        let feed: Feed
        let source: HTTPSource
        let links: LaterLinks
        let pageSize: Int
        let keyIsVersion: Bool
        let hasBodies: Bool
        /// True for RSS and Atom.
        let isSyndication: Bool
        let hasTokenPlace: Bool
    }

    typealias Prepare = @Sendable (inout URLRequest) async throws -> Void

    /// - Returns: The last of the closing lines, which are in the log.
    func run(_ log: PullLog) async throws -> EndLine {
        let destination = try Destination(cache: cache, feed: feed, options)
        let memory = try destination.feed.flatMap { try PullMemory(of: $0) }
        let address = try listAddress(destination, memory)
        let secrets = try Secrets(headers, address)
        let meter = Meter(limit: limits.pages, pause: limits.pause.duration, clock: clock)
        let discretion = PullDiscretion(secrets, log, linksHere: limits.linksHere)
        do {
            let setup =
                if let memory, let known = destination.feed {
                    try await resume(known, destination, memory, address, meter, discretion, log)
                } else {
                    try await begin(destination, address, meter, discretion, log)
                }
            return try await pull(setup, meter, discretion, log)
        } catch let error as HTTPSourceError {
            throw Failure(.usage, discretion.words("\(error)"))
        }
    }

    private func pull(
        _ setup: Setup, _ meter: Meter, _ discretion: PullDiscretion, _ log: PullLog
    ) async throws -> EndLine {
        let telling = discretion.telling(setup.feed, keyIsVersion: setup.keyIsVersion)
        let (repeated, shared, total) = (RepeatedPages(), SharedIDCount(setup.source.profile), ListTotal())
        let empty = EmptyRun()
        let fresh = FreshLinks(log, words: discretion.words)
        let growing = try GrowingEnd(setup.feed) { [name = setup.feed.name] words in
            log.add(.note("\(name): \(words)"))
        }
        let pager = Pager(
            setup.feed, source: setup.source,
            interceptors: [
                empty.interceptor, meter.interceptor, discretion.failures, fresh.interceptor, telling,
                repeated.interceptor, shared.interceptor, total.interceptor, growing.interceptor,
                setup.links.interceptor,
            ],
            // Bodies of a list of ids are asked for one at a time.
            options: PagerOptions(
                pageSize: setup.feed.options.paging == .ids ? 1 : setup.pageSize,
                patience: limits.patience.duration),
            clock: discretion.clock(clock))
        let puller = Puller(
            pager, limits, meter, clock, asksForBodies: setup.hasBodies, isSyndication: setup.isSyndication,
            repeated, shared, total, growing, tokenPlace: setup.hasTokenPlace,
            tell: discretion.words)
        var name = setup.feed.name
        while true {
            var line = try await puller.round()
            if line.feed != name {
                log.add(.note("\(name): another program has renamed the feed; it is called \(line.feed) now"))
                name = line.feed
            }
            log.add(.end(line))
            guard limits.follow, !line.isLast else { return line }
            do { try await clock.sleep(max(limits.every.duration, line.rest(at: clock.now()))) } catch {
                // Nothing was asked since the last line.
                (line.stopped, line.new, line.requests, line.opening) = (.interrupted, 0, 0, nil)
                log.add(.end(line))
                return line
            }
            meter.beginRound()
            fresh.beginRound()
            empty.beginRound()
            shared.beginRound()
            total.beginRound()
        }
    }

    /// Returns the address of the list. Throws if the feed holds another list.
    func listAddress(_ destination: Destination, _ memory: PullMemory?) throws -> PullAddress {
        if let kind = destination.kind, kind != .syndication {
            let name = ParsingOptions.name(of: kind) ?? ""
            throw Failure(
                .data, "\(cache): feed \(feed) holds \(name), and quire pull reads the responses of servers")
        }
        guard let memory else {
            if let address { return address }
            guard exists(cache) else {
                throw Failure(
                    .noInput, "\(cache): no such cache; to make one, say the address of the first page")
            }
            throw Failure(
                .usage, "\(cache): feed \(feed) was never pulled: say the address of its first page")
        }
        let known = try PullAddress(memory.address)
        guard let address else { return known }
        if address.isSameList(as: known, for: destination.profile) {
            return known.isTemplate && !address.isTemplate ? known : address
        }
        throw Failure(
            .usage,
            "\(cache): feed \(feed) holds the list of \(shown(memory.address, limit: 300)); another "
                + "address is another list: give it a feed of its own")
    }

    // MARK: Known feeds

    /// Goes on with a feed. Where a place in the address says how, and nothing else does, the first page is
    /// asked for as if for the first time, because "not modified" would not bring it.
    private func resume(
        _ feed: Feed, _ destination: Destination, _ memory: PullMemory, _ address: PullAddress,
        _ meter: Meter, _ discretion: PullDiscretion, _ log: PullLog
    ) async throws -> Setup {
        let tail = try feed.cache.withSnapshot { try $0.info(of: feed).tail }
        let isBegun = try continues(feed, by: address, destination.profile, tail)
        // A feed with such numbers may be of a time when the first one was only assumed.
        let isAssumed =
            memory.firstPage == nil && address.paging == .page
            && (isBegun || feed.options.paging == .page && destination.profile.name == "unknown")
        var (memory, first): (PullMemory, RawResponse?) = (memory, nil)
        memory.firstPage = address.firstPage ?? memory.firstPage
        if isBegun || isAssumed && memory.firstPage == nil {
            let response = try await firstResponse(address, destination.profile, meter, discretion)
            if isAssumed {
                let found = try await numbering(
                    address, destination.profile, response, said: nil, meter, discretion)
                try found.map { try require($0, of: feed) }
                memory.firstPage = found?.first
            }
            meter.skipNext()  // it answers the first request for the head
            first = response
        } else if let number = address.firstPage {
            try require(PageNumbering(first: number, reason: "as the address says"), of: feed)
        }
        return try setup(
            feed, destination, memory, address, first: first, isNews: tail == .unknown, discretion, log)
    }

    /// Returns true if a place in the address says how a feed goes on of which nothing said that.
    private func continues(
        _ feed: Feed, by address: PullAddress, _ profile: Profile, _ tail: Link
    ) throws -> Bool {
        let paging = feed.options.paging
        let isOpen = tail == .unknown && (profile.searchesNext || !profile.saysNext)
        guard isOpen, let wanted = address.paging, [.pages, .cursor].contains(paging) else { return false }
        if paging == .pages || wanted == .keyset { return true }
        throw Failure(
            .usage,
            "\(cache): feed \(feed.name) was begun as a list of cursors, which cannot become one by "
                + "\(wanted.rawValue): give the list a feed of its own, or quire drop this one first")
    }

    /// Throws if the pages of a feed were asked for by other numbers than the server's.
    private func require(_ numbering: PageNumbering, of feed: Feed) throws {
        let assumed = feed.options.firstPage
        if numbering.first == assumed || feed.options.paging != .page { return }
        throw Failure(
            .data,
            "\(cache): the pages are counted from \(numbering.first), \(numbering.reason), but feed "
                + "\(feed.name) was begun as if from \(assumed), so a page is missing in it. Its posts stay, "
                + "but it cannot go on: give the list a feed of its own, or quire drop this one first")
    }

    private func setup(
        _ feed: Feed, _ destination: Destination, _ memory: PullMemory, _ address: PullAddress,
        first: RawResponse?, isNews: Bool, _ discretion: PullDiscretion, _ log: PullLog
    ) throws -> Setup {
        let plan = try address.plan(for: destination.profile, feed.options)
        let pageSize = plan.pageSize ?? memory.pageSize
        var now = PullMemory(address: address.text, pageSize: pageSize, firstPage: memory.firstPage)
        now.isLinkedLater = memory.isLinkedLater
        let say: @Sendable (String) -> Void = { [name = feed.name] words in
            log.add(.note("\(name): \(discretion.words(words))"))
        }
        let links = LaterLinks(
            address, destination.profile, feed.options, firstPage: now.firstPage
        ) { [now] words in
            if !isNews || now.isLinkedLater == true { return }
            say(words)
            var later = now
            later.isLinkedLater = true
            try feed.cache.batch { [later] in try later.remember(with: $0[feed]) }
        }
        if let known = try PullMemory(of: feed), known != now {
            try feed.cache.batch { try now.remember(with: $0[feed]) }
        }
        if self.address != nil {
            for words in links.unused(in: address, destination.profile, feed.options) { say(words) }
        }
        let bodies = address.bodies(of: destination.profile)
        let source = try HTTPSource(
            plan.template, profile: destination.profile, bodies: bodies, timeout: limits.timeout.duration,
            first: first, readsSyndication: destination.kind == .syndication, prepare: discretion.prepare)
        return Setup(
            feed: feed, source: source, links: links, pageSize: pageSize,
            keyIsVersion: destination.keyIsVersion,
            hasBodies: bodies != nil, isSyndication: destination.kind == .syndication,
            hasTokenPlace: address.hasPlace("token"))
    }

    // MARK: New feeds

    /// Asks for the first page, and makes a feed for what it shows. A first request that fails leaves
    /// nothing.
    private func begin(
        _ destination: Destination, _ address: PullAddress, _ meter: Meter, _ discretion: PullDiscretion,
        _ log: PullLog
    ) async throws -> Setup {
        let profile = destination.recognises ? nil : destination.profile
        let response = try await firstResponse(address, profile, meter, discretion)
        var first = try FirstAnswer(response, from: address, to: destination)
        log.add(.note("\(destination.name): \(discretion.words(first.words))"))
        var numbering: PageNumbering?
        let found = destination.recognition
        let isOpen = destination.profile.isOpen
        let mayAsk = address.paging == .page
        let isUnknown = found?.knowsAPI == false && destination.profile.paging == .page
        if isUnknown && (mayAsk || found?.pageNumber != nil) || isOpen && mayAsk {
            numbering = try await self.numbering(
                address, destination.profile, response, said: found?.pageNumber, meter, discretion)
        }
        if let numbering {
            if found != nil {
                first = try FirstAnswer(
                    response, from: address, to: destination, firstPage: numbering.first)
            }
            let count = "its pages are counted from \(numbering.first), \(numbering.reason)"
            log.add(.note("\(destination.name): \(count)"))
        }
        meter.skipNext()  // it answers the first request for the head
        let feed = try destination.feed ?? create(destination, address, first, numbering?.first)
        try numbering.map { try require($0, of: feed) }
        let plan = try address.plan(for: destination.profile, feed.options)
        let memory = PullMemory(
            address: address.text, pageSize: plan.pageSize ?? Self.size(of: first.answer),
            firstPage: numbering?.first)
        try feed.cache.batch { try memory.remember(with: $0[feed]) }
        return try setup(
            feed, destination, memory, address, first: response, isNews: false, discretion, log)
    }

    private func create(
        _ destination: Destination, _ address: PullAddress, _ first: FirstAnswer, _ firstPage: Int?
    ) throws -> Feed {
        guard let cache = try destination.open(for: first.kind) else {
            throw Failure(.data, "\(self.cache): feed \(feed) cannot be created")
        }
        var parsing = try ParsingOptions(options, remembered: nil)
        if let found = destination.recognition { parsing.adopt(found.profile) }
        parsing.hold(first.kind)
        let feed = try cache.batch { [parsing] batch in
            let feed = try destination.feed(in: batch, of: cache)
            let plan = try address.plan(for: destination.profile, feed.options)
            var options = feed.options
            options.pageSize = plan.pageSize ?? Self.size(of: first.answer)
            options.firstPage = firstPage ?? address.firstPage ?? options.firstPage
            options.paging = first.paging ?? options.paging
            if destination.profile.isOpen { options.paging = address.paging ?? options.paging }
            if options.sizes == .free && !plan.namesSize { options.sizes = .unknown }
            if options == feed.options { return feed }
            let changed = try batch[feed].setOptions(options)
            try parsing.remember(with: changed, batch)
            return changed
        }
        destination.hold(feed)
        return feed
    }

    /// The number of posts on a page: what the server sent when it was not told, if more follows.
    private static func size(of answer: Answer) -> Int {
        let rows = answer.posts.count + answer.opaqueRows
        return answer.next == .end ? max(rows, FeedOptions().pageSize) : max(1, rows)
    }
}

extension Profile {
    /// True if the profile says nothing of how the list goes on.
    fileprivate var isOpen: Bool { !saysNext && paging == .cursor }
}
