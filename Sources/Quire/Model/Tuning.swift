/// Sizes of chunks and distances between them; tests make them small.
@_spi(Unstable) public struct Tuning: Sendable, Hashable {
    /// Most entries of a chunk.
    @_spi(Unstable) public var chunkLimit = 128
    /// Distance of positions at the top and at the bottom of a feed: 2²⁷ pages fit either way.
    @_spi(Unstable) public var outerStride: UInt64 = 1 << 36
    /// Distance within a gap: 2²⁰ pages fit between two chunks before positions are spread anew.
    @_spi(Unstable) public var innerStride: UInt64 = 1 << 16
    /// Of more gaps, only those are loaded that a rule must see.
    @_spi(Unstable) public var gapLimit = 16
    /// Rows of a feed that a repair writes in one commit.
    @_spi(Unstable) public var repairLimit = 2048

    @_spi(Unstable) public init() {}
}
