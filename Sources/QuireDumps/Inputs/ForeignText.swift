/// A document that is neither JSON in UTF-8 nor a list in XML, as its first bytes tell.
enum ForeignText {
    case utf16, utf32
    /// A page of HTML, and what it calls itself.
    case html(title: String?)

    private static let htmlStarts = ["<!doctype html", "<html"].map { Array($0.utf8) }
    /// What JSON or XML may begin with.
    private static let starts = Set("{[\"<-0123456789tfn \t\r\n".utf8)

    /// Recognises a document; nil if it is not foreign. The bytes are its first ones.
    init?(_ bytes: ArraySlice<UInt8>) {
        let first = Array(bytes.prefix(4))
        if let wide = Self.wide(first) {
            self = wide
            return
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        let start = text.drop(while: isJSONSpace).prefix(16).map {
            (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
        }
        guard Self.htmlStarts.contains(where: start.starts) else { return nil }
        self = .html(title: titleOfPage(bytes))
    }

    /// The encoding of a text whose characters have more than one byte.
    private static func wide(_ first: [UInt8]) -> ForeignText? {
        if first == [0xFF, 0xFE, 0, 0] || first == [0, 0, 0xFE, 0xFF] { return .utf32 }
        if first.starts(with: [0xFF, 0xFE]) || first.starts(with: [0xFE, 0xFF]) { return .utf16 }
        guard first.count == 4 else { return nil }
        // No text in UTF-8 has zeros.
        switch (first[0], first[1], first[2], first[3]) {
        case (let byte, 0, 0, 0), (0, 0, 0, let byte): return starts.contains(byte) ? .utf32 : nil
        case (let byte, 0, _, _), (0, let byte, _, _): return starts.contains(byte) ? .utf16 : nil
        default: return nil
        }
    }

    /// What it is, in words.
    var sentence: String {
        switch self {
        case .utf16: "it is UTF-16 text, not UTF-8"
        case .utf32: "it is UTF-32 text, not UTF-8"
        case .html(let title): "it is an HTML page, not JSON" + (title.map { ": \"\($0)\"" } ?? "")
        }
    }
}
