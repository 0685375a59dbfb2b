import Testing

@testable import Quire
@testable import TestSupport

/// What ``CacheOptions`` says of numbers at the ends of their range.
@Suite struct OpeningOptionsTests {
    @Test("Any size of the map will do", arguments: [.min, -1, 0, 1, 4097, 1 << 50, .max] as [Int64])
    func mapSizes(size: Int64) throws {
        let folder = try TestFolder.make()
        let cache = try Cache(
            at: folder + "/c.quire", options: CacheOptions(durability: .relaxed, mapSize: size))
        let feed = try cache.feed(named: "f")
        for number in 1...4 as ClosedRange<UInt64> {  // more than the smallest map
            try feed.insertLocal(PostID(number), body: [UInt8](repeating: 1, count: 400_000))
        }
        #expect(try cache.check().isEmpty)
        let map = cache.environment.currentMapSize
        #expect(size > 1 << 20 ? map <= size : map >= 1 << 20)
    }
}
