/// What is stored and asked; every engine of a run gets the same.
struct Workload: Codable, Hashable, Sendable {
    /// Distinct posts that the bulk load brings, about.
    var posts: Int
    var pageSize = 30
    var ids = IDOrder.random
    var seed: UInt64 = 1

    /// Of 100 slots of a page, 15 hold a post that is known already.
    static let driftShare = 0.10
    static let sharedShare = 0.05

    var pages: Int { max(40, Int(Double(posts) / (Double(pageSize) * 0.85))) }
}
