import CJSON
import Quire

/// Checks a response outside its items, and recognises errors.
extension PageParser {
    func checkForError(_ field: ErrorField, in document: ArraySlice<UInt8>) throws(DumpError) {
        let span = self.document(field.path)
        // Some APIs send the field in every response.
        guard !span.isAbsent, span.kind != CJSON_FALSE, !isEmptyList(span, in: document) else { return }
        var (kind, words) = error(field, in: document)
        if words.isEmpty { words = ErrorDocument(document)?.words ?? [] }
        throw DumpError(kind, (["error document"] + words).joined(separator: ": "))
    }

    private func isEmptyList(_ span: cjson_span, in document: ArraySlice<UInt8>) -> Bool {
        guard span.kind == CJSON_ARRAY else { return false }
        let inside = document.dropFirst(Int(span.start) + 1).prefix(Int(span.length) - 2)
        return inside.allSatisfy { [0x20, 0x0A, 0x0D, 0x09].contains($0) }
    }

    /// Returns what the last scan found of an error: its kind, its name and the message.
    private func error(
        _ field: ErrorField, in document: ArraySlice<UInt8>
    ) -> (kind: DumpError.Kind, words: [String]) {
        let name = (field.names + [field.path]).lazy.compactMap { [self] in token($0, in: document) }.first
        let message = field.message.flatMap { token($0, in: document) }
        let kind: DumpError.Kind =
            if let name, field.later.contains(name) {
                .later
            } else if let name, field.expired.contains(name) {
                .expired
            } else {
                .data
            }
        return (kind, [name, message].compactMap { $0.map { printable($0, limit: 120) } })
    }

    func check(_ mark: Mark, _ span: cjson_span) throws(DumpError) {
        guard !span.isAbsent else { throw span.absence(mark.path) }
        guard !mark.texts.isEmpty else { return }
        let text = span.kind == CJSON_STRING ? String(decoding: span.characters, as: UTF8.self) : ""
        guard mark.texts.contains(where: text.contains) else {
            let texts = mark.texts.map { "\"\(printable($0))\"" }.joined(separator: " or ")
            throw DumpError(.data, "\(mark.path) does not contain \(texts)")
        }
    }

    /// Returns the error for a response whose status is not that of a page, with the server's text if there
    /// is some.
    func failure(_ status: Int, _ document: ArraySlice<UInt8>) -> DumpError {
        let field = profile.isLines || scanner.scan(document) != nil ? nil : profile.error
        var (kind, words) = field.map { error($0, in: document) } ?? (.data, [])
        if words.isEmpty { words = ErrorDocument(document)?.words ?? [] }
        return DumpError(kind, (["error document", "HTTP \(status)"] + words).joined(separator: ": "))
    }

    private func token(_ path: FieldPath, in document: ArraySlice<UInt8>) -> String? {
        try? self.document(path).token(path, in: document)
    }
}

/// Formats a size for messages, to one decimal. A size above a limit must not round down to it.
func megabytes(_ bytes: Int, roundingUp: Bool = false) -> String {
    let unit = 1 << 20
    let tenths = (bytes * 10 + (roundingUp ? unit - 1 : unit / 2)) / unit
    return "\(tenths / 10).\(tenths % 10)"
}
