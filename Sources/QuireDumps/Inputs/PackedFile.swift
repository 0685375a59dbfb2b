import CArchive
import Foundation

/// Reads the bytes of a file, or of those in an archive, unpacked by libarchive.
final class PackedFile {
    private let archive: OpaquePointer
    private let descriptor: Int32
    private let name: String
    private let ratioLimit: Int
    private let input: Input
    private let options: InputOptions
    private var unpacked = 0
    /// Of a gzip file that is no archive, unless it is read for its checksums alone.
    private var checksum: GzipChecksum?
    private let checks: Bool
    private var entries = 0
    private var hasEnded = false
    /// Bytes unpacked by libarchive and not yet read. Its memory is valid until the next block.
    private var block = UnsafeRawBufferPointer(start: nil, count: 0)
    /// True for a tar or 7z archive. Known once the first entry was requested.
    private(set) var isArchive = false

    /// The ratio limit does not apply to this number of unpacked bytes.
    private static let freeBytes = 16 << 20
    private static let blockSize = 1 << 18

    /// Opens a file. What it unpacks to is compared with its checksums at its end, if it has some.
    convenience init(_ input: Input, _ options: InputOptions) throws(DumpError) {
        try self.init(input, options, checks: true)
    }

    private init(_ input: Input, _ options: InputOptions, checks: Bool) throws(DumpError) {
        (self.input, self.options, self.checks) = (input, options, checks)
        name = printable(input.file.path, limit: 400)
        ratioLimit = options.ratioLimit
        descriptor =
            input.isStandardInput ? dup(STDIN_FILENO) : open(input.file.path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            let reason = errno == ENOENT ? PageFile.absence(of: input.file.path) : "cannot be read"
            throw DumpError(.noInput, "\(name): \(reason)")
        }
        guard let archive = archive_read_new() else { fatalError("out of memory") }
        self.archive = archive
        Self.support(options.packing, archive)
        if archive_read_open_fd(archive, descriptor, Self.blockSize) != ARCHIVE_OK { throw failure }
    }

    deinit {
        archive_read_free(archive)
        close(descriptor)
    }

    /// Enables only the formats listed here, because libarchive would run programs for others.
    private static func support(_ packing: InputOptions.Packing, _ archive: OpaquePointer) {
        let isAny = packing == .auto || packing == .tar
        if isAny || packing == .gzip { archive_read_support_filter_gzip(archive) }
        if isAny || packing == .zstd { archive_read_support_filter_zstd(archive) }
        if isAny || packing == .bzip2 { archive_read_support_filter_bzip2(archive) }
        if isAny || packing == .xz { archive_read_support_filter_xz(archive) }
        if packing == .auto || packing == .tar { archive_read_support_format_tar(archive) }
        if packing == .auto || packing == .sevenZip { archive_read_support_format_7zip(archive) }
        if packing != .tar && packing != .sevenZip { archive_read_support_format_raw(archive) }
        archive_read_support_format_empty(archive)
    }

    /// The stored bytes of the file read so far.
    var consumed: Int { Int(archive_filter_bytes(archive, -1)) }

    /// Moves to the next file in it and returns its name. A file that is not an archive has one, named "".
    func nextEntry() throws(DumpError) -> String? {
        block = UnsafeRawBufferPointer(start: nil, count: 0)
        while !hasEnded {
            var entry: OpaquePointer?
            switch archive_read_next_header(archive, &entry) {
            case ARCHIVE_EOF:
                hasEnded = true
                return entries == 0 ? "" : nil  // an empty file
            case ARCHIVE_OK, ARCHIVE_WARN:
                entries += 1
                isArchive = archive_format(archive) != ARCHIVE_FORMAT_RAW
                if !isArchive {
                    let isGzip = archive_filter_code(archive, 0) == ARCHIVE_FILTER_GZIP
                    if checks && isGzip { checksum = GzipChecksum() }
                    return ""
                }
                if archive_entry_filetype(entry) == S_IFREG { return Self.name(of: entry, entries) }
            default:
                throw failure
            }
        }
        return nil
    }

    private static func name(of entry: OpaquePointer?, _ number: Int) -> String {
        let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry)
        return name.map { String(cString: $0) } ?? "entry \(number)"
    }

    /// Reads up to as many bytes as there is room for, without waiting for more than have arrived. Returns 0
    /// at the end of the entry.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DumpError) -> Int {
        while block.isEmpty {
            if try !unpackBlock() { return 0 }
        }
        let count = min(buffer.count, block.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
        block = UnsafeRawBufferPointer(rebasing: block[count...])
        return count
    }

    private func unpackBlock() throws(DumpError) -> Bool {
        if hasEnded { return false }
        var start: UnsafeRawPointer?
        var (size, offset) = (0, Int64(0))
        switch archive_read_data_block(archive, &start, &size, &offset) {
        case ARCHIVE_EOF:
            try compareChecksum()
            return false
        case ARCHIVE_OK, ARCHIVE_WARN: break
        case ARCHIVE_FATAL:
            hasEnded = true  // libarchive reads no more of it
            throw failure
        default: throw failure
        }
        block = UnsafeRawBufferPointer(start: start, count: size)
        checksum?.add(block)
        unpacked += size
        if unpacked > Self.freeBytes, unpacked / ratioLimit > consumed {
            throw DumpError(
                .limit, "\(name): unpacks to more than \(ratioLimit) times its size; see --ratio-limit")
        }
        return true
    }

    private func compareChecksum() throws(DumpError) {
        guard let checksum else { return }
        self.checksum = nil
        let isRight = try checksum.isRight(descriptor) { take throws(DumpError) in
            let again = try PackedFile(input, options, checks: false)
            guard try again.nextEntry() != nil else { return }
            while try again.unpackBlock() { take(again.block) }
        }
        if !isRight {
            throw DumpError(.data, "\(name): it is damaged: what it unpacks to has not the checksum in it")
        }
    }

    private var failure: DumpError {
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "unknown error"
        if reason.contains("not seekable") {
            return DumpError(.data, "\(name): a 7z archive cannot be read from a pipe, only from a file")
        }
        return DumpError(.data, "\(name): cannot be unpacked: \(printable(reason))")
    }
}
