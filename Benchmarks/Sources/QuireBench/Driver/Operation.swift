/// What can be measured, in this order: reads come before anything changes the size of the feeds. The names
/// are those of `--operations`.
enum Operation: String, Codable, CaseIterable, Sendable {
    case bulk
    case read
    case readHot = "read-hot"
    case scroll
    case contains
    case post
    case update
    case commit
    case refreshShort = "refresh-short"
    case refreshMedium = "refresh-medium"
    case refreshLong = "refresh-long"
    case beside
    case updateSynced = "update-synced"
    case commitSynced = "commit-synced"
    case group1 = "group-1"
    case group8 = "group-8"
    case group64 = "group-64"
    case openWarm = "open-warm"
    case pruneMedium = "prune-medium"
    case pruneLong = "prune-long"
    /// After the prunes, which take away half of the posts.
    case openPruned = "open-pruned"
    case openCold = "open-cold"
    case bulkSynced = "bulk-synced"

    var isSynced: Bool {
        switch self {
        case .updateSynced, .commitSynced, .group1, .group8, .group64, .bulkSynced: true
        default: false
        }
    }

    /// It cannot be repeated.
    var destroys: Bool { self == .pruneMedium || self == .pruneLong }

    /// In how many turns a round is taken: between two turns all other engines have theirs. A disk is
    /// slow for seconds and fast again; engines that sync must meet the same.
    var turns: Int {
        switch self {
        case .commitSynced, .updateSynced: 10
        case .commit, .update, .refreshShort, .refreshMedium, .refreshLong: 4
        default: 1
        }
    }

    /// What to tell the workers in a turn of a round; nil for what is not one command.
    func command(round: Int, turn: Int = 0) -> Command? {
        let turnNumber = round * turns + turn
        let seed = UInt64(turnNumber) + 10_000 * UInt64(Self.allCases.firstIndex(of: self)! + 1)
        func make(_ work: Command.Work, _ count: Int, _ threads: Int = 1, _ feed: FeedSize = .long)
            -> Command
        {
            Command(
                work: work, seed: seed, count: count / turns, round: round, turn: turnNumber,
                threads: threads, feed: feed)
        }
        return switch self {
        case .bulk, .bulkSynced, .openWarm, .openPruned, .openCold: nil
        case .commit: make(.commit, 100)
        case .commitSynced: make(.commit, 40)
        case .read: make(.read, 2_000)
        case .readHot: make(.readHot, 5_000)
        case .scroll: make(.scroll, 100)
        case .contains: make(.contains, 500)
        case .post: make(.post, 5_000)
        case .update: make(.update, 300)
        case .updateSynced: make(.update, 40)
        case .beside: make(.beside, 150)
        case .refreshShort: make(.refresh, 20, 1, .short)
        case .refreshMedium: make(.refresh, 20, 1, .medium)
        case .refreshLong: make(.refresh, 20, 1, .long)
        case .group1: make(.group, 30)
        case .group8: make(.group, 10, 8)
        case .group64: make(.group, 3, 64)
        case .pruneMedium: make(.prune, 1, 1, .medium)
        case .pruneLong: make(.prune, 1, 1, .long)
        }
    }
}
