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

    /// The numbers of the LMDB pages of the file that have whole pages of these bytes.
    private static func pages(of bytes: [UInt8], in path: String) throws -> [Int] {
        let head = 16
        let starts = stride(from: 4_096 - head, to: bytes.count - 4_095, by: 4_096)
        let wanted = Set(starts.map { Data(bytes[$0..<$0 + 4_096]) })
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        return (0..<file.count / 4_096).filter { wanted.contains(file[$0 * 4_096..<($0 + 1) * 4_096]) }
    }

    /// Every fourth page of a large record is in the file before its commit, none of a small one. If the
    /// commit never comes, the cache is as it was.
    @Test(arguments: [(1 << 16) - 1, 1 << 16, 300_000])
    func writtenBeforeItsCommit(size: Int) throws {
        let storage = try TemporaryCache()
        let before = try storage.cache.withSnapshot { try $0.statistics() }
        var bytes: [UInt8] = []
        for number in 0..<size { bytes.append(UInt8(truncatingIfNeeded: number &* number >> 5)) }
        do {
            try storage.cache.environment.write { transaction in
                try transaction.put(.locations, NumberKey(1), count: size) { $0.copyBytes(from: bytes) }
                let early = try Self.pages(of: bytes, in: storage.path)
                let expected = size < 1 << 16 ? 0 : size / 4_096 / LargeRecord.distance
                #expect(expected == 0 ? early.isEmpty : abs(early.count - expected) <= 1)
                #expect(early.allSatisfy { $0.isMultiple(of: LargeRecord.distance) })
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
