import Foundation

/// Bytes that end where the process may not read on: one byte too far is a crash, not luck.
///
///     | ............. content | no access |
final class GuardedBytes {
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    private let map: UnsafeMutableRawPointer
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = (capacity + Self.page - 1) / Self.page * Self.page
        let size = self.capacity + Self.page
        map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        precondition(map != MAP_FAILED, "no memory")
        precondition(mprotect(map + self.capacity, Self.page, PROT_NONE) == 0, "no guard")
    }

    deinit { munmap(map, capacity + Self.page) }

    /// The content, until the next call; never at an address that a machine likes.
    func hold(_ content: ArraySlice<UInt8>) -> UnsafeRawBufferPointer {
        let start = map + (capacity - content.count)
        UnsafeMutableRawBufferPointer(start: start, count: content.count).copyBytes(from: content)
        return UnsafeRawBufferPointer(start: start, count: content.count)
    }
}
