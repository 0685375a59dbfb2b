/// How a cache is opened.
public struct CacheOptions: Sendable, Hashable {
    /// What a commit promises when the power fails. A process that is killed loses nothing either way.
    public enum Durability: Sendable, Hashable {
        /// A commit is on disk when the call returns. The default.
        case full
        /// The last commits may be lost; the cache is never damaged. About half the price.
        case relaxed
    }

    public var durability: Durability
    /// Address space reserved for the file, in bytes; it grows when it must. Not disk space.
    public var mapSize: Int64
    var tuning = Tuning()

    public init(durability: Durability = .full, mapSize: Int64 = 64 << 30) {
        self.durability = durability
        self.mapSize = mapSize
    }
}
