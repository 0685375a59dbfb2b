@_spi(Unstable) import Quire

// THE PLACE TO CONNECT. Whatever the engine calls the things of R26 stands here and nowhere else in these
// tests.

/// The engine under test, with one feed that asks by position.
final class NumberedSubject {
    /// A row of the feed, top first, without detached entries.
    enum Row: Equatable {
        /// `isUnverified`: only the server's numbering joins the post to the row above.
        case post(PostID, page: UInt64?, isUnverified: Bool)
        case gap(GapID)
    }

    let engine: OracleSubject

    init(_ server: NumberedServer, order: OrderClass, limit: Int, tuning: Tuning = Tuning()) throws {
        engine = try OracleSubject(options: Self.options(server, order, limit), tuning: tuning)
    }

    private static func options(_ server: NumberedServer, _ order: OrderClass, _ limit: Int) -> FeedOptions {
        let paging: Paging =
            switch server.asking {
            case .number: .page
            case .offset: .offset
            case .links: .pages
            }
        return FeedOptions(order: order, paging: paging, pageSize: limit, sizes: server.policy)
    }

    /// What a request names as the size it wants; nil if it names none.
    static func size(in target: Request.Target) -> Int? {
        switch target {
        case .position(_, let limit), .page(_, let limit): limit
        case .link, .around, .snapshot, .bodies, .delta: nil
        }
    }

    /// Where the unverified join above a post is verified (R26.8).
    static func verifying(_ id: PostID) -> Place { .join(above: id) }

    /// The posts that an outcome names without having placed them.
    static func named(in outcome: Outcome) -> [PostID] {
        outcome.ignored + outcome.removed + outcome.unplaced
    }

    func rows() throws -> [Row] {
        try engine.rows().compactMap { row in
            switch row {
            case .gap(let gap): .gap(gap)
            case .post(_, isDetached: true, _, _, _, _): nil
            case .post(let id, _, _, _, let page, let isUnverified):
                .post(id, page: page, isUnverified: isUnverified)
            }
        }
    }

    /// The end of the tail was concluded from what the server did, no answer said it (R26.7).
    func tailIsAssumed() throws -> Bool {
        let feed = engine.feed
        return try feed.cache.withSnapshot { try $0.info(of: feed).isEndAssumed }
    }
}
