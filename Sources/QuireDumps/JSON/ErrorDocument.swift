#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What servers send in place of a page: a small object without a list that names an error.
struct ErrorDocument {
    /// What the server says, safe to print.
    let words: [String]

    /// Fields of which one is there in an error.
    private static let signs = [
        "error", "errors", "errcode", "error_id", "error_message", "status_code",
    ]
    private static let names = [
        "error", "error_name", "errcode", "type", "code", "error_code", "error_id", "status_code",
    ]
    private static let messages = [
        "error_message", "message", "error_msg", "errmsg", "error_description", "detail", "reason", "title",
    ]
    private static let memberLimit = 8
    private static let wordLimit = 120

    /// Recognises one; nil for any other document.
    init?(_ outline: JSONOutline) {
        // With an id, a message may be a post.
        let signs = Self.signs + (outline.find(["id"]) == nil ? ["message"] : [])
        guard outline.root.kind == .object, outline.root.count <= Self.memberLimit,
            let sign = signs.lazy.compactMap({ outline.find([$0]) }).first(where: { node in
                outline.nodes[node].kind != .null && !["false", ""].contains(outline.text(node))
                    && !(outline.nodes[node].kind == .array && outline.nodes[node].count == 0)
            }),
            ListPlace.all(in: outline).allSatisfy({ ["error", "errors"].contains($0.keys.first) })
        else { return nil }
        // Some put it into an object, or into a list of them.
        var nodes = [0]
        switch outline.nodes[sign].kind {
        case .object: nodes.append(sign)
        case .array: nodes += outline.children(of: sign).prefix(1)
        default: break
        }
        func first(_ keys: [String]) -> String? {
            nodes.lazy.compactMap { node in
                keys.lazy.compactMap { outline.find([$0], from: node) }.compactMap {
                    Self.word($0, outline)
                }.first
            }.first
        }
        let (name, message) = (first(Self.names), first(Self.messages))
        let said = [name, message].compactMap(\.self)
        words = said.isEmpty ? nodes.compactMap { Self.word($0, outline) } : said
    }

    /// Recognises one in the bytes of a document.
    init?(_ document: ArraySlice<UInt8>) {
        guard let outline = JSONOutline(document) else { return nil }
        self.init(outline)
    }

    /// The words after what they are.
    var sentence: String { (["error document"] + words).joined(separator: ": ") }

    /// Returns the text of a string or a whole number.
    private static func word(_ node: Int, _ outline: JSONOutline) -> String? {
        switch outline.nodes[node].kind {
        case .integer: return outline.text(node)
        case .string:
            let text = outline.plainText(node)
            return text.isEmpty ? nil : printable(text, limit: wordLimit)
        default: return nil
        }
    }
}

extension JSONOutline {
    /// The text of a string without escapes.
    func plainText(_ node: Int) -> String {
        let text = text(node)
        return (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) ?? text
    }
}
