import CZlib
import Foundation

/// Compares what a gzip file unpacks to with the checksums in it, which libarchive passes over.
///
/// A file has one member, or several, one after the other. Each ends with the checksum and the length of what
/// it holds. Where a member ends is not known while it is unpacked. So the whole is compared with the end of
/// the file first; only if that differs, the file is unpacked once more to look for several members.
struct GzipChecksum {
    /// What was unpacked so far.
    private var whole = Member()

    /// The checksum (CRC-32) and the length of a member, as gzip has them.
    private struct Member: Hashable {
        var checksum: UInt32 = 0
        var length: UInt32 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            if bytes.isEmpty { return }  // for zlib that begins anew
            checksum = UInt32(truncatingIfNeeded: crc32_z(uLong(checksum), bytes.baseAddress, bytes.count))
            length &+= UInt32(truncatingIfNeeded: bytes.count)
        }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) { whole.add(bytes) }

    /// Padding or something else may follow the last member.
    private static let tailBytes = 1 << 16
    /// Bytes of a member that look like the start of another one are rare.
    private static let lookAhead = 64

    /// Returns true if the checksums are right. `unpack` gives all that the file unpacks to once more.
    func isRight(
        _ descriptor: Int32, unpack: ((UnsafeRawBufferPointer) -> Void) throws(DumpError) -> Void
    ) throws(DumpError) -> Bool {
        guard let file = Stored(descriptor) else { return true }  // a pipe is read only once
        let tail = file.ends(from: max(0, file.size - Self.tailBytes)) { _ in true }
        if tail.contains(whole) { return true }
        let ends = file.ends(from: 0) { $0.elementsEqual([0x1F, 0x8B, 0x08]) }.filter { $0.length > 0 }
        if ends.isEmpty { return false }
        var (member, next) = (Member(), 0)
        try unpack { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let ahead = ends[next...].prefix(Self.lookAhead)
                let length = member.length
                // The nearest place where the member may end.
                let step = ahead.lazy.filter { $0.length > length }.map { Int($0.length - length) }.min()
                let count = min(step ?? rest.count, rest.count)
                member.add(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                if let end = ahead.firstIndex(of: member) { (member, next) = (Member(), end + 1) }
            }
        }
        return member == Member() || tail.contains(member)
    }

    /// The bytes of a regular file as they are stored.
    private struct Stored {
        let descriptor: Int32
        let size: Int

        init?(_ descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            (self.descriptor, size) = (descriptor, Int(status.st_size))
        }

        /// Returns what could be the end of a member: eight bytes from a place on, of which the three that
        /// follow, or as many as there are, are chosen.
        func ends(from start: Int, where isChosen: (Slice<UnsafeRawBufferPointer>) -> Bool) -> [Member] {
            var (ends, at): ([Member], Int) = ([], start)
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while at < size {
                let count = buffer.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress, $0.count, off_t(at))
                }
                if count < 8 { break }
                let isLast = at + count >= size
                buffer.withUnsafeBytes { bytes in
                    for place in 0...count - (isLast || count < 11 ? 8 : 11)
                    where isChosen(bytes[place + 8..<min(place + 11, count)]) {
                        let checksum = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                        let length = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                        ends.append(
                            Member(
                                checksum: UInt32(littleEndian: checksum),
                                length: UInt32(littleEndian: length)))
                    }
                }
                if isLast { break }
                at += max(1, count - 10)
            }
            return ends
        }
    }
}
