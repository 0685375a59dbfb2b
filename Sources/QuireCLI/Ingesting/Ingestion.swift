import Quire
import QuireDumps

/// Takes the pages of one run into a feed.
struct Ingestion {
    private let destination: Destination
    private let parser: PageParser
    private let numbering: Numbering
    private var run: RecordedRun
    private(set) var totals = IngestTotals()

    /// Pages, and bytes, that share a commit.
    private static let batchPages = 16
    private static let batchBytes = 32 << 20

    init(
        to destination: Destination, start: RecordedRun.Start, numbering: Numbering
    ) {
        self.destination = destination
        self.numbering = numbering
        parser = PageParser(profile: destination.profile)
        run = RecordedRun(startingAt: start)
    }

    private struct Page {
        let file: PageFile
        let number: Int?
        let response: Result<Response, DumpError>
    }

    /// Takes the pages in, one commit for several, and says on stderr which ones failed.
    mutating func take(_ inputs: [PageInput]) throws {
        var pages: [Page] = []
        var bytes = 0
        for (index, input) in inputs.enumerated() {
            let number = numbering.number(of: input, at: index)
            let response = Result { () throws(DumpError) in
                try input.read(with: parser, keyIsVersion: destination.reading.keyIsVersion)
            }
            bytes += (try? response.get())?.answer.bytes.count ?? 0
            pages.append(Page(file: input.file, number: number, response: response))
            if pages.count == Self.batchPages || bytes >= Self.batchBytes {
                try commit(pages)
                (pages, bytes) = ([], 0)
            }
        }
        try commit(pages)
    }

    private mutating func commit(_ pages: [Page]) throws {
        var problems: [String] = []
        var (totals, run) = (totals, run)
        if pages.contains(where: isWorthAFeed) {
            let feed = try destination.create()
            let before = (totals, run)
            try feed.cache.batch { batch in
                (problems, totals, run) = ([], before.0, before.1)  // this may be the second time
                for page in pages {
                    if let problem = try Self.record(page, in: &run, of: feed, batch, &totals) {
                        problems.append(problem)
                    }
                }
            }
        } else {
            problems = pages.map(Self.problem)
        }
        // Only what is committed counts.
        (self.totals, self.run) = (totals, run)
        self.totals.pagesFailed += problems.count
        for problem in problems { Messages.write(problem) }
    }

    /// No feed is created for pages that it would not take.
    private func isWorthAFeed(_ page: Page) -> Bool {
        guard case .success(let response) = page.response else { return false }
        return destination.feed != nil || !response.answer.posts.isEmpty
    }

    /// Why a page that is not worth a feed is not.
    private static func problem(of page: Page) -> String {
        guard case .failure(let error) = page.response else { return refusal(of: page, .empty) }
        return error.message
    }

    /// Records a page; returns why it could not be.
    private static func record(
        _ page: Page, in run: inout RecordedRun, of feed: Feed, _ batch: borrowing Batch,
        _ totals: inout IngestTotals
    ) throws -> String? {
        guard case .success(let response) = page.response else { return problem(of: page) }
        var advanced = run
        let answer = response.answer(page: page.number, in: &advanced)
        let outcome = try batch.record(answer, page: page.number, in: &advanced, of: feed)
        // The run goes on as if a refused page had never been there.
        if outcome.isUnchanged { return refusal(of: page, outcome.verdict) }
        run = advanced
        totals.add(outcome, answer)
        return nil
    }

    private static func refusal(of page: Page, _ verdict: Outcome.Verdict) -> String {
        "\(page.file.path): refused: \(sentence(for: verdict))"
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

/// What a run of pages did.
struct IngestTotals {
    var pages = 0
    var pagesFailed = 0
    var received = 0
    var new = 0
    var duplicates = 0
    var duplicatesInPage = 0
    /// Not placed: deleted or outdated meanwhile, or above a post the server says lies above them (R9).
    var ignored = 0
    var updated = 0
    var moved = 0
    var removed = 0
    var gapsOpened = 0
    var gapsClosed = 0
    var bytes = 0

    mutating func add(_ outcome: Outcome, _ answer: Answer) {
        pages += 1
        received += answer.posts.count
        new += outcome.new.count
        duplicates += outcome.duplicates.count
        duplicatesInPage += outcome.duplicatesInPage
        ignored += outcome.ignored.count
        updated += outcome.updated
        moved += outcome.moved.count
        removed += outcome.removed.count
        gapsOpened += outcome.gapsOpened
        gapsClosed += outcome.gapsClosed
        bytes += answer.bytes.count
    }
}
