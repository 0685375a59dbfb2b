import CLMDB
import QuireSimulator
import Testing

@testable import Quire

/// The checksum of every record: CRC32C (Castagnoli) in four lanes, as Docs/on-disk.md has it.
@Suite struct ChecksumTests {
    private static func byTable(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        quire_checksum_by_table(bytes.baseAddress, bytes.count)
    }

    private static func byProcessor(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        quire_checksum_by_processor(bytes.baseAddress, bytes.count)
    }

    /// The value that RFC 3720 and the catalogues of CRCs give for these nine digits.
    @Test func aByteIsCRC32C() {
        let crc = "123456789".utf8.reduce(~0 as UInt32) { quire_crc_byte($0, $1) }
        #expect(~crc == 0xE306_9283)
    }

    /// Computed bit by bit, without tables, from the description in Docs/on-disk.md.
    private static func described(_ bytes: [UInt8]) -> UInt32 {
        func add(_ crc: UInt32, _ byte: UInt8) -> UInt32 {
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1) * 0x82F6_3B78 }
        }
        var lanes: [UInt32] = [~0, 1, 2, 3]
        let inLanes = bytes.count / 32 * 32
        for (i, byte) in bytes[..<inLanes].enumerated() { lanes[i / 8 % 4] = add(lanes[i / 8 % 4], byte) }
        let joined = [lanes[2], lanes[1], UInt32(bytes.count), lanes[3]].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return (joined + bytes[inLanes...]).reduce(lanes[0], add)
    }

    /// Every length up to 100 at every offset of a word, and some long ones: the same with and without the
    /// processor's instruction, and as described.
    @Test func theProcessorAndTheTableAgree() {
        var random = SplitMix64(seed: 1)
        let bytes = (0..<70_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for count in Array(0...100) + [4_095, 4_096, 65_537] {
            for offset in 0..<8 {
                let part = Array(bytes[offset..<offset + count])
                let expected = Self.described(part)
                bytes[offset..<offset + count].withUnsafeBytes { part in
                    #expect(Self.byTable(part) == expected, "\(count) bytes from \(offset)")
                    if quire_has_crc() != 0 {
                        #expect(Self.byProcessor(part) == expected, "\(count) bytes from \(offset)")
                    }
                }
            }
        }
    }
}
