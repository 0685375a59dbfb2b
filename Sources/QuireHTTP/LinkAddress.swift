import Foundation
import Quire

/// A link as it stands in a response: an address, parameters for the address of the list, or a token, of
/// which only the person who asks knows the parameter.
struct LinkAddress {
    private enum Kind { case address, parameters, token }

    private let text: String
    private let kind: Kind

    init(_ text: String) {
        self.text = text
        let hasParameter = Self.isParameter(text)
        if text.hasSuffix("="), !text.contains("?"), !hasParameter {
            kind = .token  // in Base64, which may begin with a slash
        } else if Self.beginsAddress(text) || Self.isPathWithQuery(text) {
            kind = .address
        } else {
            kind = hasParameter ? .parameters : .token
        }
    }

    private static func beginsAddress(_ text: String) -> Bool {
        ["/", "?", "./", "../"].contains(where: text.hasPrefix)
            || text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\//) != nil
    }

    /// Returns true for `messages?skip=20`. A token may have a question mark, too, but no parameter after it.
    private static func isPathWithQuery(_ text: String) -> Bool {
        guard let mark = text.firstIndex(of: "?") else { return false }
        let isPath = !text[..<mark].contains { $0 == "=" || $0 == ":" || $0 == "&" }
        return isPath && isParameter(text[text.index(after: mark)...])
    }

    /// Returns true if the text begins with a name and a value. The `=` at the end of Base64 is no value.
    private static func isParameter(_ text: some StringProtocol) -> Bool {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return false }
        let value = text[text.index(after: sign)...]
        return !value.isEmpty && !value.hasPrefix("=")
    }

    /// Returns the address that the link names: relative to another one (RFC 3986), or that with the
    /// parameters of the link in the place of its own.
    /// - Throws: ``HTTPSourceError`` for a token, and for what is no valid address.
    func url(from first: URL) throws(HTTPSourceError) -> URL {
        let link = text.validAddress
        let url: URL? =
            switch kind {
            case .address: URL(string: link, relativeTo: first)?.absoluteURL
            case .parameters: first.adding(link)
            case .token: throw HTTPSourceError(missing: "token")
            }
        guard let url else { throw HTTPSourceError("a link from the server is not a valid address") }
        return url
    }

    /// Returns the address below the server of a link that is relative to its page; nil for any other link.
    fileprivate func resolved(from page: URL) -> String? {
        guard kind == .address, text.hasPrefix("?") || text.hasPrefix(".") || Self.isPathWithQuery(text),
            let url = URL(string: text.validAddress, relativeTo: page)?.absoluteURL
        else { return nil }
        return url.path() + (url.query().map { "?\($0)" } ?? "")
    }
}

extension Link {
    /// Returns the link as it is to be stored. One that is relative to a page at another path than the list's
    /// would lead elsewhere from there, so it becomes an address.
    func stored(from page: URL, of list: URL) -> Link {
        guard case .token(let text) = self, page.path() != list.path() else { return self }
        return LinkAddress(text).resolved(from: page).map(Link.token) ?? self
    }
}

extension URL {
    /// Returns the URL with these parameters, which replace those with the same names. They are a part of a
    /// valid address.
    fileprivate func adding(_ parameters: String) -> URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        var added = URLComponents()
        added.percentEncodedQuery = parameters.replacing("#", with: "%23")
        let items = added.percentEncodedQueryItems ?? []
        let names = Set(items.map(\.name))
        let kept = (parts.percentEncodedQueryItems ?? []).filter { !names.contains($0.name) }
        parts.percentEncodedQueryItems = kept + items
        return parts.url
    }
}
