import CLMDB

/// The last four bytes of a value: CRC32C of the others in four lanes, described in Docs/on-disk.md. It
/// detects damage, not deliberate changes.
@_spi(Unstable) public enum Checksum {
    static let size = 4

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        quire_checksum(bytes.baseAddress, bytes.count)
    }

    /// Replaces the last four bytes by the checksum of the others.
    @_spi(Unstable) public static func seal(_ bytes: UnsafeMutableRawBufferPointer) {
        let end = bytes.count - size
        let sum = of(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        bytes.storeBytes(of: sum.littleEndian, toByteOffset: end, as: UInt32.self)
    }

    /// Returns true if the last four bytes are the checksum of the others.
    static func isValid(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= size else { return false }
        let end = value.count - size
        let sum = value.loadUnaligned(fromByteOffset: end, as: UInt32.self)
        return UInt32(littleEndian: sum) == of(UnsafeRawBufferPointer(rebasing: value[..<end]))
    }

    /// Returns true for the format record of a cache before version 6, whose checksums were another hash.
    /// Such a file is refused as one of an older format, not as a damaged one.
    static func isOlderFormat(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count >= 7 + size && value.starts(with: [5] + "quire".utf8) && value[6] < 6
    }
}
