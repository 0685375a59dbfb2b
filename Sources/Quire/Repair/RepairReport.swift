/// The result of a repair: what it found, kept and lost.
public struct RepairReport: Sendable, Hashable {
    /// The remains of one feed.
    public struct Feed: Sendable, Hashable {
        /// The name of the feed.
        public let name: String
        /// Its record is lost, and with it its order class: it is gone.
        public let isLost: Bool
        /// Posts in it now.
        public let posts: Int
        /// Posts that are known to be lost; more may be, where there are new gaps.
        public let lostPosts: Int
        /// Bodies lost in a feed of ids, whose posts keep their places as placeholders.
        public let lostBodies: Int
        /// Gaps in it now, and how many more these are than before.
        public let gaps: Int
        /// The number of gaps that the repair opened.
        public let newGaps: Int

        /// Nothing of it is known to be lost, and it has no gap that it had not before.
        public var isWhole: Bool { !isLost && lostPosts == 0 && lostBodies == 0 && newGaps == 0 }

        init(
            name: String, isLost: Bool, posts: Int, lostPosts: Int, lostBodies: Int, gaps: Int, newGaps: Int
        ) {
            (self.name, self.isLost) = (name, isLost)
            (self.posts, self.lostPosts, self.lostBodies) = (posts, lostPosts, lostBodies)
            (self.gaps, self.newGaps) = (gaps, newGaps)
        }

        init(lost name: String) {
            self.init(name: name, isLost: true, posts: 0, lostPosts: 0, lostBodies: 0, gaps: 0, newGaps: 0)
        }
    }

    /// Why it was repaired. None: it was sound, and nothing was done.
    public let findings: [Finding]
    /// The feeds, in the order in which they were made; none if the cache was sound.
    public let feeds: [Feed]
    /// Records that could not be read.
    public let damagedRecords: Int
    /// The path of the damaged file; nil if nothing was changed.
    public let keptFile: String?

    /// Nothing of what could be read was believed in the end: the cache is empty.
    let isEmptied: Bool

    /// Nothing was wrong, and nothing was done.
    public var isSound: Bool { findings.isEmpty }
}
