import Quire
import QuireDumps

/// What a run saw that contradicts the order class of its feed, and the posts that were received but found no
/// place.
struct OrderEvidence: Codable {
    /// Answers that showed known posts in another order than the class permits.
    private(set) var answers = 0
    /// Posts that were not placed when they came; a later page may have.
    private(set) var unplaced: [String] = []
    /// Those beyond the limit of names.
    private(set) var moreUnplaced = 0
    /// Posts whose newer state is cached.
    private(set) var outdated = 0

    private static let nameLimit = 256
    /// The attribute that they are kept in is small.
    private static let nameBytes = 64

    /// Adds what became of a page; `isContradiction` if it showed posts in another order than a page before
    /// it.
    mutating func add(_ outcome: Outcome, isContradiction: Bool, in order: OrderClass) {
        let hasMoved = order != .bump && order != .ranked && !outcome.moved.isEmpty
        let contradicts = isContradiction && order != .ranked
        if contradicts || hasMoved || !outcome.disorder.isEmpty { answers += 1 }
        // What a bump feed drops stands at the place of its larger key.
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

    /// Without the posts that a later page has placed.
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

    /// The options of a feed that would not have met this evidence; nil without any, or if nothing better is
    /// known.
    func fittingOrder(_ fit: OrderFit, insteadOf order: OrderClass) -> String? {
        guard !isEmpty, var suggestion = fit.suggestion else { return nil }
        // Known posts were shown in another order, and the field was in order on every page: it has changed.
        if suggestion.order == .stable && answers > 0 { suggestion.order = .bump }
        // The pages contradict the very order that they seem to have.
        if suggestion.order == order { suggestion = .none }
        if suggestion.order == order { return nil }
        return "--order \(suggestion.order.rawValue)" + (suggestion.key.map { " --key \($0)" } ?? "")
    }

    var unplacedCount: Int { unplaced.count + moreUnplaced }

    var isEmpty: Bool { answers == 0 && unplacedCount == 0 }
}
