import Foundation
import Quire
import QuireDumps

/// Takes the pages of one crawl into a feed, several in a commit, together with the progress of the crawl.
struct Ingestion {
    private let destination: Destination
    private let errors: ErrorReporter
    private let progress: Progress
    /// The progress of the crawl as of the last committed batch.
    private(set) var point: ResumePoint
    private var crawl: Crawl
    private var merging: RowMerging
    private var empties = EmptyPages()
    /// The order of the pages received from an API.
    private(set) var fit: OrderFit
    private var watch = OrderWatch()
    private var copies = PageCopies()
    /// True if the crawl ended early because of too many errors.
    private(set) var hasGivenUp = false

    /// The number of pages in a commit.
    private static let batchPages = 32

    init(
        to destination: Destination, from point: ResumePoint, _ crawl: Crawl,
        _ errors: ErrorReporter, _ progress: Progress
    ) throws {
        (self.destination, self.point, self.crawl) = (destination, point, crawl)
        (self.errors, self.progress) = (errors, progress)
        merging = try RowMerging(destination.feed)
        fit = OrderFit(destination.profile)
    }

    private struct Page {
        var input: InputPage
        let number: Int?
        /// True if its number is in the name of its file.
        let isNumberedByName: Bool
        /// True if it shows posts in another order than an earlier page.
        let isContradiction: Bool
    }

    /// Pages that wait for a commit.
    private struct Waiting {
        var numbering: Numbering
        var pages: [Page] = []
        var bytes = 0
        var failures = 0
    }

    /// Commits these pages and those of the queue in batches of limited size, until its end, an interruption,
    /// or too many errors.
    mutating func take(_ queue: PageQueue, after first: [InputPage], batchBytes: Int) throws {
        defer {
            progress.clear()
            errors.conclude()
        }
        var waiting = Waiting(numbering: point.numbering)
        for page in first where !hasGivenUp { try take(page, &waiting, batchBytes) }
        while Interruption.received == 0 && !hasGivenUp {
            switch queue.pop(patience: 0.2) {
            case .nothingYet: break
            case .end: return try commit(waiting.pages, waiting.numbering, isLast: true)
            case .page(let page): try take(page, &waiting, batchBytes)
            }
        }
        queue.cancel()
    }

    private mutating func take(_ page: InputPage, _ waiting: inout Waiting, _ batchBytes: Int) throws {
        progress.show(read: page.consumed, posts: point.totals.new)
        try add(page, to: &waiting)
        let isFull = waiting.pages.count == Self.batchPages || waiting.bytes >= batchBytes
        if isFull && !hasGivenUp { try commit(&waiting) }
    }

    private mutating func add(_ page: InputPage, to waiting: inout Waiting) throws {
        if case .passedOver(let reason) = page.content {
            return say("\(page.place): passed over: \(reason)")
        }
        if case .failure(let error) = page.content {
            if errors.isTooMuch(after: waiting.failures) {
                try commit(&waiting)
                hasGivenUp = true
                point.totals.pagesFailed += 1
                return try complain(error.message, at: page.place)
            }
            waiting.failures += 1
        }
        if page.response?.namesPost == true && !waiting.pages.isEmpty {
            // The posts that it attaches to must be committed first.
            try commit(&waiting)
            if hasGivenUp { return }
        }
        let number = waiting.numbering.number(of: page)
        if waiting.numbering.hasNames, destination.profile.paging != .ids,
            let original = copies.original(of: page, number: number)
        {
            point.totals.addRepeated()
            return say(
                "\(page.place): passed over: it shows the same as \(original), so page \(number ?? 0) may be "
                    + "missing")
        }
        var isContradiction = false
        if page.kind == .response, let answer = page.answer {
            fit.add(answer)
            isContradiction = watch.contradicts(answer)
        }
        waiting.pages.append(
            Page(
                input: page, number: number, isNumberedByName: waiting.numbering.hasNames,
                isContradiction: isContradiction))
        waiting.bytes += page.size
    }

