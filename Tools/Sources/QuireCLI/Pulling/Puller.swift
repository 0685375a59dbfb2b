import Foundation
import Quire
import QuireHTTP
import QuirePaging

/// Asks for what a feed lacks, one request at a time: the head, the gaps from the top down, an open head,
/// what is below the last post, and unverified joins. Everything it must know to go on is in the cache.
final class Puller {
    private let feed: Feed
    private let pager: Pager
    private let limits: PullLimits
    private let meter: Meter
    private let clock: PagerClock
    private let tell: @Sendable (String) -> String
    /// Places that lead nowhere in this round, and why.
    private var stuck: [Place: String] = [:]
    private var isRefused = false
    /// How often in a row the engine has looked for a place and wants to go on looking. Only then a place is
    /// asked for again although its last answer led nowhere.
    private var searches: [Place: Int] = [:]
    /// One search is many requests already (`Pager`).
    private static let searchLimit = 8
    /// How many answers in a row went on below the last post and brought none. A server that gives each such
    /// answer another link never comes to an end. The limit grows with the cached pages: where old links were
    /// refused, the way goes over all of them (R32).
    private var barren = 0
    private static let barrenLimit = 40
    /// The state after the last answer, to notice that nothing changes.
    private var last: Progress?
    private var joins: [PostID]?
    /// True if the list is one of ids, and the profile says how to ask for the bodies.
    private let asksForBodies: Bool
    private let isSyndication: Bool
    /// True if the person wrote {token} into the address.
    private let hasTokenPlace: Bool
    /// The posts without bodies that were not asked for in this round, the last one first.
    private var bodies: [PostID]?
    private var before = 0
    private var againstOrderBefore = 0
    /// True if the feed held something when it was last looked at. If it is empty then, it was reset.
    private var hasRows = false
    private var resets = 0
    /// Each reset costs all requests anew. A program that resets a feed again and again gets it empty.
    private static let resetLimit = 5
    private let repeated: RepeatedPages
    private let shared: SharedIDCount
    private let total: ListTotal
    private let growing: GrowingEnd

    /// - Parameter tell: Makes a message printable: without secrets.
    init(
        _ pager: Pager, _ limits: PullLimits, _ meter: Meter, _ clock: PagerClock, asksForBodies: Bool,
        isSyndication: Bool, _ repeated: RepeatedPages, _ shared: SharedIDCount,
        _ total: ListTotal, _ growing: GrowingEnd, tokenPlace: Bool,
        tell: @escaping @Sendable (String) -> String
    ) {
        (feed, self.pager, self.limits, self.meter) = (pager.feed, pager, limits, meter)
        (self.clock, self.asksForBodies, self.tell) = (clock, asksForBodies, tell)
        (self.isSyndication, self.repeated, self.shared) = (isSyndication, repeated, shared)
        (self.total, self.growing, hasTokenPlace) = (total, growing, tokenPlace)
    }

    private struct Progress: Equatable {
        let place: Place
        let posts: Int
        let tail: Link
        let links: [Link]
        let unverified: Int
    }

    /// Asks until nothing more can be asked, and says how it ended.
    func round() async throws -> EndLine {
        do { return try await askAll() } catch let error as QuireError where error.code == .notFound {
            let number = feed.number
            if try feed.cache.feeds().contains(where: { $0.number == number }) { throw error }
            var line = EndLine(feed: feed.name, stopped: .dropped)
            line.requests = meter.round
            line.reason = "the feed was dropped by another program"
            return line
        }
    }

