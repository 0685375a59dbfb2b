#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A link to the next page that is plainly the number of a page, or an offset: the address that was asked for
/// with another whole number, the one that follows.
///
/// Rows slide under such links while posts come and go (R26.9), so a list that has them must not be taken for
/// one with cursors. A cursor that happens to be a number has another name, or does not follow.
struct PositionLink: Equatable {
    /// The parameter that holds the number, or the member of the response.
    let name: String
    let value: Int
    let isOffset: Bool

    /// The link in words: `page=2`.
    var words: String {
        "its links are \(isOffset ? "offsets" : "page numbers") (\(printable(name, limit: 40))=\(value))"
    }

    private static let pages: Set<String> = [
        "page", "p", "pg", "paged", "pagenumber", "page_number", "page-number", "pageno", "page_no",
        "pagenum", "page_num", "pageindex", "page_index", "currentpage", "current_page", "_page",
        "page[number]",
    ]
    private static let offsets: Set<String> = [
        "offset", "start", "startat", "start_at", "startindex", "start_index", "start-index", "skip", "$skip",
        "from", "_start", "page[offset]",
    ]
    /// The size of a page. Servers add it to the address that was asked for.
    private static let sizes: Set<String> = [
        "limit", "size", "count", "per_page", "perpage", "per-page", "page_size", "pagesize", "page-size",
        "$top", "top", "_limit", "_per_page", "n", "num", "rows", "take", "max", "maxresults", "max_results",
        "max-results", "pagelen", "items_per_page", "page[size]", "page[limit]",
    ]
    /// Members of a response that hold the number of the next page itself.
    private static let members: Set<String> = ["next_page", "nextPage"]

    /// Reads a link of the response to a request.
    /// - Parameters:
    ///   - request: The address that was asked for.
    ///   - unseen: Parameters that the request had besides, as secrets are.
    ///   - rows: The number of items in the response.
    ///   - mayMove: True if the pages may be at another path than the first one.
    init?(
        _ link: String, of request: String, unseen: Set<String> = [], rows: Int, mayMove: Bool = false
    ) {
        guard let asked = URLComponents(string: request), let base = URL(string: request) else { return nil }
        let isQuery = link.contains("=") && !link.contains("?") && !link.contains("/")
        guard let url = URL(string: (isQuery ? "?\(link)" : link).validAddress, relativeTo: base),
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            mayMove || parts.percentEncodedPath.trimmed == asked.percentEncodedPath.trimmed,
            let before = asked.values, var after = parts.values
        else { return nil }
        // Such a link is a change of the request.
        if isQuery { after.merge(before) { changed, _ in changed } }
        guard before.keys.allSatisfy({ after[$0] != nil }) else { return nil }
        let changed = after.filter { before[$0.key] != $0.value && !unseen.contains($0.key) }
        let places = changed.filter { !Self.sizes.contains($0.key.lowercased()) }
        guard places.count == 1, let place = places.first, let value = Int(place.value), value > 0,
            changed.allSatisfy({ Int($0.value) != nil })
        else { return nil }
        let size = after.first { Self.sizes.contains($0.key.lowercased()) }.flatMap { Int($0.value) }
        self.init(place.key, value, after: before[place.key], steps: [rows, size ?? rows])
    }

    /// Reads a member of the response that holds a number and no address.
    init?(_ text: String, inMember name: String, of request: String) {
        guard Self.members.contains(name), let value = Int(text),
            let asked = URLComponents(string: request)?.values
        else { return nil }
        let numbers = asked.filter { Self.pages.contains($0.key.lowercased()) }
        guard numbers.count < 2 else { return nil }
        self.init("page", value, after: numbers.first?.value, steps: [], as: name)
    }

    /// - Parameters:
    ///   - steps: How many rows an offset may go on by.
    ///   - label: Where the number is, if not in that parameter.
    private init?(
        _ name: String, _ value: Int, after asked: String?, steps: [Int], as label: String? = nil
    ) {
        let known = name.lowercased()
        let number = asked.map { Int($0) }
        if let number, number == nil { return nil }
        if Self.pages.contains(known) {
            // A first page that has no number has 0 or 1.
            guard number.map({ $0.map { value == $0 + 1 } ?? false }) ?? (1...2 ~= value) else { return nil }
        } else if Self.offsets.contains(known) {
            // Some count rows from 1.
            let starts = number.map { [$0 ?? 0] } ?? [0, 1]
            guard starts.contains(where: { start in steps.contains { value == start + $0 && $0 > 0 } })
            else { return nil }
        } else {
            return nil
        }
        (self.name, self.value, isOffset) = (label ?? name, value, Self.offsets.contains(known))
    }
}

extension URLComponents {
    /// The parameters; nil if one occurs twice.
    fileprivate var values: [String: String]? {
        let items = queryItems ?? []
        let values = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        return values.count == items.count ? values : nil
    }
}

extension String {
    /// The path without a slash at its end.
    fileprivate var trimmed: Substring { last == "/" ? dropLast() : self[...] }
}
