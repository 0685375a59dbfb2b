/// The sizes and positions of chunks, which tests make small.
@_spi(Unstable) public struct Tuning: Sendable, Hashable {
    /// The maximum number of entries in a chunk.
    @_spi(Unstable) public var chunkLimit = 128
    /// The distance between positions at the top and bottom of a feed. There is room for 2²⁷ pages each way.
    @_spi(Unstable) public var outerStride: UInt64 = 1 << 36
    /// The distance inside a gap: 2²⁰ pages fit between two chunks before positions are reassigned.
    @_spi(Unstable) public var innerStride: UInt64 = 1 << 16
    /// If a feed has more gaps than this, only those that a rule must see are loaded.
    @_spi(Unstable) public var gapLimit = 16
    /// The number of rows that a repair writes in one commit.
    @_spi(Unstable) public var repairLimit = 2048

    @_spi(Unstable) public init() {}
}
