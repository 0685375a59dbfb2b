import ArgumentParser
import Foundation
import Quire

/// What a pull owes the server, and when it ends.
struct PullLimits: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The largest number of requests, retries included; with --follow in each round.",
            valueName: "number"))
    var pages = 100

    @Option(
        help: ArgumentHelp(
            "End when everything above this is here: a date (2024-05-31, or with a time in RFC 3339), or a "
                + "key as quire show --json prints it.", valueName: "key"))
    var until: Until?

    @Flag(help: "Then ask again about the joins that only page numbers claim.")
    var verify = false

    @Flag(help: "Look for new posts again and again, until Ctrl-C.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "How long to wait before the next look, with --follow.", valueName: "duration, as 5s"))
    var every = Age(seconds: 60)

    @Option(
        help: ArgumentHelp("The shortest time from one request to the next.", valueName: "duration, as 5s"))
    var pause = Age(seconds: 1)

    @Option(
        help: ArgumentHelp(
            "How long to wait when the server asks for a pause. If it asks for more, the work ends.",
            valueName: "duration, as 5s"))
    var patience = Age(seconds: 60)

    @Flag(
        help: "Ask the server of the list also for links that name another one, as servers behind a proxy do."
    )
    var linksHere = false

    @Option(help: ArgumentHelp("How long the server may send nothing.", valueName: "duration, as 5s"))
    var timeout = Age(seconds: 30)

    func validate() throws {
        if pages < 1 { throw ValidationError("--pages is at least 1.") }
        if timeout.milliseconds == 0 { throw ValidationError("--timeout is at least 1s.") }
        if follow && until != nil { throw ValidationError("--follow and --until exclude each other.") }
    }
}

extension Age {
    init(seconds: Int64) { milliseconds = seconds * 1_000 }

    var duration: Duration { .milliseconds(milliseconds) }
}

extension Age: CustomStringConvertible {
    var description: String { "\(milliseconds / 1_000)s" }
}

/// The key down to which a pull goes.
enum Until: ExpressibleByArgument, Sendable, Equatable {
    case key(Int64)
    /// Milliseconds since 1970.
    case date(Int64)

    init?(argument: String) {
        if let key = Int64(argument) {
            self = .key(key)
            return
        }
        let isDay = argument.count == 10
        guard
            let date = try? Date(isDay ? argument + "T00:00:00Z" : argument, strategy: .iso8601)
        else { return nil }
        self = .date(Int64(date.timeIntervalSince1970 * 1_000))
    }

    /// Returns the key, for a feed with keys like this one: seconds, milliseconds or microseconds since 1970.
    func key(like other: Int64) -> Int64 {
        switch self {
        case .key(let key): key
        case .date(let date) where other >= 100_000_000_000_000: date * 1_000
        case .date(let date) where other >= 100_000_000_000: date
        case .date(let date): date / 1_000
        }
    }
}
