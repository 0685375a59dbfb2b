import ArgumentParser
import Quire
import QuireDumps

struct Ingest: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ingest the responses of a crawl, or a dump, into a feed.",
        discussion: """
            The kind of a file is recognised by its content: a response, responses or items one a line or \
            in one JSON array, Posts.xml of a Stack Exchange data dump, RSS, Atom or JSON Feed; each \
            plain, packed with gzip, zstd, bzip2 or xz, or in a tar or 7z archive; zip is not read. - is \
            standard input. A folder means its files with pages in natural order, 2.json before 10.json, \
            without its subfolders; an archive means its files with pages, in the order of the archive.

            The profile of the API is found from the first response, and with it by what the list is ordered: \
            a line says so, and what the response leaves open. If no profile fits it as it is, most of the \
            first nine files decide. --profile, --order and --key say it instead. \
            What was found is remembered with the feed. quire profiles --explain shows more.

            The first page is a refresh (or continues at the tail, with --place tail), and each \
            following page continues directly below the page before it. If all files, those in archives too, \
            are named by page number (17.json, page-17.json, posts_17.json), their numbers count, in any \
            order; only in a list without keys, the first page has to come first. Others are numbered in \
            the order given. For that an archive is listed before it is read; of one on standard input, \
            the names count as they come. What follows a missing or failed page is not contiguous: it lies \
            below a gap \
            whose link names the missing page, and ingesting that page later closes the gap. A file that \
            shows what one with another number shows is passed over, as its page may be missing. Pages \
            without posts at the end are no error. Without the first page the feed is open above. Where \
            the request of a response was recorded, that decides \
            what the response is: the head as of then, a page below another, or what lies above a post. RSS, Atom \
            and JSON Feed are the head as of then, unless a link or numbers in the names join them.

            A data dump is a whole list. A newer one of the same site updates what has changed, adds what \
            is new and removes what is gone.

            Ids mean something only to the server that gave them: issue 1 of two repositories, question 1 of \
            two sites, row 1 of two tables are different posts. So each feed has a collection of its own, \
            named after it. --collection says that the ids of several feeds are from one server: what is \
            known of a post is then stored once and shown by all of them. quire feeds lists the collections.

            A failed page is one line on stderr, the fourth and later ones of a kind are counted together; the \
            others go in, and the exit code is 65. If there is \
            no file at all, it is 66. Ctrl-C ends the work after the current batch, with exit code 130, \
            and --resume goes on there. The cache and the feed are created when they do not exist.

            Examples:
              quire ingest so.quire so/active pages/ --key last_activity_date
              quire ingest gh.quire issues pages/ --profile github --resume
              quire ingest beer.quire posts beer.stackexchange.com.7z
              quire ingest so.quire so/active pages/ --key last_activity_date --budget 10MB
              curl -s https://blog.example/feed | quire ingest b.quire blog -
            """)

    enum Start: String, ExpressibleByArgument, CaseIterable {
        case head, tail
    }

    @OptionGroup var target: FeedArguments

    @Argument(
        help: ArgumentHelp("Responses or dumps, folders of them, or -.", valueName: "file"),
        completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("The place of the first page.", valueName: "place"))
    var place = Start.head

    @OptionGroup var options: IngestOptions
    @OptionGroup var input: InputArguments
    @OptionGroup var runOptions: RunOptions

    func run(_ output: Output) throws -> ExitStatus {
        let work = IngestWork(target: target, options: options, input: input, runOptions: runOptions)
        return try work.run(files, output) { files, destination in
            switch place {
            case .head:
                let profile = destination.profile
                let top = profile.paging == .page ? profile.firstPage : 1
                let numbering = Numbering(files, otherwise: .consecutive(from: top))
                // A run of files with higher numbers does not start at the head.
                let first = numbering == .names ? files?.compactMap(\.number).min() : nil
                return (.head(page: min(first ?? top, top)), numbering)
            case .tail:
                let tail = try destination.info()?.tail
                return (.tail, Numbering(files, otherwise: .continuing(tail)))
            }
        }.status
    }
}

struct Fill: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ingest responses into a gap of a feed.",
        discussion: """
            The first page continues below the post above the gap. Each further page continues below the page \
            before it. The files are read and numbered, and failures reported, as with quire ingest.

            Example:
              quire fill so.quire so/active g3 page-17.json
            """)

    @OptionGroup var target: FeedArguments

    @Argument(help: "The gap, as quire gaps names it: g3.")
    var gap: GapID

    @Argument(
        help: ArgumentHelp("Responses, folders of them, or -.", valueName: "file"),
        completion: .file())
    var files: [String]

    @OptionGroup var options: IngestOptions
    @OptionGroup var input: InputArguments
    @OptionGroup var runOptions: RunOptions

    func run(_ output: Output) throws -> ExitStatus {
        let work = IngestWork(target: target, options: options, input: input, runOptions: runOptions)
        let feed = try target.open(budget: options.cacheBudget)
        func row() throws -> GapRow? {
            try feed.cache.withSnapshot { try $0.gaps(of: feed) }.first { $0.id == gap }
        }
        let before = try row()
        if before == nil && !runOptions.resume {
            throw Failure(.data, "\(target.cache): feed \(feed.name) has no gap \(gap)")
        }
        let (status, line) = try work.run(files, output) { files, _ in
            (.gap(gap), Numbering(files, otherwise: .continuing(before?.down)))
        }
        if let line, !runOptions.dryRun, let after = try row() {
            Messages.write(
                "gap \(gap) is still open: \(reason(line)), and it goes on with \(shown(after.down))")
        }
        return status
    }

    /// Why the pages did not close the gap.
    private func reason(_ line: ClosingLine) -> String {
        if line.new > 0 { return "\(counted(line.new, "post")) came in" }
        if line.pages == 0 { return line.pagesFailed == 0 ? "no page came" : "no page could be taken in" }
        if line.received == 0 { return "the pages had no posts" }
        return "all \(grouped(line.received)) posts of the pages were known already"
    }
}

extension Numbering {
    /// Goes on where a link leads, as far as that is a number.
    fileprivate static func continuing(_ link: Link?) -> Numbering {
        guard case .token(let text) = link, text.hasPrefix("page="), let page = Int(text.dropFirst(5)),
            0...Crawl.numberLimit ~= page
        else { return .following }
        return .consecutive(from: page)
    }
}

extension GapID: @retroactive ExpressibleByArgument {
    /// `g3`.
    public init?(argument: String) {
        guard argument.first == "g", let number = UInt64(argument.dropFirst()) else { return nil }
        self.init(number)
    }
}
