/// How many pages each feed has, and in which order the pages arrive.
struct ArrivalPlan {
    /// Consecutive pages of one feed, as one session of scrolling fetches them.
    struct Session {
        var feed: Int
        var pages: Int
    }

    /// Pages of each feed in the end.
    let sizes: [Int]
    let sessions: [Session]

    static let mediumFeed = 1_000
    static let smallFeed = 10
    private static let longestSession = 50

    /// Feed 0 has half of the pages, feeds of 1,000 pages have 60 % of the rest, feeds of 10 what is left.
    init(pages: Int, seed: UInt64) {
        var sizes = [pages / 2]
        let rest = pages - pages / 2
        let medium = rest * 6 / 10
        func fill(_ total: Int, by size: Int) {
            sizes += repeatElement(size, count: total / size)
            if total % size > 0 { sizes.append(total % size) }
        }
        fill(medium, by: Self.mediumFeed)
        fill(rest - medium, by: Self.smallFeed)
        self.sizes = sizes.filter { $0 > 0 }
        sessions = Self.makeSessions(self.sizes, seed: seed)
    }

    /// A feed is drawn by the pages it still has to deliver.
    private static func makeSessions(_ sizes: [Int], seed: UInt64) -> [Session] {
        var random = SplitMix64(seed: seed, 3)
        var (left, total) = (sizes, sizes.reduce(0, +))
        var sessions: [Session] = []
        while total > 0 {
            var (at, feed) = (random.below(total), 0)
            while at >= left[feed] { (at, feed) = (at - left[feed], feed + 1) }
            let pages = min(left[feed], 1 + random.below(longestSession))
            sessions.append(Session(feed: feed, pages: pages))
            left[feed] -= pages
            total -= pages
        }
        return sessions
    }
}
