/// The number of distinct posts, and the bytes of the bodies they show.
struct PostTally: Equatable {
    var count: UInt64 = 0
    var bytes: UInt64 = 0

    mutating func add(_ other: PostTally) {
        count += other.count
        bytes += other.bytes
    }
}
