#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A mark in the file that its commits are not flushed (``CacheOptions/Durability-swift.enum/deferred``): the
/// boot of the machine in which they were made. As long as that boot lasts, the kernel has what the file
/// lacks, so a killed process loses nothing. After a power cut any part of any commit may be missing, and the
/// file is refused.
///
/// The mark is in the first meta page, behind what LMDB uses of it. LMDB writes only its own part of the page
/// again, and a copy by LMDB has a new page, without the mark.
enum UnflushedMark {
    static let offset = 512
    static let size = 32
    private static let magic = Array("quire-unflushed\0".utf8)

    /// Throws `.unclean` if the bytes are the mark of another boot. True if they are that of this one.
    static func test(_ bytes: ArraySlice<UInt8>, _ path: String) throws(QuireError) -> Bool {
        guard bytes.first == UInt8(ascii: "q"), bytes.starts(with: magic) else { return false }
        if let boot = boot(), bytes.dropFirst(magic.count).elementsEqual(boot) { return true }
        throw QuireError(
            .unclean,
            "\(path): was not closed before the machine stopped, and its commits were not flushed: "
                + "remove it and build it anew")
    }

    /// Writes the mark, or removes it, and waits for the disk.
    static func write(_ isUnflushed: Bool, to descriptor: Int32, _ path: String) throws(QuireError) {
        var bytes = [UInt8](repeating: 0, count: size)
        if isUnflushed {
            guard let boot = boot() else {
                throw QuireError(.io, "\(path): the number of the machine's boot cannot be read")
            }
            bytes = magic + boot
        }
        let count = pwrite(descriptor, bytes, bytes.count, off_t(offset))
        if count != bytes.count || fsync(descriptor) != 0 {
            throw QuireError.system("cannot mark the cache", path, errno)
        }
    }

    /// What is another one after each start of the machine, 16 bytes.
    private static func boot() -> [UInt8]? {
        var text = [UInt8](repeating: 0, count: 64)
        #if os(Linux)
            let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { return nil }
            let count = read(descriptor, &text, text.count)
            close(descriptor)
        #else
            var count = text.count
            if sysctlbyname("kern.bootsessionuuid", &text, &count, nil, 0) != 0 { return nil }
        #endif
        let digits = text.prefix(max(0, count)).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        if digits.count != 32 { return nil }
        return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    }
}
