import CLMDB
import Foundation
import Testing

@_spi(Unstable) @testable import Quire

/// How a record of many LMDB pages comes into the file.
@Suite struct LargeRecordTests {
    private struct Undone: Error {}

    /// Checks the records, and the pages of a copy: those of an open cache cannot be checked.
    private func requireWhole(_ storage: TemporaryCache) throws {
        let copy = storage.folder + "/copy.quire"
        try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
        #expect(try storage.cache.check().isEmpty && Cache.verify(at: copy).isEmpty)
    }

    /// A large record is in the file before its commit, a small one is not. If the commit never comes, the
    /// cache is as it was.
    @Test(arguments: [(1 << 16) - 1, 1 << 16, 300_000])
    func writtenBeforeItsCommit(size: Int) throws {
        let storage = try TemporaryCache()
        let before = try storage.cache.withSnapshot { try $0.statistics() }
        var bytes: [UInt8] = []
        for number in 0..<size { bytes.append(UInt8(truncatingIfNeeded: number &* number >> 5)) }
        do {
            try storage.cache.environment.write { transaction in
                try transaction.put(.locations, NumberKey(1), count: size) { $0.copyBytes(from: bytes) }
                let file = try Data(contentsOf: URL(fileURLWithPath: storage.path))
                #expect((file.range(of: Data(bytes)) != nil) == (size >= 1 << 16))
                #expect(try transaction.get(.locations, NumberKey(1))?.elementsEqual(bytes) == true)
                throw Undone()
            }
        } catch is Undone {}
        try requireWhole(storage)
        #expect(try storage.cache.withSnapshot { try $0.statistics() } == before)
        try storage.reopen()
        #expect(try storage.cache.check().isEmpty)
    }

    /// The space of a large record that was deleted is used again, by small ones and by another large one.
    @Test func spaceThatIsUsedAgain() throws {
        let storage = try TemporaryCache()
        func write(_ numbers: Range<UInt64>, _ size: Int) throws {
            try storage.cache.environment.write { transaction in
                for number in numbers {
                    try transaction.put(.locations, NumberKey(number), count: size) {
                        $0.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: number))
                    }
                }
            }
        }
        try write(1..<2, 400_000)
        for round in 0..<20 as Range<UInt64> {
            try storage.cache.environment.write { try $0.delete(.locations, NumberKey(round + 1)) }
            try write(100 + round * 10..<105 + round * 10, 1_000)
            try write(round + 2..<round + 3, 400_000)
        }
        try storage.cache.environment.read { transaction in
            for number in Array(100..<105) + [21] as [UInt64] {
                let record = try #require(try transaction.get(.locations, NumberKey(number)))
                #expect(record.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
            }
        }
        try storage.cache.environment.write { transaction in
            for number in 1..<400 as Range<UInt64> { try transaction.delete(.locations, NumberKey(number)) }
        }
        try requireWhole(storage)
    }
}
