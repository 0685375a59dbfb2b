import Foundation
import Quire

/// The first page that the server confirmed: when, and what it said of it. It is an attribute of the feed
/// that is written in the commit of its answer (``Quire/PageNote``), so it always matches the posts. It
/// survives a restart, and processes share it.
struct FirstPage: Equatable {
    /// What is known before the answer is judged.
    struct Answered: Codable, Equatable {
        /// When the server confirmed the page, and for how long. Nil: not known, since the clock was set
        /// back.
        var confirmed: ServerState.Span?
        var validators: Validators?
        /// How many posts were requested; nil if the page is always the whole list.
        var pageSize: Int?
    }

    private var answered: Answered
    /// The nine bytes of the note.
    private let noted: [UInt8]

    static let attribute = "first-page"

    /// Decodes an attribute. Ignores what this version cannot read: it is only advice, and the next answer
    /// writes it again.
    init?(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count > 9,
            let answered = try? JSONDecoder().decode(Answered.self, from: Data(bytes.dropLast(9)))
        else { return nil }
        (self.answered, noted) = (answered, bytes.suffix(9))
    }

    init?(of feed: Feed, in snapshot: borrowing Snapshot) throws {
        self.init(try snapshot.attribute(Self.attribute, of: feed))
    }

    /// What an answer leaves if it is accepted.
    static func note(_ answered: Answered) throws -> PageNote {
        PageNote(attribute, try encode(answered))
    }

    var bytes: [UInt8] {
        get throws { try Self.encode(answered) + noted }
    }

    private static func encode(_ answered: Answered) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(answered))
    }

    // MARK: What it says

    /// The page it became; nil if it was empty. "Not modified" can be used only while it is the topmost page.
    var page: UInt64? {
        let number = noted.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        return number == 0 ? nil : number
    }

    var pageSize: Int? { answered.pageSize }

    /// Nil if the engine ignored posts of the answer, which "not modified" would hide.
    var validators: Validators? { noted.last == 1 ? answered.validators : nil }

    /// How long the server's word counts.
    var lifetime: Duration? { answered.confirmed.map { .milliseconds($0.length) } }

    /// Returns how long ago the server confirmed it; nil if that would be in the future.
    func age(at now: Int64) -> Duration? {
        guard let confirmed = answered.confirmed, confirmed.since <= now else { return nil }
        return .milliseconds(confirmed.elapsed(at: now))
    }

    // MARK: Changes

    /// Forgets a date from the future: the clock was set back, and the page must not become fresh by waiting.
    mutating func correct(at now: Int64) {
        if let since = answered.confirmed?.since, since > now { answered.confirmed = nil }
    }

    /// Notes that the server confirmed it again.
    mutating func confirm(_ validators: Validators?, at now: Int64, for lifetime: Duration) {
        answered.confirmed = ServerState.Span(since: now, length: lifetime.milliseconds)
        if let validators { answered.validators = validators }
    }
}
