import Foundation
import QuireDumps
import QuirePaging

/// The address of a request, with places for the parts that vary:
/// `https://api.example.com/{site}/questions?page={page}&pagesize={limit}`.
///
/// A query parameter whose place has no value is left out, so the first page is requested without a number or
/// a token.
struct RequestTemplate: Sendable, Hashable {
    private enum Part: Hashable {
        case text(String)
        case place(String)
    }

    private let path: [Part]
    /// The parameters of the query.
    private let query: [[Part]]
    /// The names of all places.
    let places: Set<String>

    /// Parses a template. Throws if a brace is not closed or the text is not an HTTP address.
    init(_ text: String) throws(HTTPSourceError) {
        let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.parts(of: halves[0], in: text)
        var parameters: [[Part]] = []
        if halves.count == 2 {
            for parameter in halves[1].split(separator: "&") {
                parameters.append(try Self.parts(of: parameter, in: text))
            }
        }
        query = parameters
        places = Set(
            (path + parameters.flatMap(\.self)).compactMap { part in
                if case .place(let name) = part { name } else { nil }
            })
        let example = Dictionary(places.map { ($0, "1") }, uniquingKeysWith: { first, _ in first })
        guard let url = URL(string: try address(example)), url.host() != nil,
            url.scheme == "https" || url.scheme == "http"
        else { throw HTTPSourceError("\(text.debugDescription) is not an HTTP address") }
    }

    private static func parts(of piece: Substring, in text: String) throws(HTTPSourceError) -> [Part] {
        var parts: [Part] = []
        var rest = piece
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw HTTPSourceError("\(text.debugDescription) has a brace that is not closed")
            }
            let name = rest[rest.index(after: open)..<close]
            if name.isEmpty { throw HTTPSourceError("\(text.debugDescription) has a place without a name") }
            parts.append(.text(String(rest[..<open]).validAddress))
            parts.append(.place(String(name)))
            rest = rest[rest.index(after: close)...]
        }
        return parts + [.text(String(rest).validAddress)]
    }

    /// Returns the address with these values, escaped, in its places. Throws if the path lacks one.
    func address(_ values: [String: String]) throws(HTTPSourceError) -> String {
        guard let path = Self.filled(path, values) else {
            throw HTTPSourceError("the path of the address has a place for which there is no value")
        }
        let parameters = query.compactMap { Self.filled($0, values) }
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }

    /// Returns the filled text; nil if a place has no value.
    private static func filled(_ parts: [Part], _ values: [String: String]) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .text(let fixed): text += fixed
            case .place(let name):
                guard let value = values[name] else { return nil }
                text += value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
            }
        }
        return text
    }

    /// The characters that never need an escape (RFC 3986). Not `.alphanumerics`, which is Unicode's.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// An error in how a source was set up. It is not a network error, and a retry cannot help.
public struct HTTPSourceError: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
    /// The place that the template lacks, if it is that: `token`.
    public let missingPlace: String?
    /// True if a link of the server leads to another one.
    public let isOfOtherServer: Bool

    init(_ description: String) {
        (self.description, missingPlace, isOfOtherServer) = (description, nil, false)
    }

    init(missing place: String) {
        description = "the template has no place for {\(place)}"
        (missingPlace, isOfOtherServer) = (place, false)
    }

    init(otherServer: String) {
        description = "a link leads to another server, \(otherServer)"
        (missingPlace, isOfOtherServer) = (nil, true)
    }
}
