import Foundation

/// The part of an unpacked document that is still needed. A failure to read on ends it as its end
/// does, so that what came before is not lost.
final class ByteWindow {
    private let source: PackedFile
    private var memory = UnsafeMutablePointer<UInt8>.allocate(capacity: step)
    private var capacity = step
    /// The window within the memory.
    private var window = 0..<0
    /// Where in the document the window begins.
    private(set) var offset = 0
    private(set) var isAtEnd = false
    /// Why there is no more, if the document has not ended.
    private(set) var failure: DumpError?

    static let step = 1 << 16

    init(_ source: PackedFile) { self.source = source }

    deinit { memory.deallocate() }

    var count: Int { window.count }

    /// The window; index 0 is its first byte. Valid until it is extended.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory + window.lowerBound, count: window.count)
    }

    /// A part of the window, valid until it is extended.
    func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[range])
    }

    /// The whole window; it is empty afterwards.
    func takeAll() -> [UInt8] {
        let all = Array(bytes)
        drop(count)
        return all
    }

    /// The first place from here on, within the window, with this byte.
    func index(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let found = memchr(bytes.baseAddress! + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!)
    }

    /// The first place from here on, within the window, with anything but white space.
    func token(from start: Int) -> Int? {
        var at = start
        while at < count && isJSONSpace(bytes[at]) { at += 1 }
        return at < count ? at : nil
    }

    /// Makes the window longer by up to `more` bytes, those that have arrived; false if there are none.
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

    /// Makes the window at least this long, if the document is.
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

    /// Takes bytes off the front.
    func drop(_ count: Int) {
        window = window.lowerBound + count..<window.upperBound
        offset += count
    }
}
