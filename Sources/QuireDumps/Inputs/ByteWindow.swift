import Foundation

/// The part of an unpacked document that somebody still needs. A failure to read on ends it as its end
/// does, so that what came before is not lost.
final class ByteWindow {
    private let source: PackedFile
    private var buffer: [UInt8] = []
    private var start = 0
    /// Where in the document the window begins.
    private(set) var offset = 0
    private(set) var isAtEnd = false
    /// Why there is no more, if the document has not ended.
    private(set) var failure: DumpError?

    static let step = 1 << 16

    init(_ source: PackedFile) { self.source = source }

    var count: Int { buffer.count - start }

    var bytes: ArraySlice<UInt8> { buffer[start...] }

    func byte(_ index: Int) -> UInt8 { buffer[start + index] }

    /// The whole window; it is empty afterwards.
    func takeAll() -> [UInt8] {
        if start > 0 { buffer.removeFirst(start) }
        let bytes = buffer
        offset += bytes.count
        (buffer, start) = ([], 0)
        return bytes
    }

    /// Calls `body` with the window; index 0 is its first byte.
    func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        buffer.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[start...])) }
    }

    /// The first place from here on, within the window, with this byte.
    func index(of byte: UInt8, from start: Int) -> Int? {
        withBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(byte), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(base)
        }
    }

    /// The first place from here on, within the window, with anything but white space.
    func token(from start: Int) -> Int? {
        withBytes { bytes in
            var at = start
            while at < bytes.count && isJSONSpace(bytes[at]) { at += 1 }
            return at < bytes.count ? at : nil
        }
    }

    /// A part of the window, counted from its first byte.
    func copy(_ range: Range<Int>) -> ArraySlice<UInt8> {
        buffer[start + range.lowerBound..<start + range.upperBound]
    }

    /// Makes the window longer by up to `more` bytes; false if there are none.
    @discardableResult
    func extend(by more: Int = step) -> Bool {
        if isAtEnd { return false }
        if start > 0 && start >= count {
            buffer.removeFirst(start)
            start = 0
        }
        let old = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: more))
        var filled = 0
        do throws(DumpError) {
            while filled < more {
                let part = old + filled
                let count = try buffer.withUnsafeMutableBytes { bytes in
                    Result { () throws(DumpError) in
                        try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[part...]))
                    }
                }.get()
                if count == 0 {
                    isAtEnd = true
                    break
                }
                filled += count
            }
        } catch {
            (failure, isAtEnd) = (error, true)
        }
        buffer.removeLast(more - filled)
        return filled > 0
    }

    /// Makes the window at least this long, if the document is.
    func extend(to length: Int) {
        while count < length && extend(by: max(Self.step, length - count)) {}
    }

    /// Takes bytes off the front.
    func drop(_ count: Int) {
        start += count
        offset += count
    }
}
