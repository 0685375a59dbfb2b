/// What a request that no profile explains says about the field by which its list is sorted:
/// `sort=-updated_at`, `$orderby=lastModified desc`, `jql=… order by updated DESC`.
struct RequestedSort {
    /// The parameter, as the request has it.
    let text: String
    /// The words of its value, without what differs from API to API.
    private let words: [Substring]

    /// Values that mean a list by merit, whatever its times are.
    private static let merits = Set(
        [
            "votes", "score", "top", "hot", "best", "popular", "popularity", "relevance", "trending", "stars",
            "random", "rank", "ranking", "rating", "views", "comments", "likes", "controversial", "rising",
        ].map { plain($0[...]) })
    private static let directions: Set<Substring> = ["asc", "ascending", "desc", "descending"]

    /// Returns nil if no parameter names a field.
    init?(_ parameters: [String: String]) {
        var said: [String] = []
        var words: [Substring] = []
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            let lowercased = name.lowercased()
            guard lowercased.contains("sort") || lowercased.contains("order") || lowercased == "jql" else {
                continue
            }
            var rest = value.lowercased()[...]
            if let start = rest.firstRange(of: "order by") { rest = rest[start.upperBound...] }
            let found = rest.split { !($0.isLetter || $0.isNumber || "_-".contains($0)) }
                .filter { !Self.directions.contains($0) }
            if found.isEmpty { continue }
            words += found.map(Self.plain)
            said.append("\(printable(name, limit: 40))=\(printable(value, limit: 80))")
        }
        if words.isEmpty { return nil }
        (self.words, text) = (words, said.joined(separator: "&"))
    }

    /// True if the list is sorted by what people think of its posts.
    var isByMerit: Bool { words.contains { Self.merits.contains($0) } }

    /// Returns the field that the value names first, of these.
    func field(of fields: [OrderFinding.Field]) -> OrderFinding.Field? {
        for word in words {
            let named = fields.first { field in
                Self.plain(field.path.lowercased().split(separator: ".").last ?? "") == word
            }
            if let named { return named }
        }
        return nil
    }

    /// Returns `updat` for `updated_at`, `-updatedAt`, `last_updated` and `updates`: APIs name the same thing
    /// in many ways.
    private static func plain(_ word: Substring) -> Substring {
        var plain = word.hasSuffix("_on") ? word.dropLast(3) : word
        plain = plain.filter { $0 != "_" && $0 != "-" }[...]
        for start in ["last", "date"] where plain.hasPrefix(start) && plain.count > start.count + 2 {
            plain = plain.dropFirst(start.count)
        }
        for ends in [["datetime", "date", "time", "utc", "at", "ts"], ["ed", "es", "e", "s", "d"]] {
            if let end = ends.first(where: { plain.hasSuffix($0) && plain.count > $0.count + 2 }) {
                plain = plain.dropLast(end.count)
            }
        }
        return plain
    }
}
