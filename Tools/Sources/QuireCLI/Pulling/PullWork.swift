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
        let pageSize: Int
        let keyIsVersion: Bool
        let hasBodies: Bool
        /// True for RSS and Atom.
        let isSyndication: Bool
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
                    try setup(known, destination, memory, address, discretion.prepare)
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
        let repeated = RepeatedPages()
        let empty = EmptyRun()
        let fresh = FreshLinks(log, words: discretion.words)
        let pager = Pager(
            setup.feed, source: setup.source,
            interceptors: [
                empty.interceptor, meter.interceptor, discretion.failures, fresh.interceptor, telling,
                repeated.interceptor,
            ],
            // Bodies of a list of ids are asked for one at a time.
            options: PagerOptions(
                pageSize: setup.feed.options.paging == .ids ? 1 : setup.pageSize,
                patience: limits.patience.duration),
            clock: discretion.clock(clock))
        let puller = Puller(
            pager, limits, meter, clock, asksForBodies: setup.hasBodies, isSyndication: setup.isSyndication,
            repeated, tell: discretion.words)
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

    private func setup(
        _ feed: Feed, _ destination: Destination, _ memory: PullMemory, _ address: PullAddress,
        first: RawResponse? = nil, _ prepare: @escaping Prepare
    ) throws -> Setup {
        let plan = try address.plan(for: destination.profile, feed.options)
        let pageSize = plan.pageSize ?? memory.pageSize
        let now = PullMemory(address: address.text, pageSize: pageSize)
        if memory != now { try feed.cache.batch { try now.remember(with: $0[feed]) } }
        let bodies = address.bodies(of: destination.profile)
        let source = try HTTPSource(
            plan.template, profile: destination.profile, bodies: bodies, timeout: limits.timeout.duration,
            first: first, readsSyndication: destination.kind == .syndication, prepare: prepare)
        return Setup(
            feed: feed, source: source, pageSize: pageSize, keyIsVersion: destination.keyIsVersion,
            hasBodies: bodies != nil, isSyndication: destination.kind == .syndication)
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
        meter.skipNext()  // it answers the first request for the head
        let first = try FirstAnswer(response, from: address, to: destination)
        log.add(.note("\(destination.name): \(discretion.words(first.words))"))
        let feed = try destination.feed ?? create(destination, address, first)
        let plan = try address.plan(for: destination.profile, feed.options)
        let memory = PullMemory(
            address: address.text, pageSize: plan.pageSize ?? Self.size(of: first.answer))
        try feed.cache.batch { try memory.remember(with: $0[feed]) }
        return try setup(feed, destination, memory, address, first: response, discretion.prepare)
    }

    private func create(
        _ destination: Destination, _ address: PullAddress, _ first: FirstAnswer
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

    /// Asks for the first page in a cache that is thrown away, because retries and pauses are a pager's.
    private func firstResponse(
        _ address: PullAddress, _ profile: Profile?, _ meter: Meter, _ discretion: PullDiscretion
    ) async throws -> RawResponse {
        let scratch = try DryRun(of: "")
        defer { withExtendedLifetime(scratch) {} }
        let probe = try HTTPProbe(
            address.first, body: profile?.requestBody?.filled(["limit": "\(FeedOptions().pageSize)"]),
            profile: profile, timeout: limits.timeout.duration, prepare: discretion.prepare)
        let feed = try Cache(at: scratch.path).feed(named: "first page")
        let pager = Pager(
            feed, source: probe, interceptors: [meter.interceptor, discretion.failures],
            options: PagerOptions(patience: limits.patience.duration), clock: discretion.clock(clock))
        do { try await pager.refresh() } catch let failure as PageFailure {
            throw Failure(failure.isTransient ? .temporary : .data, discretion.words(failure.message))
        } catch PagerError.paused(let rest) {
            throw Failure(.temporary, "the server asks for a pause; open again at \(opening(rest))")
        } catch PagerError.quotaSpent(let rest) {
            throw Failure(.temporary, "the quota of the server is used up; open again at \(opening(rest))")
        } catch is RequestLimit {
            throw Failure(
                .temporary, "the limit of requests was reached (--pages) before there was an answer")
        } catch is CancellationError {
            throw Failure(.interrupted, "stopped; nothing was changed")
        }
        guard let response = probe.response else { throw Failure(.data, "the server gave no answer") }
        return response
    }

    private func opening(_ rest: Duration) -> String { dated(clock.now() + Int64(rest / .milliseconds(1))) }
}
