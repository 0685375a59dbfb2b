import Quire
import QuireSimulator

/// A kind of server and the feed that is declared for it.
public enum OracleMode: String, CaseIterable, Sendable {
    /// Ordered by a key that never changes.
    case stable
    /// The same, paged by the key of a post.
    case keyset
    /// Ordered by the server in a way that posts do not show.
    case keyless
    /// Ordered by a key that grows when a post is active.
    case bump
    /// New posts come on top, and nothing else changes.
    case appendOnly = "append-only"
    /// Paged by the number of posts to skip.
    case offset
    /// Paged by the number of a page.
    case page
    /// A ranking that is computed anew for each request.
    case ranked
    /// A list of all ids, with bodies fetched by id.
    case ids

    var options: FeedOptions {
        switch self {
        case .stable: FeedOptions(order: .stable)
        case .keyset: FeedOptions(order: .stable, paging: .keyset)
        case .keyless: FeedOptions(order: .keyless)
        case .bump: FeedOptions(order: .bump)
        case .appendOnly: FeedOptions(order: .appendOnly)
        case .offset: FeedOptions(order: .keyless, paging: .offset, sizes: .free)
        case .page: FeedOptions(order: .keyless, paging: .page, sizes: .free)
        case .ranked: FeedOptions(order: .ranked)
        case .ids: FeedOptions(order: .ranked, paging: .ids)
        }
    }

    var hasKeys: Bool { self == .stable || self == .keyset || self == .bump }
    /// Contiguity means something: what lies between two neighbours can be judged.
    var isSound: Bool { self != .ranked && self != .ids }
    var isPositional: Bool { self == .offset || self == .page }
    var serverDeletes: Bool { self != .appendOnly }
    var serverBumps: Bool { self == .bump || self == .ranked || self == .ids }
    var serverShuffles: Bool { self == .ranked || self == .ids }
    /// Bounded requests name a post; a server must know its place by a key.
    var isBoundable: Bool { self == .stable || self == .keyset }
}

/// One step of a history. It draws its details from its own seed, so that events can be dropped from
/// a failing history without changing the others.
struct OracleEvent: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case serverInsert, serverBackdate, serverDelete, serverBump, serverShuffle
        case request, late
        case clientDelete, clientEvict, clientEvictPage, clientPrune, clientLocal, clientPin
        case clientReset, reopen

        /// How many of 52 events are of this kind.
        var weight: Int {
            switch self {
            case .serverInsert, .late: 5
            case .request: 24
            case .serverDelete: 3
            case .serverBackdate, .serverBump, .clientDelete, .clientEvict: 2
            case .serverShuffle, .clientEvictPage, .clientPrune, .clientLocal, .clientPin: 1
            case .clientReset, .reopen: 1
            }
        }
    }

    let kind: Kind
    let seed: UInt64

    private static let urn = Kind.allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    /// A random history. It starts with a few posts on the server.
    static func history(seed: UInt64, steps: Int) -> [OracleEvent] {
        var random = SplitMix64(seed: seed)
        let start = (0..<3).map { _ in OracleEvent(kind: .serverInsert, seed: random.next()) }
        return start
            + (0..<steps).map { _ in OracleEvent(kind: random.pick(urn), seed: random.next()) }
    }
}

/// A property that does not hold.
struct OracleFailure: Error, CustomStringConvertible {
    enum Property: String {
        /// I1, I2: no id twice, no gap at an edge or next to a gap.
        case `internal`
        /// I3: nothing is missing between two neighbours.
        case hole
        /// Neighbours stand in the server's order.
        case order
        /// I7: an answer changes only what its request covers.
        case cover
        /// I8: nothing is removed without evidence.
        case noWipe = "no-wipe"
        /// The outcome names every post that came or went; nothing received is lost.
        case ledger
        /// Accepted posts of one page are neighbours in the order of the page.
        case page
        /// A quiet server and an obedient client agree in the end.
        case heal
    }

    let property: Property
    let message: String

    init(_ property: Property, _ message: String) {
        self.property = property
        self.message = message
    }

    var description: String { "\(property.rawValue): \(message)" }
}
