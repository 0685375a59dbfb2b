import Foundation

/// The part of an unpacked document that is still needed. A read error ends the document like its end does,
/// so that the part before is not lost.
final class ByteWindow {
    private let source: PackedFile
    private var memory = UnsafeMutablePointer<UInt8>.allocate(capacity: step)
    private var capacity = step
    /// The range of the window in the memory.
    private var window = 0..<0
    /// The offset of the window in the document.
    private(set) var offset = 0
    private(set) var isAtEnd = false
    /// The error that ended the document, if it did not end normally.
    private(set) var failure: DumpError?

    static let step = 1 << 16

    init(_ source: PackedFile) { self.source = source }

    deinit { memory.deallocate() }

    var count: Int { window.count }

    /// The bytes of the window, from index 0. Valid until it is extended.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory + window.lowerBound, count: window.count)
    }

    /// Returns a part of the window, valid until it is extended.
    func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }

    /// Returns the first index of this byte in the window, from `start` on.
    func index(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let found = memchr(bytes.baseAddress! + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!)
    }

    /// Returns the first index in the window, from `start` on, that is not white space.
    func token(from start: Int) -> Int? {
        var at = start
        while at < count && isJSONSpace(bytes[at]) { at += 1 }
        return at < count ? at : nil
    }

    /// Returns where the second of several JSON values begins; nil if there is none in the window.
    var startOfSecondValue: Int? {
        guard let start = token(from: 0) else { return nil }
        var scanner = ElementScanner(at: start)
        guard let end = scanner.end(in: bytes), end > start else { return nil }
        return token(from: end)
    }

    /// Extends the window by up to `more` bytes that have arrived. Returns false if there are none.
    @discardableResult
    func extend(by more: Int = step) -> Bool {
        if isAtEnd { return false }
        reserve(more)
        do throws(DumpError) {
            let room = UnsafeMutableRawBufferPointer(start: memory + window.upperBound, count: more)
            let read = try source.read(into: room)
            window = window.lowerBound..<window.upperBound + read
            isAtEnd = read == 0
        } catch {
            (failure, isAtEnd) = (error, true)
        }
        return !isAtEnd
    }

    /// Extends the window to at least this length, if the document is long enough.
    func extend(to length: Int) {
        while count < length && extend(by: max(Self.step, min(count, length - count))) {}
    }

    private func reserve(_ more: Int) {
        if window.upperBound + more <= capacity { return }
        var target = memory
        if count + more > capacity || window.lowerBound < count {
            capacity = max(2 * capacity, count + more)
            target = .allocate(capacity: capacity)
        }
        memmove(target, memory + window.lowerBound, count)
        if target != memory { memory.deallocate() }
        (memory, window) = (target, 0..<count)
    }

    /// Removes bytes from the front.
    func drop(_ count: Int) {
        window = window.lowerBound + count..<window.upperBound
        offset += count
    }
}