    private mutating func commit(_ waiting: inout Waiting) throws {
        try commit(waiting.pages, waiting.numbering, isLast: false)
        (waiting.pages, waiting.bytes, waiting.failures) = ([], 0, 0)
    }

    private func say(_ message: String) {
        progress.clear()
        Messages.write(message)
    }

    private func complain(_ message: String, at place: String) throws {
        progress.clear()
        try errors.tell(message, at: place)
    }

    // MARK: A batch

    /// The changes of a batch outside the cache. They count only once the batch is committed.
    private struct Effect {
        var point: ResumePoint
        var crawl: Crawl
        var merging: RowMerging
        var empties: EmptyPages
        var problems: [(message: String, place: String)] = []
        var isTooMuch = false
    }

    private mutating func commit(_ pages: [Page], _ numbering: Numbering, isLast: Bool) throws {
        var effect = Effect(point: point, crawl: crawl, merging: merging, empties: empties)
        let now = millisecondsNow()
        let pages = try attached(pages)
        if let cache = try destination.open(for: kind(of: pages)) {
            let before = effect
            do {
                let feed = try cache.batch { batch in
                    effect = before  // the closure may run twice
                    let feed = try destination.feed(in: batch, of: cache)
                    for page in pages where !effect.isTooMuch {
                        try take(page, at: now, into: feed, batch, &effect)
                    }
                    if destination.feed == nil && effect.point.totals.received == 0 { throw NothingTaken() }
                    if isLast { try effect.empties.end(feed, batch, &effect.point.totals) }
                    effect.point.numbering = numbering
                    effect.point.isDone = isLast && !effect.isTooMuch
                    try effect.point.write(effect.crawl, to: feed, batch)
                    return feed
                }
                destination.hold(feed)
            } catch is NothingTaken {
                // the feed that was created for these pages no longer exists
            }
        } else {
            for page in pages where !effect.isTooMuch {
                if page.input.saysNothingNew {
                    effect.point.totals.addNothingNew()
                    continue
                }
                effect.isTooMuch = errors.isTooMuch(after: effect.problems.count)
                effect.problems.append((Self.problem(of: page), page.input.place))
                effect.point.totals.pagesFailed += 1
            }
        }
        (point, crawl, merging, empties) = (effect.point, effect.crawl, effect.merging, effect.empties)
        hasGivenUp = effect.isTooMuch
        for problem in effect.problems { try complain(problem.message, at: problem.place) }
    }

    /// Returns the kind of the first page with posts. No feed is created for pages that it would not accept.
    private func kind(of pages: [Page]) -> InputPage.Kind? {
        pages.first { !($0.input.answer?.posts.isEmpty ?? true) }?.input.kind
    }

    /// Attaches the first of these pages to the cached posts, if its request names a post.
    private func attached(_ pages: [Page]) throws -> [Page] {
        guard let response = pages.first?.input.response, response.namesPost, let feed = destination.feed
        else { return pages }
        var pages = pages
        if let attached = try feed.cache.withSnapshot({ try response.attached(to: feed, $0) }) {
            pages[0].input.repeated += attached.answer.posts.count - response.answer.posts.count
            pages[0].input.content = .response(attached)
        } else {
            pages[0].input.content = .failure(DumpError(.data, Self.refusal(of: pages[0], .island)))
        }
        return pages
    }

    /// All pages of the batch that would have created the feed were refused.
    private struct NothingTaken: Error {}

    /// Returns why no feed is created for this page.
    private static func problem(of page: Page) -> String {
        guard case .failure(let error) = page.input.content else {
            return refusal(of: page, .empty)
        }
        return error.message
    }

    private func take(
        _ page: Page, at now: Int64, into feed: Feed, _ batch: borrowing Batch, _ effect: inout Effect
    ) throws {
        if let problem = try record(page, at: now, in: feed, batch, &effect) {
            fail(problem, at: page.input.place, &effect)
        }
        effect.point.position = page.input.position
    }

    private func fail(_ problem: String, at place: String, _ effect: inout Effect) {
        if errors.isTooMuch(after: effect.problems.count) { effect.isTooMuch = true }
        effect.problems.append((problem, place))
        effect.point.totals.pagesFailed += 1
    }

