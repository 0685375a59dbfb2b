import Quire
import QuireDumps

/// The evidence of a run against the order class of its feed, and the received posts that could not be
/// placed.
struct OrderEvidence: Codable {
    /// The number of answers that showed known posts in an order that the class forbids.
    private(set) var answers = 0
    /// Posts that were not placed when they came. A later page may have placed them.
    private(set) var unplaced: [String] = []
    /// The number of such posts beyond the limit of names.
    private(set) var moreUnplaced = 0
    /// The number of posts that are cached in a newer version.
    private(set) var outdated = 0

    private static let nameLimit = 256
    /// Limits the names, because the attribute that stores them is small.
    private static let nameBytes = 64

    /// Adds whether an answer of an API contradicts the order. `isContradiction` is true if it showed posts
    /// in another order than an earlier page.
    mutating func addAnswer(_ outcome: Outcome, isContradiction: Bool, in order: OrderClass) {
        let hasMoved = order != .bump && order != .ranked && !outcome.moved.isEmpty
        let contradicts = isContradiction && order != .ranked
        if contradicts || hasMoved || !outcome.disorder.isEmpty { answers += 1 }
    }

    /// Adds the posts of a page that were not placed.
    mutating func add(_ outcome: Outcome, in order: OrderClass) {
        // A post that a bump feed drops is at the place of its larger key.
        if order == .bump { outdated += outcome.ignored.count }
        for id in (order == .bump ? [] : outcome.ignored) + outcome.unplaced {
            let name = id.description
            if unplaced.count < Self.nameLimit && name.utf8.count <= Self.nameBytes {
                unplaced.append(name)
            } else {
                moreUnplaced += 1
            }
        }
    }

    /// Returns the evidence without the posts that a later page has placed.
    func withoutPlaced(in feed: Feed) throws -> OrderEvidence {
        var rest = self
        let ids = unplaced.compactMap { PostID($0) }
        let isCached = try feed.cache.withSnapshot { try $0.contains(ids, in: feed) }
        var seen: Set<PostID> = []
        rest.unplaced = zip(ids, isCached).compactMap { id, isCached in
            isCached || !seen.insert(id).inserted ? nil : id.description
        }
        return rest
    }

    /// Returns feed options that do not contradict this evidence; nil if there is no evidence or no better
    /// order is known.
    func fittingOrder(_ fit: OrderFit, insteadOf order: OrderClass) -> String? {
        guard !isEmpty, var suggestion = fit.suggestion else { return nil }
        // Known posts came in another order while the field was in order on every page, so the field has
        // changed.
        if suggestion.order == .stable && answers > 0 { suggestion.order = .bump }
        // The pages contradict the order that they seem to have.
        if suggestion.order == order { suggestion = .none }
        if suggestion.order == order { return nil }
        return "--order \(suggestion.order.rawValue)" + (suggestion.key.map { " --key \($0)" } ?? "")
    }

    var unplacedCount: Int { unplaced.count + moreUnplaced }

    var isEmpty: Bool { answers == 0 && unplacedCount == 0 }
}
