/// The header `Link` of RFC 8288: `<https://…?page=3>; rel="next", <https://…>; rel="last"`.
struct LinkHeader {
    /// The address of each relation, or the first of several.
    private(set) var addresses: [String: String] = [:]

    /// Reads the text as far as it is well-formed; the rest is ignored.
    init(_ text: String) {
        var rest = text[...]
        while let start = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: start)...]
            guard let end = rest.firstIndex(of: ">") else { return }
            let address = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            for relation in Self.takeRelations(&rest) where addresses[relation] == nil {
                addresses[relation] = address
            }
        }
    }

    /// Removes the parameters at the start, up to a comma outside of quotes, and returns the words of `rel`.
    private static func takeRelations(_ rest: inout Substring) -> [String] {
        var relations: [String]?
        var parameter = ""
        var isQuoted = false
        var isEscaped = false
        func note() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, relations == nil,
                parts[0].filter({ !$0.isWhitespace }).lowercased() == "rel"
            else { return }
            relations = parts[1].lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        }
        while let character = rest.popFirst() {
            switch character {
            case _ where isEscaped:
                parameter.append(character)
                isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                note()
                return relations ?? []
            case ";" where !isQuoted:
                note()
                parameter = ""
            default: parameter.append(character)
            }
        }
        note()
        return relations ?? []
    }
}
