import Quire
import QuireSimulator
import Testing

@testable import QuireCluster

/// Entries as bytes.
@Suite struct OperationEntryTests {
    static let entry = OperationEntry(
        base: LogPosition(number: 7, digest: .max - 1), id: 1, writer: 2, counter: 3,
        operations: [
            .open(name: "f"), .feed(1, .plan(.tail, limit: 3)), .setAttribute("a", to: [1, 2]),
            .feed(.max, .evict([1, "x"])),
        ])

    @Test func readsBackAsItWasWritten() throws {
        #expect(try OperationEntry(encoded: Self.entry.encoded) == Self.entry)
    }

    /// The layout that Docs/cluster.md describes: a change of it is another version.
    @Test func bytesStayAsTheyAre() throws {
        var entry = Self.entry
        entry.operations = [.feed(1, .reset)]
        let bytes = try entry.encoded
        #expect(
            Array(bytes[..<3]) == [1] + withUnsafeBytes(of: CacheOperation.rules.littleEndian) { Array($0) })
        #expect(bytes[3] == 7 && bytes[11] == 254 && bytes[19] == 1 && bytes[27] == 2 && bytes[35] == 3)
        let operation = CacheOperation.feed(1, .reset).encoded
        #expect(Array(bytes[43..<49]) == [1, 0, UInt8(operation.count), 0, 0, 0])
        #expect(Array(bytes[49..<bytes.count - 8]) == operation)
        #expect(Digest.of(Array("quire and a log".utf8)) == 0xED7CCB65867FFC7A)
    }

    @Test func damageIsNoticed() throws {
        let bytes = try Self.entry.encoded
        for count in 0..<bytes.count {
            #expect(throws: OperationEntry.Unreadable.foreign) {
                try OperationEntry(encoded: Array(bytes[..<count]))
            }
        }
        for bit in 0..<8 * bytes.count {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: OperationEntry.Unreadable.foreign) { try OperationEntry(encoded: damaged) }
        }
    }

    /// Whatever has a right checksum is refused, or is written as it was understood.
    @Test(arguments: [11] as [UInt64]) func anyBytesAreReadOrRefused(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let bytes = try Self.entry.encoded
        var isNewer = false
        for _ in 0..<20_000 {
            var damaged = Array(bytes.dropLast(8))
            for _ in 0...random.below(3) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
            if random.chance(0.2) { damaged.removeLast(random.below(damaged.count)) }
            var writer = LittleEndianWriter(bytes: damaged)
            writer.add(Digest.of(damaged))
            do {
                let entry = try OperationEntry(encoded: writer.bytes)
                #expect(try OperationEntry(encoded: entry.encoded) == entry, "seed \(seed)")
            } catch OperationEntry.Unreadable.newer {
                isNewer = true
            } catch OperationEntry.Unreadable.foreign {}
        }
        #expect(isNewer)
    }

    @Test func whatIsTooLargeIsRefused() {
        var entry = Self.entry
        entry.operations = [.setAttribute("a", to: Array(repeating: 7, count: 1 << 20))]
        #expect(throws: LogError.self) { try entry.encoded }
        entry.operations = []
        #expect(throws: LogError.self) { try entry.encoded }
        entry.operations = Array(repeating: .feed(1, .reset), count: 65)
        #expect(throws: LogError.self) { try entry.encoded }
    }
}
