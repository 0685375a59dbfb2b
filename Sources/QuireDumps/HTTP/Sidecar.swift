import Foundation

extension PageFile {
    /// What came with the body, from the file beside it: `17.json.headers` for `17.json`. nil without one.
    ///
    /// Throws what ``Envelope/init(_:name:)`` throws, and `.noInput` if the file cannot be read.
    public func envelope() throws(DumpError) -> Envelope? {
        let path = path + ".headers"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try Envelope(PageFile(path: path).read(limit: Envelope.limit), name: path)
    }
}
