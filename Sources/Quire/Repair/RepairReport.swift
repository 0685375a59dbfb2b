/// The result of a repair.
public struct RepairReport: Sendable, Hashable {
    /// What a repair kept of one feed.
    public struct Feed: Sendable, Hashable {
        /// The name of the feed.
        public let name: String
        /// True if its record is lost, and with it its order class, or if what was found of it contradicts
        /// itself. The feed is gone.
        public let isLost: Bool
        /// The number of posts it has now.
        public let posts: Int
        /// The number of posts known to be lost. New gaps may hide more.
        public let lostPosts: Int
        /// The number of lost bodies in a feed of ids. Their posts keep their places as placeholders.
        public let lostBodies: Int
        /// The number of gaps it has now.
        public let gaps: Int
        /// How many more gaps it has than before.
        public let newGaps: Int

        /// True if nothing of it is known to be lost and it has no new gap.
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

    /// Why the cache was repaired. Empty if it was sound and nothing was done.
    public let findings: [Finding]
    /// The feeds, in the order of their creation. Empty if the cache was sound.
    public let feeds: [Feed]
    /// The number of records that could not be read.
    public let damagedRecords: Int
    /// The path of the damaged file now; nil if nothing was changed.
    public let keptFile: String?

    /// True if nothing readable could be trusted in the end, so the cache is empty.
    let isEmptied: Bool

    /// True if nothing was wrong and nothing was done.
    public var isSound: Bool { findings.isEmpty }
}
