extension Profile {
    /// Explains each field of the profile in words, in the order of Docs/profiles.md.
    public var explanation: [(field: String, text: String)] {
        var lines: [(field: String, text: String)] = []
        func add(_ field: String, _ text: String?) {
            if let text { lines.append((field, text)) }
        }
        add(
            "mark",
            mark.map { mark in
                let texts = mark.texts.map { "\"\(printable($0))\"" }.joined(separator: " or ")
                return "\(mark.path) \(texts.isEmpty ? "is there" : "has \(texts) in it")"
            })
        add("signs", signs.isEmpty ? nil : signs.map { printable($0) }.joined(separator: " or "))
        add("items", itemsInWords)
        add("post", post.keys.isEmpty ? nil : "\(post) of the item")
        let instead = id.instead.map(\.text).joined(separator: " or ")
        add(
            "id",
            "\(id.path) of the item, \(id.type.inWords)"
                + (instead.isEmpty ? "" : "; \(instead), if all items have one"))
        add("key", key.map { "\($0.path), \($0.type.inWords)" })
        add("version", version.map { "\($0.path), \($0.type.inWords)" })
        add("next", next.map { $0.inWords("last") } ?? "not told")
        add("previous", previous.map { $0.inWords("first") })
        add("self", own.map { "\($0) names this page, as the one above names the next" })
        add("since", since.map { "\($0), with which can be asked what has changed" })
        add("deleted", deleted.map { "\($0), the ids of posts that are gone" })
        let places = places
        for (names, place) in [
            (places.below, "a page below another"), (places.above, "what lies above a post"),
            (places.newer, "what is newer than a post"), (places.around, "what lies around a post"),
        ] where !names.isEmpty {
            add("request", "\(names.map { printable($0) }.joined(separator: " or ")) asks for \(place)")
        }
        let parameters = requestParameters
        add("size", parameters.size.map { "the parameter \(printable($0)) of the request" })
        add("body", requestBody.map { _ in "requests are POST, with a body" })
        add("bodies", bodies.map { "asked for at \(printable($0.address)), each with \($0.id)" })
        add("sort", sort.map { "the parameter \(printable($0.query)) of the request" })
        add("page", page.isEmpty ? nil : page.map(\.description).joined(separator: ", or "))
        for (field, source) in [
            ("pages", pages), ("total", total), ("page size", pageSize),
            ("backoff", backoff), ("quota", quota), ("quota renewal", quotaRenewal),
        ] {
            add(field, source.map(\.description))
        }
        add("error", error.map { "a response with \($0.path) is an error document" })
        let later = error.map { $0.later.map { printable($0) }.joined(separator: " or ") } ?? ""
        add("later", later.isEmpty ? nil : "\(later): the same request may succeed later")
        let expired = error.map { $0.expired.map { printable($0) }.joined(separator: " or ") } ?? ""
        add("expired", expired.isEmpty ? nil : "\(expired): the link of the request is forgotten")
        add("order", order.rawValue)
        add("paging", isNumberedFrom.map { "\(paging.rawValue), the first is \($0)" } ?? paging.rawValue)
        add("sizes", sizesInWords)
        return lines
    }

    private var isNumberedFrom: Int? { paging == .page ? firstPage : nil }

    private var sizesInWords: String? {
        switch sizes {
        case .free: "as many rows on a page as are asked for"
        case .fixed(let rows): "\(rows) rows on a page, whatever is asked for"
        case .unknown: nil
        }
    }

    private var itemsInWords: String {
        if isLines { return "one on each line" }
        let place = items.keys.isEmpty ? "the document itself" : items.description
        let list = sequence.map { "\(place), an object, in the order of \($0)" } ?? "\(place), an array"
        return switch emptyPage {
        case .error: list
        case .empty: list + "; without it the page is empty"
        case .null: list + "; if it is null the page is empty"
        }
    }
}

extension Profile.IDType {
    fileprivate var inWords: String {
        switch self {
        case .integer: "an integer"
        case .string: "a string"
        case .any: "a string or an integer"
        }
    }
}

extension Profile.KeyType {
    fileprivate var inWords: String {
        switch self {
        case .integer: "an integer"
        case .number: "a number"
        case .date: "a date"
        case .auto: "an integer or a date"
        }
    }
}

extension LinkField {
    fileprivate func inWords(_ post: String) -> String {
        let flag = more.map { "\($0) says whether there is more" }
        let words: String
        switch way {
        case .flag: return flag ?? ""
        case .counted: return "there is more until the last page"
        case .found: return "what looks like a link to the next page"
        case .template(let template): words = "\(template), of the \(post) post"
        case .relation(let relation): words = "rel=\"\(printable(relation))\" of the header Link"
        case .token(let source): words = source.description
        }
        if let flag { return "\(words); \(flag)" }
        if isTemplate { return words }
        let end = endToken.map { " or \"\(printable($0))\"" } ?? ""
        let rest =
            switch absence {
            case .end: "without it\(end) the end"
            case .unknown: "without it nothing is known"
            case .null: "null\(end) is the end, and without it nothing is known"
            }
        return "\(words); \(rest)" + (emptyEnd == .doubtful ? ", but not on a page without posts" : "")
    }
}

extension Template: CustomStringConvertible {
    /// The text as written.
    var description: String {
        parts.map { part in
            switch part {
            case .text(let text): printable(text)
            case .id: "{id}"
            case .key: "{key}"
            }
        }.joined()
    }
}
