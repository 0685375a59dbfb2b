import Foundation

/// What was received with a document, as far as it is stored beside it: `17.json.headers` for `17.json`, in a
/// folder or in an archive.
enum Sidecar {
    case file(PageFile)
    case entry(String, in: ArchivedHeaders)

    static let suffix = ".headers"

    /// Reads the envelope. Returns nil if there is none.
    ///
    /// Throws what ``Envelope/init(_:name:)`` throws, and `.noInput` if the file cannot be read.
    func envelope() throws(DumpError) -> Envelope? {
        switch self {
        case .file(let body):
            let path = body.path + Self.suffix
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            return try Envelope(PageFile(path: path).read(limit: Envelope.limit), name: path)
        case .entry(let name, let headers): return try headers.envelope(of: name)
        }
    }
}
