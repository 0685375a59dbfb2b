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
        beginning: ([Input], Destination) throws -> Beginning
    ) throws -> ExitStatus {
        let inputs = Input.list(files)
        let copy = runOptions.dryRun ? try DryRun(of: target.cache) : nil
        defer { withExtendedLifetime(copy) {} }
        let destination = try Destination(cache: target.cache, at: copy?.path, feed: target.feed, options)
        if inputs.allSatisfy({ $0.problem != nil }) {
            for input in inputs { Messages.write(input.problem?.message ?? "") }
            return .noInput
        }
        let began = ContinuousClock.now
        let (point, run) = try start(inputs, destination, beginning(inputs, destination))
        Interruption.watch()
        let sizes = inputs.map { $0.problem == nil ? $0.size : 0 }
        let total = sizes.contains(nil) ? nil : sizes.compactMap(\.self).reduce(0, +)
        let errors = try ErrorReporter(runOptions, after: point.totals.pagesFailed)
        defer { errors.summarise() }
        var ingestion = try Ingestion(
            to: destination, from: point, run, errors,
            Progress(runOptions.progress.mode, total: total))
        if !point.isDone {
            // The rest of the memory is for the document being read, and the engine.
            let share = input.memory.bytes / 4
            let queue = PageQueue.reading(
                inputs, reading(for: destination), from: point.position, limit: share)
            try ingestion.take(queue, batchBytes: share)
        }
        let line = try report(ingestion, destination, took: began.duration(to: .now), output)
        let status = status(of: ingestion)
        return status == .ok && runOptions.exitCode && !line.isFine ? .findings : status
    }

    /// The resume point of the same inputs, or the start.
    private func start(
        _ inputs: [Input], _ destination: Destination, _ beginning: Beginning
    ) throws -> (ResumePoint, Crawl) {
        let identity = ResumePoint.identity(of: inputs, beginning.start)
        if runOptions.resume, let feed = destination.feed,
            let (point, run) = try ResumePoint.read(of: feed), point.inputs == identity
        {
            Messages.write(
                "\(point.isDone ? "done already" : "going on") after \(counted(point.totals.pages, "page"))")
            return (point, run)
        }
        return (
            ResumePoint(inputs: identity, numbering: beginning.numbering),
            Crawl(startingAt: beginning.start)
        )
    }

    private func reading(for destination: Destination) -> InputOptions {
        var options = InputOptions(profile: destination.profile)
        (options.format, options.packing) = (input.format, input.packing)
        (options.entries, options.ratioLimit) = (input.entries, input.ratioLimit)
        options.recordLimit = input.recordLimit.bytes
        options.recognisesJSONFeed = destination.recognisesJSONFeed
        options.keyIsVersion = destination.keyIsVersion
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
        _ ingestion: Ingestion, _ destination: Destination, took elapsed: Duration, _ output: Output
    ) throws -> ClosingLine {
        let info = try destination.info()
        var evidence = ingestion.point.totals.evidence ?? OrderEvidence()
        if let feed = destination.feed { evidence = try evidence.withoutPlaced(in: feed) }
        var line = ClosingLine(
            ingestion.point.totals, evidence, info, elapsed: elapsed, isDryRun: runOptions.dryRun)
        if let order = info?.options.order {
            line.fittingOrder = evidence.fittingOrder(ingestion.fit, insteadOf: order)
        }
        if runOptions.json.isOn {
            try JSONLines(output).print(line)
        } else {
            let continuity = info.map { Continuity($0) } ?? Continuity()
            for text in line.summary(feed: destination.name, continuity) {
                try output.line(text)
            }
        }
        return line
    }
}