    private func askAll() async throws -> EndLine {
        let info = try feed.cache.withSnapshot { try $0.info(of: feed) }
        (before, againstOrderBefore) = (info.posts, info.answersAgainstOrder)
        (hasRows, resets) = (before > 0, 0)
        do {
            try await begin()
            while true {
                try Task.checkCancellation()
                if try wasReset() {
                    (before, resets) = (0, resets + 1)
                    if resets > Self.resetLimit {
                        return try end(.stuck, "the feed was reset again and again by another program")
                    }
                    try await begin()
                } else if let place = try next() {
                    try await ask(place)
                } else {
                    break
                }
            }
            return try end()
        } catch is RequestLimit {
            return try end(.limit)
        } catch PagerError.paused(let rest) {
            return try end(.pause, opensIn: rest)
        } catch PagerError.quotaSpent(let rest) {
            return try end(.quota, opensIn: rest)
        } catch is CancellationError {
            return try end(.interrupted)
        } catch let failure as PageFailure {
            if failure.isTransient { return try end(.network, tell(failure.message)) }
            return try end(.server, tell(failure.message))
        } catch let error as HTTPSourceError {
            if error.isOfOtherServer {
                return try end(.server, tell("\(error); --links-here asks the server of the list for it"))
            }
            guard let place = error.missingPlace else { return try end(.server, tell("\(error)")) }
            isRefused = true
            return try end(
                .stuck,
                "the next page has a \(place), and nothing says which parameter of the request takes it: write "
                    + "it into the address, as in \"…?cursor={\(place)}\"")
        }
    }

    /// Asks for the head, with nothing known of the other places.
    private func begin() async throws {
        (stuck, isRefused, last, joins, bodies, searches, barren) = ([:], false, nil, nil, nil, [:], 0)
        growing.beginRound()
        try note(await pager.refresh(), at: .head)
    }

    /// Returns true if another program has reset the feed since the last call.
    private func wasReset() throws -> Bool {
        let info = try feed.cache.withSnapshot { try $0.info(of: feed) }
        let had = hasRows
        hasRows = info.posts > 0 || info.pages > 0
        return had && !hasRows && info.tail != .end
    }

    private func ask(_ place: Place) async throws {
        do {
            let isForced = searches[place] != nil
            switch place {
            case .gap(let gap): try note(await pager.fill(gap, isForced: isForced), at: place)
            case .openHead: try note(await pager.prepend(isForced: isForced), at: place)
            case .bodies(let ids):
                if let result = try await pager.fetchBody(of: ids[0]) { try note(result, at: place) }
            case .join(let id): try note(await pager.verify(joinAbove: id), at: place)
            default: try note(await pager.append(isForced: isForced), at: place)
            }
        } catch let run as EmptyRun.TooLong {
            stuck[place] = tell("\(run)")
        } catch let error where place != .tail && error.concernsOnePlace && !isRefused {
            // The link into one place may have expired. A second refusal is about more than one place.
            let words = error is PageFailure ? "\(error)" : "\(place.words): \(error)"
            (isRefused, stuck[place]) = (true, tell(words))
        }
    }

    // MARK: What to ask

    private func next() throws -> Place? {
        if feed.options.paging == .ids { return try asksForBodies ? nextBody() : nil }
        let place = try feed.cache.withSnapshot { snapshot -> Place? in
            let info = try snapshot.info(of: feed)
            let showsNewestOnly = isSyndication && info.tail == .unknown
            for gap in try snapshot.gaps(of: feed) where stuck[.gap(gap.id)] == nil {
                if showsNewestOnly && gap.down == .unknown { continue }
                if try !isDeepEnough(before: gap.position, snapshot) { return .gap(gap.id) }
            }
            if info.isHeadOpen && stuck[.openHead] == nil { return .openHead }
            if info.tail == .end || stuck[.tail] != nil || growing.isReached { return nil }
            return try isDeepEnough(before: nil, snapshot) ? nil : .tail
        }
        if place == .tail, try asksForHeadAgain() {
            let help =
                hasTokenPlace
                ? ", so {token} in the address is not used; if an answer has a token, a profile says where: "
                    + "\"next\" (--profile-file)"
                : "; if a parameter does, write it into the address, as in \"…?page={page}\" or "
                    + "\"…?before={below}\""
            stuck[.tail] = "the server does not say how the list goes on" + (isSyndication ? "" : help)
            return try next()
        }
        if place != nil || !limits.verify { return place }
        if joins == nil { joins = try posts { $0.isUnverified && !$0.isChecked } }
        return joins!.popLast().map { .join(above: $0) }
    }

