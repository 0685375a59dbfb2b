import Foundation
import Quire
import QuireDumps

/// What `ingest` and `fill` do: read on one thread, commit on this one, tell what happened.
struct IngestWork {
    let target: FeedArguments
    let options: IngestOptions
    let input: InputArguments
    let runOptions: RunOptions

    /// Where a run starts in a feed, and how its pages are numbered.
    typealias Beginning = (start: Crawl.Start, numbering: Numbering)

    func run(
        _ files: [String], _ output: Output,
        beginning: ([PageFile]?, Destination) throws -> Beginning
    ) throws -> (status: ExitStatus, line: ClosingLine?) {
        let named = Input.list(files)
        let copy = runOptions.dryRun ? try DryRun(of: target.cache) : nil
        defer { withExtendedLifetime(copy) {} }
        let destination = try Destination(cache: target.cache, at: copy?.path, feed: target.feed, options)
        if named.allSatisfy({ $0.problem != nil }) {
            let problems = named.map { $0.problem?.message ?? "" }
            for problem in problems.dropLast() { Messages.write(problem) }
            throw Failure(.noInput, problems.last ?? "")
        }
        let began = ContinuousClock.now
        Interruption.watch()
        let listing = InputListing(named, reading(for: destination))
        let inputs =
            Numbering.isSeries(listing.files)
            ? listing.lowestFirst : listing.oldestFirst(reading(for: destination))
        // The rest of the memory is for the document being read, and the engine.
        let share = input.memory.bytes / 4
        var (first, ahead): ([InputPage], PageQueue?) = ([], nil)
        if destination.recognises {
            // Where the run starts depends on the profile.
            let queue = PageQueue.reading(inputs, reading(for: destination), from: .init(), limit: share)
            first = try recognised(queue, destination)
            ahead = queue
        }
        let (point, run) = try start(inputs, destination, beginning(listing.files, destination))
        let sizes = inputs.map { $0.problem == nil ? $0.size : 0 }
        let total = sizes.contains(nil) ? nil : sizes.compactMap(\.self).reduce(0, +)
        var ingestion = try Ingestion(
            to: destination, from: point, run,
            ErrorReporter(runOptions, after: point.totals.pagesFailed),
            Progress(runOptions.progress.mode, total: total))
        if !point.isDone {
            let queue =
                ahead
                ?? PageQueue.reading(
                    inputs, reading(for: destination), from: point.position, limit: share)
            try ingestion.take(queue, after: first, batchBytes: share)
        }
        let missing = point.numbering.hasNames ? Numbering.missing(in: listing.files ?? []) : []
        let line = try report(
            ingestion, destination, missing, after: point.totals.pages, took: began.duration(to: .now), output
        )
        let status = status(of: ingestion)
        return (status == .ok && runOptions.exitCode && !line.isFine ? .findings : status, line)
    }

    /// Takes pages until the profile is found, or a page needs none. Returns the pages.
    private func recognised(_ queue: PageQueue, _ destination: Destination) throws -> [InputPage] {
        var pages: [InputPage] = []
        search: while Interruption.received == 0 {
            switch queue.pop(patience: 0.2) {
            case .nothingYet: continue
            case .end: break search
            case .page(let page):
                pages.append(page)
                if page.response != nil || queue.recognition != nil { break search }
            }
        }
        if let recognition = queue.recognition { try destination.adopt(recognition) }
        return pages
    }

    /// The resume point of the same inputs, or the start.
    private func start(
        _ inputs: [Input], _ destination: Destination, _ beginning: Beginning
    ) throws -> (ResumePoint, Crawl) {
        let identity = ResumePoint.identity(of: inputs, beginning.start)
        if runOptions.resume {
            let stored = try destination.feed.flatMap { try ResumePoint.read(of: $0) }
            if let (point, run) = stored, point.inputs == identity {
                try requireSameOptions(as: point, destination)
                Messages.write(
                    "\(point.isDone ? "done already" : "going on") after \(counted(point.totals.pages, "page"))"
                )
                return (point, run)
            }
            let reason =
                stored == nil
                ? "feed \(destination.name) has had no run yet"
                : "the last run had other files, or they have changed"
            Messages.write("nothing to resume: \(reason); starting at the beginning")
        }
        return (
            ResumePoint(inputs: identity, numbering: beginning.numbering, reading: input.words),
            Crawl(startingAt: beginning.start)
        )
    }

    /// A run goes on as it began; what was read before would have been read in another way.
    private func requireSameOptions(as point: ResumePoint, _ destination: Destination) throws {
        if destination.readsOtherwise {
            throw Failure(
                .usage,
                "--resume: the run was started with another profile, --items, --id or --key; give the same, or "
                    + "start anew without --resume")
        }
        guard let before = point.reading, before != input.words else { return }
        func list(_ words: [String]) -> String {
            words.isEmpty ? "none of these" : words.joined(separator: " ")
        }
        throw Failure(
            .usage,
            "--resume: the run was started with \(list(before)), not with \(list(input.words)); give the same "
                + "options, or start anew without --resume")
    }

    private func reading(for destination: Destination) -> InputOptions {
        var options = InputOptions(profile: destination.profile)
        (options.format, options.packing) = (input.format, input.packing)
        (options.entries, options.ratioLimit) = (input.entries, input.ratioLimit)
        options.recordLimit = input.recordLimit.bytes
        options.recognisesJSONFeed = destination.recognisesJSONFeed
        options.keyIsVersion = destination.keyIsVersion
        options.wishes = destination.wishes
        return options
    }

    private func status(of ingestion: Ingestion) -> ExitStatus {
        if Interruption.received != 0 && !ingestion.point.isDone && !ingestion.hasGivenUp {
            Messages.write("stopped; --resume goes on from here")
            return .interrupted
        }
        return ingestion.point.totals.pagesFailed > 0 ? .data : .ok
    }

    private func report(
        _ ingestion: Ingestion, _ destination: Destination, _ missing: [Int], after before: Int,
        took elapsed: Duration, _ output: Output
    ) throws -> ClosingLine {
        let info = try destination.info()
        var evidence = ingestion.point.totals.evidence ?? OrderEvidence()
        var totals = ingestion.point.totals
        if let feed = destination.feed {
            let unplaced = evidence.unplacedCount
            evidence = try evidence.withoutPlaced(in: feed)
            totals.duplicates += unplaced - evidence.unplacedCount  // the feed knows them now
        }
        var line = ClosingLine(
            totals, evidence, info, elapsed: elapsed, isDryRun: runOptions.dryRun,
            isInterrupted: info != nil && ingestion.point.isInterrupted, missingPages: missing,
            pagesBefore: before)
        if let order = info?.options.order {
            line.fittingOrder = evidence.fittingOrder(ingestion.fit, insteadOf: order)
        }
        if runOptions.json.isOn {
            try JSONLines(output).print(line)
        } else if let info {
            for text in line.summary(info, destination.recognition) {
                try output.line(text)
            }
        } else {
            let failed = line.pagesFailed
            let pages =
                failed == 0
                ? "was no page"
                : "\(failed == 1 ? "was" : "were") only \(counted(failed, "page")) that failed"
            try output.line("\(shown(destination.name)): there \(pages), so there is no feed")
        }
        return line
    }
}
