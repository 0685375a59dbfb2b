/// The first document of an input, read as ``PageReader`` would read it, for explanations.
public struct FirstDocument: Sendable {
    /// What the document is.
    public enum Form: Sendable {
        /// One response of an API, and what was received with it.
        case response([UInt8], Envelope?)
        /// Several documents, one after the other: the first ones.
        case list([[UInt8]])
        /// A table of a data dump, RSS or Atom: these need no profile.
        case xml
    }

    /// Where it is, for messages.
    public let place: String
    /// What it is.
    public let form: Form

    /// Opens an input: a file, packed or not, a pipe, or the first file in it that would be read.
    ///
    /// Throws ``DumpError`` if it cannot be read or has no such file.
    public init(of input: Input, _ options: InputOptions) throws(DumpError) {
        if let problem = input.problem { throw problem }
        let file = try PackedFile(input, options)
        while let entry = try file.nextEntry() {
            guard PageReader.isWanted(entry, options) else { continue }
            place = entry.isEmpty ? input.file.path : "\(input.file.path): \(entry)"
            let opening = DocumentOpening(
                options: options, isOneOfMany: false, place: place,
                sidecar: input.sidecar(of: entry, ArchivedHeaders(input, options)))
            form = try opening.form(ByteWindow(file))
            return
        }
        throw DumpError(.noInput, "\(printable(input.file.path, limit: 400)): no file in it has pages")
    }

    /// What the document is found to be; nil if it needs no profile.
    ///
    /// Throws ``DumpError`` as ``Recognition/init(of:envelope:name:wishes:)`` does.
    public func recognition() throws(DumpError) -> Recognition? {
        switch form {
        case .response(let bytes, let envelope): try Recognition(of: bytes, envelope: envelope, name: place)
        case .list(let documents): try Recognition(ofEach: documents, name: place, wishes: .init())
        case .xml: nil
        }
    }
}
