import ArgumentParser
import Quire
import QuireDumps

struct Ingest: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take the responses of a crawl into a feed.",
        discussion: """
            Each file holds one response; a folder means its .json files in natural order, 2.json before \
            10.json. The first page is a refresh (or continues at the tail, with --place tail), and each \
            following page continues directly below the page before it.

            If all files are named by page number (17.json, page-17.json, p17.json), their numbers \
            count; others are numbered in the order given. What follows a missing or failed page is not \
            contiguous: it lies below a gap whose link names the missing page, and ingesting that page \
            later closes the gap.

            A failed page is one line on stderr; the others go in, and the exit code is 65. If there is \
            no file at all, it is 66. The cache and the feed are created when they do not exist.
            """)

    enum Start: String, ExpressibleByArgument, CaseIterable {
        case head, tail
    }

    @OptionGroup var target: FeedArguments

    @Argument(
        help: ArgumentHelp("Responses, or folders of them.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("Where the first page lies.", valueName: "place"))
    var place = Start.head

    @OptionGroup var options: IngestOptions

    func run(_ output: Output) throws -> ExitStatus {
        let destination = try Destination(cache: target.cache, feed: target.feed, options)
        let inputs = PageInput.list(files)
        let start: RecordedRun.Start
        let numbering: Numbering
        switch place {
        case .head:
            numbering = Numbering(inputs, otherwise: .consecutive(from: 1))
            start = .head(page: inputs.first.flatMap { numbering.number(of: $0, at: 0) } ?? 1)
        case .tail:
            numbering = Numbering(inputs, otherwise: .continuing(try destination.info()?.tail))
            start = .tail
        }
        return try runIngestion(
            of: inputs, to: destination, options, start: start, numbering: numbering, output)
    }
}

struct Fill: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take responses into a gap of a feed.",
        discussion: """
            The first page continues below the post above the gap, each following one below the page \
            before it. The files are numbered, and failures reported, as with quire ingest.
            """)

    @OptionGroup var target: FeedArguments

    @Argument(help: "The gap, as quire gaps names it: g3.")
    var gap: GapID

    @Argument(
        help: ArgumentHelp("Responses, or folders of them.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var options: IngestOptions

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.open()
        let gaps = try feed.cache.withSnapshot { try $0.gaps(of: feed) }
        guard let row = gaps.first(where: { $0.id == gap }) else {
            throw Failure(.data, "\(target.cache): feed \(feed.name) has no gap \(gap)")
        }
        let destination = try Destination(cache: target.cache, feed: target.feed, options)
        let inputs = PageInput.list(files)
        return try runIngestion(
            of: inputs, to: destination, options, start: .gap(gap),
            numbering: Numbering(inputs, otherwise: .continuing(row.down)), output)
    }
}

extension Numbering {
    /// Goes on where a link leads, as far as that is a number.
    fileprivate static func continuing(_ link: Link?) -> Numbering {
        guard case .token(let text) = link, text.hasPrefix("page="), let page = Int(text.dropFirst(5)),
            0...PageInput.numberLimit ~= page
        else { return .following }
        return .consecutive(from: page)
    }
}

extension GapID: ExpressibleByArgument {
    /// `g3`.
    public init?(argument: String) {
        guard argument.first == "g", let number = UInt64(argument.dropFirst()) else { return nil }
        self.init(number)
    }
}

/// Takes the pages in and prints the closing line.
private func runIngestion(
    of inputs: [PageInput], to destination: Destination, _ options: IngestOptions,
    start: RecordedRun.Start, numbering: Numbering, _ output: Output
) throws -> ExitStatus {
    if inputs.allSatisfy({ $0.problem != nil }) {
        for input in inputs { Messages.write(input.problem?.message ?? "") }
        return .noInput
    }
    let clock = ContinuousClock()
    let began = clock.now
    var ingestion = Ingestion(to: destination, start: start, numbering: numbering)
    try ingestion.take(inputs)
    let info = try destination.info()
    let line = ClosingLine(ingestion.totals, info, elapsed: began.duration(to: clock.now))
    if options.json.isOn {
        try JSONLines(output).print(line)
    } else {
        for text in line.summary(feed: destination.name, gaps: info?.gaps ?? 0) {
            try output.line(text)
        }
    }
    return ingestion.totals.pagesFailed > 0 ? .data : .ok
}
