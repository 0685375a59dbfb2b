import Dispatch
import Quire
import Synchronization

/// What a pull says while it works. The thread that prints takes it from here.
final class PullLog: Sendable {
    enum Event: Sendable {
        case note(String)
        case answer(AnswerLine)
        case end(EndLine)
    }

    private let events = Mutex<(waiting: [Event], result: Result<EndLine, any Error>?)>(([], nil))
    private let signal = DispatchSemaphore(value: 0)

    func add(_ event: Event) {
        events.withLock { $0.waiting.append(event) }
        signal.signal()
    }

    func finish(_ result: Result<EndLine, any Error>) {
        events.withLock { $0.result = result }
        signal.signal()
    }

    /// Waits for a moment, and returns what came, and the result if the work has ended.
    func take() -> (events: [Event], result: Result<EndLine, any Error>?) {
        _ = signal.wait(timeout: .now() + .milliseconds(100))
        return events.withLock { events in
            defer { events.waiting = [] }
            return (events.waiting, events.result)
        }
    }
}

/// What one answer did.
struct AnswerLine: Encodable, Sendable {
    let gaps: Int
    let known: Int
    let new: Int
    let place: String
    let posts: Int
    let removed: Int
    let type = "answer"
    let verdict: String

    init(_ result: PageResultLine, place: String, _ info: FeedInfo) {
        (new, known, removed, verdict) = (result.new, result.known, result.removed, result.verdict)
        (self.place, gaps, posts) = (place, info.gaps, info.posts)
    }

    var words: String {
        let gone = removed == 0 ? "" : ", \(grouped(removed)) removed"
        let judged = ["ok", "joined", "gap"].contains(verdict) ? "" : " (\(verdict))"
        return "\(place): \(grouped(new)) new, \(grouped(known)) known\(gone)\(judged); "
            + "\(counted(gaps, "gap")) left, \(counted(posts, "post"))"
    }
}

struct PageResultLine {
    var new = 0
    var known = 0
    var removed = 0
    var verdict: String
}

/// How a pull ended.
struct EndLine: Encodable, Sendable {
    /// Why nothing more was asked.
    enum Stop: String, Encodable, Sendable {
        /// Nothing is missing.
        case whole
        case until
        case limit
        case quota
        case pause
        case server
        case network
        /// What is missing leads nowhere.
        case stuck
        case interrupted
        /// The feed is gone.
        case dropped
    }

    /// How many answers showed known posts in an order that the class of the feed forbids.
    var againstOrder = 0
    /// How many posts have no body, in a list of ids.
    var bodiesMissing = 0
    /// True if pages that were empty, or repeated others, are all that says that the list ends.
    var endAssumed = false
    /// As it is called at the end.
    let feed: String
    var gaps = 0
    var headOpen = false
    var new = 0
    /// When the server permits more, in ISO 8601.
    @OrNull var opensAt: String?
    var posts = 0
    var ranked = false
    @OrNull var reason: String?
    /// By how many posts the feed is shorter than before.
    var removed = 0
    var requests = 0
    /// How many posts are missing because they share the id of another one of their page.
    var sharingID = 0
    var stopped: Stop
    var tailEnd = false
    /// How many posts the server counts.
    @OrNull var total: Int?
    let type = "end"
    var unverified = 0
    var whole = false

    /// When the server permits more, in milliseconds since 1970.
    var opening: Int64? {
        didSet { opensAt = opening.map { dated($0) } }
    }
    /// True if no answer said what follows the last post.
    var isTailUnknown = false
    /// True if the server refused something, or its answers led nowhere.
    var isRefused = false

    private enum CodingKeys: CodingKey {
        case againstOrder, bodiesMissing, endAssumed, feed, gaps, headOpen, new, opensAt, posts, ranked
        case reason, removed, requests, sharingID, stopped, tailEnd, total, type, unverified, whole
    }

    /// Takes posts into account that the feed cannot hold.
    mutating func lose(_ loss: SharedIDCount.Loss) {
        (whole, sharingID) = (false, loss.posts)
        if stopped == .whole { (stopped, reason) = (.stuck, sharedIDs(loss.posts, loss.field)) }
    }

