import Quire

/// A link that is made from a post: `until={key}`.
struct Template: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case id
        case key
    }

    let parts: [Part]

    /// Parses a template. Throws what is wrong with the text.
    init(_ text: String) throws(DumpError) {
        var parts: [Part] = []
        var rest = text[...]
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != "{" && $0 != "}" }
            if !plain.isEmpty { parts.append(.text(String(plain))) }
            rest = rest.dropFirst(plain.count)
            if rest.isEmpty { break }
            if rest.hasPrefix("{id}") {
                parts.append(.id)
                rest = rest.dropFirst(4)
            } else if rest.hasPrefix("{key}") {
                parts.append(.key)
                rest = rest.dropFirst(5)
            } else {
                throw DumpError(.data, "\"\(printable(text))\": only {id} and {key} may be in braces")
            }
        }
        guard parts.contains(.id) || parts.contains(.key) else {
            throw DumpError(.data, "\"\(printable(text))\" has neither {id} nor {key}")
        }
        self.parts = parts
    }

    var needsKey: Bool { parts.contains(.key) }

    func filled(from post: Post) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .id: post.id.description
            case .key: post.key.map(String.init) ?? ""
            }
        }.joined()
    }
}
