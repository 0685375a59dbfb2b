import Foundation

extension PageFile {
    /// Reads the envelope from the file beside the body: `17.json.headers` for `17.json`. Returns nil if
    /// there is none.
    ///
    /// Throws what ``Envelope/init(_:name:)`` throws, and `.noInput` if the file cannot be read.
    public func envelope() throws(DumpError) -> Envelope? {
        let path = path + ".headers"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try Envelope(PageFile(path: path).read(limit: Envelope.limit), name: path)
    }
}
