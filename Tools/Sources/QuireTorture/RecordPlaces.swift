@_spi(Unstable) import Quire
import QuireSimulator

/// The positions of the records in a sound cache's file, to forge them with correct checksums.
struct RecordPlaces {
    /// The bytes of each value.
    private(set) var values: [Range<Int>] = []

    private static let pageSize = 4096

    init(of file: [UInt8]) {
        file.withUnsafeBytes { bytes in
            // the meta page with the higher transaction number counts
            let newest = [0, 1].max {
                Self.word(bytes, at: $0 * Self.pageSize + 144)
                    < Self.word(bytes, at: $1 * Self.pageSize + 144)
            }!
            visit(Self.word(bytes, at: newest * Self.pageSize + 128), of: bytes)
        }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
        Int(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    private mutating func visit(_ page: Int, of bytes: UnsafeRawBufferPointer) {
        let start = page * Self.pageSize
        func half(_ place: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)) }
        for offset in stride(from: start + 16, to: start + half(start + 12), by: 2) {
            let node = start + half(offset)
            let (low, flags, keySize) = (half(node) | half(node + 2) << 16, half(node + 4), half(node + 6))
            let value = node + 8 + keySize
            if half(start + 10) == 1 {
                visit(low | flags << 32, of: bytes)
            } else if flags == 1 {
                let first = Self.word(bytes, at: value) * Self.pageSize + 16
                values.append(first..<first + low)
            } else {
                values.append(value..<value + low)
            }
        }
    }

    /// Changes some bytes of a record and writes the new checksum.
    func forge(_ file: inout [UInt8], _ random: inout SplitMix64) {
        let value = values[random.below(values.count)]
        guard value.upperBound <= file.count, value.count > 4 else { return }
        for _ in 0...random.below(3) {
            // the first bytes of a record decide how the rest is read
            let room = value.count - 4
            let place = value.lowerBound + random.below(random.chance(0.5) ? min(room, 24) : room)
            switch random.below(5) {
            case 0: file[place] = UInt8(random.below(256))
            case 1: file[place] ^= 1 << UInt8(random.below(8))
            case 2: file[place] = random.chance(0.5) ? 0 : 1
            case 3:  // a number that continues
                for each in place..<min(place + random.below(9), value.upperBound - 5) { file[each] |= 0x80 }
            default: file[place] = file[value.lowerBound + random.below(room)]
            }
        }
        file.withUnsafeMutableBytes { Checksum.seal(UnsafeMutableRawBufferPointer(rebasing: $0[value])) }
    }
}
