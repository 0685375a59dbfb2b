import CQuire

/// A struct of the headers that may grow at its end. It begins with its size as the program knows it; the
/// size of a `quire_post` stands in the answer.
///
/// A program of an older header passes fewer bytes: the members that it does not know read as zero and are
/// not written. So zero must mean, in a new member, what was done before there was one. A program of a newer
/// header passes more: they must be zero in what it asks for, and are zeroed in what it gets.
package protocol Versioned {
    /// The size that the first release had, in bytes. It never changes; a smaller one is an error of the
    /// program. It is that of 64-bit machines: on others no release has been made, and a struct must be as
    /// large as today.
    static var smallestSize: Int { get }

    /// Creates one of zeroes.
    init()
}

extension quire_error: Versioned { package static let smallestSize = 24 }
extension quire_list: Versioned { package static let smallestSize = 32 }
extension quire_cache_options: Versioned { package static let smallestSize = 32 }
extension quire_budget: Versioned { package static let smallestSize = 88 }
extension quire_statistics: Versioned { package static let smallestSize = 112 }
extension quire_evictions: Versioned { package static let smallestSize = 88 }
extension quire_repair_report: Versioned { package static let smallestSize = 56 }
extension quire_feed_options: Versioned { package static let smallestSize = 72 }
extension quire_place: Versioned { package static let smallestSize = 88 }
extension quire_request: Versioned { package static let smallestSize = 112 }
extension quire_post: Versioned { package static let smallestSize = 56 }
extension quire_answer: Versioned { package static let smallestSize = 136 }
extension quire_outcome: Versioned { package static let smallestSize = 256 }
extension quire_prune_policy: Versioned { package static let smallestSize = 72 }
extension quire_prune_result: Versioned { package static let smallestSize = 24 }
extension quire_feed_info: Versioned { package static let smallestSize = 224 }
extension quire_post_info: Versioned { package static let smallestSize = 64 }
extension quire_window_start: Versioned { package static let smallestSize = 48 }
extension quire_window_info: Versioned { package static let smallestSize = 48 }
extension quire_difference: Versioned { package static let smallestSize = 56 }
extension quire_view_options: Versioned { package static let smallestSize = 24 }
extension quire_view_info: Versioned { package static let smallestSize = 32 }
extension quire_shard_status: Versioned { package static let smallestSize = 56 }
extension quire_profile_options: Versioned { package static let smallestSize = 64 }
extension quire_response: Versioned { package static let smallestSize = 56 }
extension quire_parsed: Versioned { package static let smallestSize = 120 }

extension Versioned where Self: BitwiseCopyable {
    /// No struct will ever be larger.
    private static var sizeLimit: Int { 4096 }

    /// True if a program may say that its struct has this size.
    static func isSize(_ size: Int) -> Bool {
        min(smallestSize, MemoryLayout<Self>.stride)...sizeLimit ~= size
    }

    /// Copies the members that both sides know from `size` bytes in C's memory.
    init(_ bytes: UnsafeRawPointer, size: Int) {
        self.init()
        let known = min(size, MemoryLayout<Self>.size)
        withUnsafeMutableBytes(of: &self) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: known))
        }
    }

    /// True if a newer program says something that this library does not know.
    static func asksForMore(_ bytes: UnsafeRawPointer, size: Int) -> Bool {
        if size <= MemoryLayout<Self>.size { return false }
        return UnsafeRawBufferPointer(start: bytes, count: size)[MemoryLayout<Self>.size...].contains {
            $0 != 0
        }
    }
}

extension Arguments {
    /// Reads a struct that begins with its size.
    package static func structure<T: Versioned & BitwiseCopyable>(
        _ pointer: UnsafePointer<T>?, _ name: StaticString
    ) throws(Failure) -> T {
        guard let pointer, isAligned(pointer) else { throw bad("\(name) is NULL or misaligned") }
        let raw = UnsafeRawPointer(pointer)
        let size = Int(raw.load(as: UInt32.self))
        guard T.isSize(size) else { throw bad("\(name): its struct_size is \(size); use the _INIT macro") }
        if T.asksForMore(raw, size: size) { throw bad("\(name) asks for a newer library") }
        return T(raw, size: size)
    }
}

// MARK: Results

/// Zeroes a result that begins with its size, except for that size. Returns nil if it cannot be written.
private func clearStructure<T: Versioned & BitwiseCopyable>(_ out: UnsafeMutablePointer<T>?) -> Int? {
    guard let out, Arguments.isAligned(UnsafePointer(out)) else { return nil }
    let raw = UnsafeMutableRawPointer(out)
    let size = Int(raw.load(as: UInt32.self))
    guard T.isSize(size) else { return nil }
    (raw + 4).initializeMemory(as: UInt8.self, repeating: 0, count: size - 4)
    return size
}

/// Writes a result: the members that both sides know, all but its size. Returns false if it cannot be
/// written.
package func write<T: Versioned & BitwiseCopyable>(_ result: T, to out: UnsafeMutablePointer<T>?) -> Bool {
    guard let size = clearStructure(out) else { return false }
    withUnsafeBytes(of: result) { bytes in
        (UnsafeMutableRawPointer(out!) + 4).copyMemory(
            from: bytes.baseAddress! + 4, byteCount: min(size, bytes.count) - 4)
    }
    return true
}

/// Runs the work of a C function that fills a struct, and writes it if the work succeeds; see
/// ``attempt(_:_:)``.
package func attempt<T: Versioned & BitwiseCopyable>(
    filling out: UnsafeMutablePointer<T>?, _ work: (inout T) throws -> Void
) -> quire_status {
    attempt(clearStructure(out) != nil) {
        var result = T()
        try work(&result)
        _ = write(result, to: out)
    }
}

/// Empties a result that C gives back, and returns what it was; nil if it is none.
package func take<T: Versioned & BitwiseCopyable>(_ result: UnsafeMutablePointer<T>?) -> T? {
    guard let result, Arguments.isAligned(UnsafePointer(result)) else { return nil }
    let raw = UnsafeRawPointer(result)
    let size = Int(raw.load(as: UInt32.self))
    guard T.isSize(size) else { return nil }
    let taken = T(raw, size: size)
    _ = clearStructure(result)
    return taken
}