    /// Records a page. Returns why it could not be recorded, or nil.
    private func record(
        _ page: Page, at now: Int64, in feed: Feed, _ batch: borrowing Batch, _ effect: inout Effect
    ) throws -> String? {
        guard var response = page.input.response else {
            if page.input.isCut { effect.point.isCut = true }
            return Self.problem(of: page)
        }
        try destination.require(page.input)
        response.answer.fetchedAt = now
        if page.input.saysNothingNew {
            effect.point.totals.addNothingNew()
            return nil
        }
        if page.input.kind == .response, response.answer.posts.isEmpty, feed.options.paging != .ids,
            effect.point.totals.pages > 0
        {
            effect.empties.add(response.answer, at: page.input.place, page.number)
            return nil
        }
        guard let (outcome, answer) = try outcome(of: page, response, in: feed, batch, &effect) else {
            return Self.refusal(of: page, page.input.answer?.posts.isEmpty == true ? .empty : .island)
        }
        effect.point.totals.evidence?.add(outcome, in: feed.options.order)
        if page.input.kind == .response {
            effect.point.totals.evidence?.addAnswer(
                outcome, isContradiction: page.isContradiction, in: feed.options.order)
        }
        if outcome.isUnchanged { return Self.refusal(of: page, outcome.verdict) }
        effect.point.totals.add(
            outcome, answer, page.input, isListOfIDs: feed.options.paging == .ids)
        if outcome.duplicatesInPage > 0, let received = page.input.answer {
            effect.point.totals.add(SharedIDs(in: received, of: destination.profile))
        }
        for place in effect.empties.follow(page.number, answer.next) {
            fail("\(place): refused: \(Self.sentence(for: .empty))", at: place, &effect)
        }
        return nil
    }

    /// Takes a page in at its place; nil if nothing can be requested there.
    private func outcome(
        of page: Page, _ response: Response, in feed: Feed, _ batch: borrowing Batch, _ effect: inout Effect
    ) throws -> (Outcome, Answer)? {
        if case .rows = page.input.kind {
            return try effect.merging.merge(
                response.answer, isTop: page.input.isTop, in: feed, batch
            ).map { ($0, response.answer) }
        }
        var place: Place?
        if case .around(let id)? = response.asked { place = .around(id) }
        if feed.options.paging == .ids { place = .head }  // each list is the whole one (R21)
        if let place {
            guard let request = try batch[feed].plan(place).request else { return nil }
            return (try batch[feed].ingest(response.answer, for: request.ticket), response.answer)
        }
        var (advanced, documents) = (effect.crawl, effect.point.documents ?? DocumentChain())
        var response = response
        if page.input.kind == .syndication {
            response = documents.placed(response, isNumbered: page.isNumberedByName)
        }
        let counted = page.number.map { $0 + (effect.point.shift ?? 0) }
        let (answer, number) = response.place(number: counted, in: &advanced)
        let outcome = try batch[feed].ingest(answer, page: number, of: &advanced)
        // The crawl continues as if a refused page did not exist.
        if !outcome.isUnchanged {
            (effect.crawl, effect.point.documents) = (advanced, documents)
            if let number, let given = page.number { effect.point.shift = number - given }
        }
        return (outcome, answer)
    }

    private static func refusal(of page: Page, _ verdict: Outcome.Verdict) -> String {
        "\(page.input.place): refused: \(sentence(for: verdict))"
    }

    private static func sentence(for verdict: Outcome.Verdict) -> String {
        switch verdict {
        case .empty: "the page is empty"
        case .emptyConfirm: "the page is empty, although posts are cached"
        case .contradiction: "it contradicts the order of the feed"
        case .discontinuity, .island: "it does not attach to what is cached"
        case .noProgress: "it has nothing new and leads nowhere new"
        default: verdict.rawValue
        }
    }
}

extension InputPage {
    /// True if a request was recorded and its answer has no posts: nothing is new, or nothing follows.
    fileprivate var saysNothingNew: Bool {
        guard let response else { return false }
        return response.asked != nil && response.answer.posts.isEmpty
    }
}
