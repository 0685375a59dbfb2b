/// The headers that an archive has beside the documents in it. They may come before or after them, so the
/// archive is read once more, for the first document that may have some. They stay in memory.
final class ArchivedHeaders {
    private let input: Input
    private let options: InputOptions
    /// By the names of the documents, once they were looked for.
    private var found: Result<[String: [UInt8]], DumpError>?

    /// The maximum number of bytes of all headers.
    private static let limit = 1 << 26

    init(_ input: Input, _ options: InputOptions) { (self.input, self.options) = (input, options) }

    /// Returns what is beside a document; nil if that is nothing.
    func envelope(of entry: String) throws(DumpError) -> Envelope? {
        if found == nil { found = Result { () throws(DumpError) in try look() } }
        guard let bytes = try found!.get()[entry] else { return nil }
        return try Envelope(bytes, name: "\(input.file.path): \(entry)\(Sidecar.suffix)")
    }

    private func look() throws(DumpError) -> [String: [UInt8]] {
        var (headers, total): ([String: [UInt8]], Int) = ([:], 0)
        let packed = try PackedFile(input, options)
        while let entry = try? packed.nextEntry() {  // the reader of the documents says what is wrong
            guard entry.hasSuffix(Sidecar.suffix) else { continue }
            let window = ByteWindow(packed)
            window.extend(to: Envelope.limit + 1)
            total += window.count
            if total > Self.limit {
                throw DumpError(
                    .limit,
                    "\(printable(input.file.path, limit: 400)): the headers in it are above the limit of "
                        + "\(megabytes(Self.limit)) MB; unpack it")
            }
            headers[String(entry.dropLast(Sidecar.suffix.count))] = Array(window.bytes)
        }
        return headers
    }
}

extension Input {
    /// Where the headers of a document in this input may be; nil if they could not be found.
    /// - Parameter entry: Its name in an archive; "" if it is none.
    func sidecar(of entry: String, _ headers: ArchivedHeaders) -> Sidecar? {
        if isStandardInput { return nil }
        return entry.isEmpty ? .file(file) : .entry(entry, in: headers)
    }
}
