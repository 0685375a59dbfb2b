import ArgumentParser
import Foundation
import Quire
import QuirePaging

struct Pull: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mirror a list of a paged API: fetch what is new, and what is missing.",
        discussion: """
            Asks for the first page, then for every gap from the top down, then for what is below the last \
            post, until nothing is missing. Everything that it must know to go on is in the cache: after Ctrl-C, \
            a crash or kill -9, the same command goes on where it was. Once a feed was pulled, the address can \
            be left out.

            The first answer shows which API it is from and how its posts are ordered; one line says what was \
            found, and --profile, --order and --key say otherwise. The size of a page is that of the address \
            (pagesize=100), else what the server sends. An address can also be a template with {page}, \
            {offset}, {token}, {limit}, {below}, {above}. {page:0} says that the first page has the number 0; \
            if nothing says it, a second request finds it out.

            One request at a time, not more than one a second, at most 100, with retries, Retry-After, backoff, \
            quotas and conditional requests as the server wants them. --plan says what would be asked.

            Secrets come from the environment or from a file that only its owner may read, in a header or in a \
            parameter of the address: {env:NAME}, {file:PATH}. They are never stored or shown.

            The closing line says whether the mirror is whole, or what is missing and why the work ended. The \
            exit code is 0 if it is whole, or the limit or --until was reached; 65 if the server refused a \
            request, its answers led nowhere, or another program dropped the feed; 75 after a spent quota, a \
            long pause or a lost network; 130 after Ctrl-C or SIGTERM.

            Examples:
              quire pull gh.quire issues https://api.github.com/repos/o/r/issues \\
                  --header 'Authorization: Bearer {env:TOKEN}'
              quire pull so.quire new \\
                  'https://api.stackexchange.com/2.3/questions?site=meta&key={file:se.key}'
              quire pull so.quire new --follow --every 5m
            """)

    @OptionGroup var target: FeedArguments

    @Argument(help: ArgumentHelp("The address of the first page of the list.", valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "A header for each request: 'Name: value', with {env:NAME} or {file:PATH} for secrets.",
            valueName: "header"))
    var header: [String] = []

    @OptionGroup var limits: PullLimits
    @OptionGroup var options: IngestOptions

    @Flag(help: "Say what would be asked. Ask nothing, and change nothing.")
    var plan = false

    @Flag(help: "Exit with 1 if the mirror is not whole.")
    var exitCode = false

    @OptionGroup var progress: ProgressOption
    @OptionGroup var json: JSONOption

    func work(_ clock: PagerClock) throws -> PullWork {
        PullWork(
            cache: target.cache, feed: target.feed, address: try url.map { try PullAddress($0) },
            headers: try header.map { try PullHeader($0) }, options: options, limits: limits, clock: clock)
    }

    func run(_ output: Output) throws -> ExitStatus {
        let work = try work(.system)
        if plan {
            try PullPlan(work).print(asJSON: json.isOn, output)
            return .ok
        }
        Interruption.watch()
        let log = PullLog()
        let task = Task.detached {
            do { log.finish(.success(try await work.run(log))) } catch { log.finish(.failure(error)) }
        }
        while true {
            let (events, result) = log.take()
            for event in events { try print(event, output) }
            if Interruption.received != 0 { task.cancel() }
            guard let line = try result?.get() else { continue }
            return exitCode && line.status == .ok && !line.whole ? .findings : line.status
        }
    }

    private var isChatty: Bool {
        switch progress.mode {
        case .always: true
        case .auto: isatty(STDERR_FILENO) == 1
        case .never: false
        }
    }

    private func print(_ event: PullLog.Event, _ output: Output) throws {
        switch event {
        case .note(let text): Messages.write(text)
        case .answer(let line) where json.isOn: try JSONLines(output).print(line)
        case .answer(let line): if isChatty { Messages.write(line.words) }
        case .end(let line) where json.isOn: try JSONLines(output).print(line)
        case .end(let line): for text in line.lines { try output.line(text) }
        }
        try output.flush()
    }
}