    /// Returns the topmost post whose body is missing and was not asked for in this round.
    private func nextBody() throws -> Place? {
        if bodies == nil { bodies = try posts { $0.isPlaceholder } }
        while let id = bodies!.popLast() {
            // An answer may have taken the post out of the feed.
            let row = try feed.cache.withSnapshot { try $0.find(id, in: feed) }
            if row?.isPlaceholder == true { return .bodies([id]) }
        }
        return nil
    }

    /// True if no answer said what follows the last post, so that only the first page could be asked for
    /// again.
    private func asksForHeadAgain() throws -> Bool {
        let feed = feed
        guard try feed.cache.withSnapshot({ try $0.info(of: feed).tail }) == .unknown else { return false }
        let plan = try feed.cache.dryRun { [size = pager.options.pageSize] in
            try $0[feed].plan(.tail, limit: size)
        }
        return plan.request?.target == .link(.head)
    }

    /// True if the post above a row, or the last post, is as old as `--until`.
    private func isDeepEnough(before row: RowPosition?, _ snapshot: borrowing Snapshot) throws -> Bool {
        guard let until = limits.until,
            let post = try snapshot.rows(of: feed, before: row, limit: 1).last?.post
        else { return false }
        guard let key = post.key else {
            throw Failure(
                .usage, "the posts of feed \(feed.name) have no keys, so --until cannot say where to end")
        }
        return key <= until.key(like: key)
    }

    /// The posts of which this is true, the lowest first.
    private func posts(where isWanted: (PostRow) -> Bool) throws -> [PostID] {
        try feed.cache.withSnapshot { snapshot in
            var (found, position): ([PostID], RowPosition?) = ([], nil)
            while true {
                let rows = try snapshot.rows(of: feed, after: position, limit: 1_000)
                guard let last = rows.last else { return found.reversed() }
                found += rows.compactMap(\.post).filter(isWanted).map(\.id)
                position = last.post?.position ?? last.gap?.position
            }
        }
    }

    // MARK: What came of it

    private func note(_ result: PageResult, at place: Place) throws {
        switch result {
        case .loaded(let outcome) where outcome.searchesOn:
            let count = (searches[place] ?? 0) + 1
            searches[place] = count
            if count == Self.searchLimit { try note(.stopped(outcome.verdict), at: place) }
        case .loaded(let outcome):
            searches[place] = nil
            if !outcome.new.isEmpty { hasRows = true }
            if case .bodies = place {
                let isMissing = outcome.new.isEmpty && outcome.removed.isEmpty
                if isMissing { stuck[place] = "\(place.words): the answer does not have it" }
                return
            }
            let now = try feed.cache.withSnapshot { snapshot in
                let info = try snapshot.info(of: feed)
                let links = try snapshot.gaps(of: feed).flatMap { [$0.down, $0.up] }
                return Progress(
                    place: place, posts: info.posts, tail: info.tail, links: links,
                    unverified: info.unverifiedJoins)
            }
            if now == last { stuck[place] = unchanging(place, now.tail) }
            last = now
            if place == .tail { barren = outcome.new.isEmpty ? barren + 1 : 0 }
            let pages = now.posts / max(1, pager.options.pageSize ?? feed.options.pageSize)
            if barren >= Self.barrenLimit + pages { stuck[.tail] = Self.nothingBelow }
        case .stopped(.empty) where place == .tail, .stopped(.noProgress) where place == .tail:
            let tail = try feed.cache.withSnapshot { try $0.info(of: feed).tail }
            stuck[place] = tail == .unknown && namesLinks ? Self.noLink : Self.nothingBelow
        case .stopped(let verdict):
            (isRefused, stuck[place]) = (
                true, "\(place.words): its answers lead nowhere (\(verdict.rawValue))"
            )
        case .refused(.noSuchGap), .refused(.noSuchJoin): break
        case .refused(let refusal):
            stuck[place] = "\(place.words): nothing leads on there (\(refusal.rawValue))"
        case .notModified, .fresh, .revalidating, .stale, .preempted: break
        }
    }