    /// Compares the posts with those that the server counts. If there are clearly fewer where nothing more
    /// can be asked, it is not known whether the rest is hidden or beyond a limit of the server.
    mutating func compare(with total: Int?) {
        self.total = total
        guard let total, isClearlyShort, stopped == .whole else { return }
        (whole, stopped) = (false, .stuck)
        reason =
            "the list ends with \(counted(posts, "post")) here, and the server counts \(grouped(total)): it shows "
            + "only the first part of a list, or counts posts that it does not show"
    }

    /// How many posts the server counts that are not here for any other reason.
    private var shortfall: Int { max(0, (total ?? 0) - posts - sharingID) }

    private var isClearlyShort: Bool { shortfall > ListTotal.tolerance(of: total ?? 0) }

    init(feed: String, stopped: Stop) { (self.feed, self.stopped) = (feed, stopped) }

    /// True if no later round of this call could do more.
    var isLast: Bool { [.server, .interrupted, .dropped].contains(stopped) }

    /// How long the server permits nothing.
    func rest(at now: Int64) -> Duration { .milliseconds(max(0, (opening ?? now) - now)) }

    var status: ExitStatus {
        switch stopped {
        case .whole, .until, .limit: .ok
        case .quota, .pause, .network: .temporary
        case .server, .dropped: .data
        case .stuck: isRefused ? .data : .ok
        case .interrupted: .interrupted
        }
    }
    var lines: [String] {
        var missing: [String] = []
        if gaps > 0 { missing.append(counted(gaps, "gap")) }
        if headOpen { missing.append("the head is open") }
        if stopped == .dropped {
            missing.append("there is no such feed any more")
        } else if !tailEnd {
            missing.append(isTailUnknown ? "the end was not seen" : "the list goes on below the last post")
        }
        if stopped == .server { missing.append("the server refused a request") }
        if sharingID > 0 { missing.append(counted(sharingID, "post shares an id", "posts share ids")) }
        if isClearlyShort, [.stuck, .server].contains(stopped) {
            missing.append("the server counts \(counted(total ?? 0, "post"))")
        }
        if bodiesMissing > 0 {
            missing.append(counted(bodiesMissing, "body is missing", "bodies are missing"))
        }
        let rest = whole && shortfall > 0 ? "; the server counts \(grouped(shortfall)) more" : ""
        let state =
            whole
            ? "whole: no gaps, head closed, end \(endAssumed ? "assumed" : "reached")"
            : missing.isEmpty
                ? "no gaps, but a ranked list promises no completeness"
                : "not whole: \(missing.joined(separator: ", "))"
        let joins =
            unverified == 0 ? "" : "; \(counted(unverified, "join is unverified", "joins are unverified"))"
        let change = removed == 0 ? "\(grouped(new)) new" : "\(grouped(removed)) fewer"
        let posts = "\(counted(self.posts, "post")) (\(change), \(counted(requests, "request")))"
        return ["\(shown(feed)): \(posts), \(state)\(rest)\(joins)"]
            + (why.map { ["  stopped: \($0)"] } ?? [])
            + (contradiction.map { ["  \($0)"] } ?? [])
    }

    private var contradiction: String? {
        if againstOrder == 0 { return nil }
        return counted(againstOrder, "answer contradicts", "answers contradict")
            + " the order of the feed: it is sorted by something else, or not at all; drop it, and pull it anew "
            + "with --key or --order"
    }

    private var why: String? {
        let opens = opensAt.map { "; open again at \($0)" } ?? ""
        return switch stopped {
        case .whole: nil
        case .until: "everything from the top to --until is here"
        case .limit: "the limit of requests was reached (--pages); the next call goes on here"
        case .quota: "the quota of the server is used up\(opens)"
        case .pause: "the server asks for a pause\(opens)"
        case .server, .network, .stuck, .dropped: reason
        case .interrupted: "\(Interruption.name); the next call goes on here"
        }
    }
}
