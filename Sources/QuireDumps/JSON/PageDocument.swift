import CJSON
import Quire

/// Checks a response outside its items, and recognises errors.
extension PageParser {
    func checkForError(_ field: ErrorField, in document: ArraySlice<UInt8>) throws(DumpError) {
        let span = self.document(field.path)
        // Some APIs send the field in every response.
        guard !span.isAbsent, span.kind != CJSON_FALSE else { return }
        let name = field.name.flatMap { text($0, in: document) } ?? text(field.path, in: document)
        let parts = [name, field.message.flatMap { text($0, in: document) }]
        throw DumpError(.data, (["error document"] + parts.compactMap(\.self)).joined(separator: ": "))
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
        let field = profile.isLines ? nil : profile.error
        let paths = field.map { [$0.name ?? $0.path, $0.message].compactMap(\.self) } ?? []
        let isRead = scanner.scan(document) == nil
        let words = isRead ? paths.compactMap { text($0, in: document) } : []
        return DumpError(.data, (["error document", "HTTP \(status)"] + words).joined(separator: ": "))
    }

    private func text(_ path: FieldPath, in document: ArraySlice<UInt8>) -> String? {
        let text = try? self.document(path).token(path, in: document)
        return text.map { printable($0, limit: 120) }
    }
}

/// Formats a size for messages, to one decimal. A size above a limit must not round down to it.
func megabytes(_ bytes: Int, roundingUp: Bool = false) -> String {
    let unit = 1 << 20
    let tenths = (bytes * 10 + (roundingUp ? unit - 1 : unit / 2)) / unit
    return "\(tenths / 10).\(tenths % 10)"
}