    private static let nothingBelow =
        "below the last post comes nothing new, and no answer says that the list ends"
    private static let noLink =
        "the last page names no next one, and nothing says that the list ends so; a profile whose \"next\" has "
        + "\"absent\": \"end\" does (--profile-file)"

    /// True if answers name the next page, which no number does.
    private var namesLinks: Bool { [.cursor, .pages].contains(feed.options.paging) && !isSyndication }

    /// Returns why a place leads nowhere whose last two answers had the same effect.
    private func unchanging(_ place: Place, _ tail: Link) -> String {
        place == .tail && tail == .unknown && namesLinks
            ? Self.noLink : "\(place.words): its answers change nothing"
    }

    private func end(
        _ stop: EndLine.Stop? = nil, _ reason: String? = nil, opensIn rest: Duration? = nil
    ) throws -> EndLine {
        try feed.cache.withSnapshot { snapshot in
            let info = try snapshot.info(of: feed)
            let isRanked = info.options.order == .ranked
            var line = EndLine(feed: info.name, stopped: stop ?? .whole)
            (line.gaps, line.headOpen, line.posts) = (info.gaps, info.isHeadOpen, info.posts)
            line.tailEnd = info.tail == .end || growing.isReached
            line.unverified = info.unverifiedJoins
            line.endAssumed = info.isEndAssumed && line.tailEnd
            line.isTailUnknown = info.tail == .unknown
            (line.new, line.removed) = (max(0, info.posts - before), max(0, before - info.posts))
            (line.requests, line.ranked) = (meter.round, isRanked)
            line.againstOrder = max(0, info.answersAgainstOrder - againstOrderBefore)
            if asksForBodies { line.bodiesMissing = try posts { $0.isPlaceholder }.count }
            line.whole = info.isInSequence && line.tailEnd && !isRanked && line.bodiesMissing == 0
            line.reason = reason
            if stop == nil && line.whole, let doubt = try growing.doubt(info) ?? doubtOfEnd() {
                (line.whole, line.isTailUnknown) = (false, true)
                (line.tailEnd, line.endAssumed) = (false, false)
                stuck[.tail] = doubt
            }
            if let rest { line.opening = clock.now() + Int64(rest / .milliseconds(1)) }
            if stop == nil && !(info.isInSequence && line.tailEnd && line.bodiesMissing == 0) {
                line.stopped = stuck.isEmpty ? .until : .stuck
                line.reason = stuck.values.min()
            }
            line.isRefused = isRefused
            if let loss = try shared.known(of: feed) { line.lose(loss) }
            line.compare(with: try total.known(to: pager))
            // The first page says nothing of the others if it was refused.
            if line.stopped == .server { line.whole = false }
            return line
        }
    }
}

extension Puller {
    /// Why the end that the engine assumes may be none; nil if nothing speaks against it.
    private func doubtOfEnd() throws -> String? {
        try repeated.areAll(of: feed)
            ? "each page shows the posts of the first one: there are no others, or the server does not "
                + "know the parameter for the page" : nil
    }
}

extension Outcome {
    /// True if the next request at the same place is another one.
    fileprivate var searchesOn: Bool {
        switch verdict {
        case .drift, .replan, .stale, .confirmEnd: true
        case .noProgress: !isUnchanged  // eight pages were empty, and say that more follows (R26.7)
        default: false
        }
    }
}

extension Error {
    /// True if another request may succeed.
    fileprivate var concernsOnePlace: Bool {
        if let failure = self as? PageFailure { return !failure.isTransient }
        // Each place with a token lacks its parameter.
        return (self as? HTTPSourceError).map { $0.missingPlace != "token" } ?? false
    }
}

extension Place {
    /// The place for people.
    var words: String {
        switch self {
        case .head: "head"
        case .tail: "tail"
        case .openHead: "open head"
        case .gap(let gap), .aboveGap(let gap): "\(gap)"
        case .join(let id): "join above \(shown(id))"
        case .around(let id): "around \(shown(id))"
        case .page(let number): "page \(number)"
        case .bodies(let ids): "body of \(ids.first.map { shown($0) } ?? "")"
        case .delta: "changes"
        }
    }
}
