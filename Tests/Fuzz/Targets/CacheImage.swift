import Foundation

@_spi(Unstable) @testable import Quire

/// The bytes of a sound cache file, and where its records are.
struct CacheImage {
    private let bytes: [UInt8]
    /// The values of all records, with their checksums.
    private let values: [Range<Int>]
    private let valueBytes: Int

    init(_ path: String) throws {
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var values: [Range<Int>] = []
        let salvage = try Salvage(path)
        let pageSize = salvage.file.pageSize
        try salvage.forEach(progress: { _ in }) { record in
            let value = record.value!
            // On a leaf the value follows its key; a long one stands on pages of its own.
            let leaf = Int(record.address.leaf) * pageSize
            let inline = Array(record.key) + value
            let at = bytes[leaf..<leaf + pageSize].firstRange(of: inline).map {
                $0.lowerBound + record.key.count
            }
            let start = at ?? bytes.firstRange(of: value)!.lowerBound
            values.append(start..<start + value.count)
        }
        (self.bytes, self.values) = (bytes, values)
        valueBytes = values.reduce(0) { $0 + $1.count }
    }

    /// Returns the file with changes. Each one has twelve bytes: its kind, the place, and what is written
    /// there. The low three bits of the kind are the number of bytes less one. With the fourth bit it is a
    /// place in a record, whose checksum is made right again; a change of the checksum itself is none then.
    func changed(by changes: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = bytes
        var rest = changes
        while rest.count >= 12 {
            let change = Array(rest.prefix(12))
            rest = rest.dropFirst(12)
            let place = Int(change[1]) << 16 | Int(change[2]) << 8 | Int(change[3])
            let width = Int(change[0] & 7) + 1
            if change[0] & 8 == 0 {
                Self.write(change[4..<4 + width], at: place % bytes.count, in: &bytes, end: bytes.count)
                continue
            }
            let value = value(at: place % valueBytes)
            Self.write(change[4..<4 + width], at: value.at, in: &bytes, end: value.range.upperBound)
            bytes.withUnsafeMutableBytes {
                Checksum.seal(UnsafeMutableRawBufferPointer(rebasing: $0[value.range]))
            }
        }
        return bytes
    }

    private static func write(_ new: ArraySlice<UInt8>, at place: Int, in bytes: inout [UInt8], end: Int) {
        for (i, byte) in new.enumerated() where place + i < end { bytes[place + i] = byte }
    }

    private func value(at place: Int) -> (at: Int, range: Range<Int>) {
        var left = place
        for range in values {
            if left < range.count { return (range.lowerBound + left, range) }
            left -= range.count
        }
        preconditionFailure("a place beyond all records")
    }
}
