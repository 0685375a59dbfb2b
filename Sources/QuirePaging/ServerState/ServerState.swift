import Foundation
import Quire

/// What the pager remembers about a feed's server: when the next request is allowed, and how long its list
/// is. It is an attribute of the feed, so it survives a restart, and processes share it. ``FirstPage`` is
/// another one.
struct ServerState: Codable, Equatable {
    /// A time span, in milliseconds of a clock that may jump.
    struct Span: Codable, Equatable {
        /// After ``settle(at:)``, never in the future.
        var since: Int64
        var length: Int64

        func elapsed(at now: Int64) -> Int64 {
            let (elapsed, overflow) = now.subtractingReportingOverflow(since)
            return overflow ? .max : elapsed
        }

        func rest(at now: Int64) -> Int64 { max(0, length - max(0, elapsed(at: now))) }
    }

    var pause: Span?
    /// Set while the quota is used up.
    var spentQuota: Span?
    /// How many posts the list has, as a response said last.
    var total: Int?
    /// True if out-of-sequence pages should leave as soon as they are not visible.
    var isDropPending = false

    /// The longest pause, whatever the server says.
    static let longestPause: Duration = .seconds(86_400)

    // MARK: Time

    /// Corrects times after the clock was set back, so that nothing lasts longer: a span from the future
    /// begins now.
    mutating func correct(at now: Int64) {
        if let since = pause?.since, since > now { pause?.since = now }
        if let since = spentQuota?.since, since > now { spentQuota?.since = now }
        if pause?.rest(at: now) == 0 { pause = nil }
        if spentQuota?.rest(at: now) == 0 { spentQuota = nil }
    }

    /// Stores when the server permits further requests. A later answer never shortens a pause.
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

    // MARK: Storage

    static let attribute = "paging"

    init() {}

    /// Decodes an attribute. Ignores what another version wrote and this one cannot read: the state is only
    /// advice, and the next answer writes it again.
    init(_ bytes: [UInt8]?) {
        self = bytes.flatMap { try? JSONDecoder().decode(ServerState.self, from: Data($0)) } ?? ServerState()
    }

    /// Reads the stored state.
    init(of feed: Feed, in snapshot: borrowing Snapshot) throws {
        self.init(try snapshot.attribute(Self.attribute, of: feed))
    }

    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return Array(try encoder.encode(self))
        }
    }
}

extension Duration {
    /// Rounded up to whole milliseconds, so that no request comes too early.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (thousand, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds > 0 ? .max : .min }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, tooMuch) = thousand.addingReportingOverflow(rest)
        return tooMuch ? .max : sum
    }
}
