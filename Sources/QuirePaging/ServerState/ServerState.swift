import Foundation
import Quire

/// What is remembered about talking to a feed's server: when it may be asked again, and how fresh the
/// first page is. It is an attribute of the feed, written in the commit that takes the page in, so it is
/// never newer or older than the posts, survives a restart and is shared by processes.
struct ServerState: Codable, Equatable {
    /// A stretch of time, in milliseconds of a clock that may jump.
    struct Span: Codable, Equatable {
        /// Not after now, once ``settle(at:)`` was called.
        var since: Int64
        var length: Int64

        func elapsed(at now: Int64) -> Int64 {
            let (elapsed, overflow) = now.subtractingReportingOverflow(since)
            return overflow ? .max : elapsed
        }

        func rest(at now: Int64) -> Int64 { max(0, length - max(0, elapsed(at: now))) }
    }

    /// The first page as the server confirmed it.
    struct FirstPage: Codable, Equatable {
        var validators: Validators?
        /// How many posts were asked for; nil if it is the whole list, whatever is asked.
        var pageSize: Int?
        /// The page it became, nil if it was empty. As long as it is the topmost one, "not modified" means
        /// something.
        var page: UInt64?
    }

    var pause: Span?
    /// Set while the quota is spent.
    var spentQuota: Span?
    /// When the server confirmed the first page, and how long it said that this holds.
    var confirmed: Span?
    var firstPage: FirstPage?
    /// Out-of-sequence pages are to leave as soon as they are no longer visible.
    var isDropPending = false

    /// No server is left alone for longer than this, whatever it says.
    static let longestPause: Duration = .seconds(86_400)

    // MARK: Time

    /// A clock that was set back must make nothing last longer: what began in the future begins now, and
    /// a page confirmed in the future is not fresh.
    mutating func correct(at now: Int64) {
        if let since = pause?.since, since > now { pause?.since = now }
        if let since = spentQuota?.since, since > now { spentQuota?.since = now }
        if let since = confirmed?.since, since > now { confirmed = nil }
        if pause?.rest(at: now) == 0 { pause = nil }
        if spentQuota?.rest(at: now) == 0 { spentQuota = nil }
    }

    /// Heeds what the server said about when to come back. A pause is never shortened by another answer.
    mutating func heed(pause asked: Duration?, quota: Quota?, at now: Int64) {
        correct(at: now)
        if let asked, asked > .zero {
            let length = min(asked, Self.longestPause).milliseconds
            if length > pause?.rest(at: now) ?? 0 { pause = Span(since: now, length: length) }
        }
        guard let quota else { return }
        let renewal = min(quota.renewsIn ?? Self.longestPause, Self.longestPause)
        spentQuota =
            quota.remaining > 0 ? nil : Span(since: now, length: renewal.milliseconds)
    }

    /// How long ago the server confirmed the first page.
    func age(at now: Int64) -> Duration? {
        confirmed.map { .milliseconds(max(0, $0.elapsed(at: now))) }
    }

    // MARK: Storage

    private static let attribute = "paging"

    /// What cannot be read, because another version wrote it, is forgotten: it is advice, and the next
    /// answer writes it anew.
    private init(_ bytes: [UInt8]?) {
        self = bytes.flatMap { try? JSONDecoder().decode(ServerState.self, from: Data($0)) } ?? ServerState()
    }

    init() {}

    /// As stored.
    init(of feed: Feed, in snapshot: borrowing Snapshot) throws {
        self.init(try snapshot.attribute(Self.attribute, of: feed))
    }

    /// As stored, settled at a time.
    init(of feed: Feed, in snapshot: borrowing Snapshot, at now: Int64) throws {
        try self.init(of: feed, in: snapshot)
        correct(at: now)
    }

    /// Changes what is stored, and writes it if that changed anything.
    static func change(
        of feed: Feed, in batch: borrowing Batch, at now: Int64, _ body: (inout ServerState) -> Void
    ) throws {
        let stored = ServerState(try batch[feed].attribute(attribute))
        var serverState = stored
        serverState.correct(at: now)
        body(&serverState)
        if serverState == stored { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try batch[feed].setAttribute(attribute, to: Array(try encoder.encode(serverState)))
    }
}

extension Duration {
    /// Whole milliseconds, rounded up so that no request comes too early.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (thousand, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds > 0 ? .max : .min }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, tooMuch) = thousand.addingReportingOverflow(rest)
        return tooMuch ? .max : sum
    }
}
