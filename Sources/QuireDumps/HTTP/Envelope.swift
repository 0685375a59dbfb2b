#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What was received with the body of a response: the requested address, the status, the headers.
///
/// It comes from a file beside the body, or from the start of a recorded exchange. The text is that of
/// HTTP/1: an optional request line, an optional status line, headers, an empty line, as written by `curl -i`
/// and `curl -D`. If there are several responses, as after a redirection, the last one is used.
///
///     GET https://api.example.com/issues?page=2
///     HTTP/2 200
///     link: <https://api.example.com/issues?page=3>; rel="next"
public struct Envelope: Sendable, Hashable {
    /// The requested address, without a default port; nil if it was not recorded.
    public var request: String?
    /// The status; nil if it was not recorded.
    public var status: Int?
    private var headers: [Header] = []

    private struct Header: Hashable {
        /// In lower case.
        let name: String
        let value: String
    }

    /// False if only the request was recorded. Then the headers are unknown, not missing.
    var hasHeaders: Bool { status != nil || !headers.isEmpty }

    /// The maximum number of its bytes.
    static let limit = 1 << 20

    /// Creates an envelope without headers from the requested address and the status of the response.
    public init(request: String? = nil, status: Int? = nil) {
        self.request = request.map(Self.asLinked)
        self.status = status
    }

    /// Reads an envelope from a file of its own; `name` is used in messages.
    ///
    /// Throws `.data` with the number of a malformed line, and `.limit` above 1 MiB.
    public init(_ bytes: [UInt8], name: String) throws(DumpError) {
        do throws(DumpError) {
            (self, _) = try Self.split(bytes[...])
        } catch {
            throw DumpError(error.kind, "\(printable(name, limit: 400)): \(error.message)")
        }
    }

    /// Adds a header. The same name may be added several times.
    public mutating func add(_ name: String, _ value: String) {
        headers.append(Header(name: name.lowercased(), value: value))
    }

    /// The value of a header; nil if there is none. The values of several are joined by commas.
    public subscript(name: String) -> String? {
        let name = name.lowercased()
        let values = headers.lazy.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The parameters of the requested address, by name.
    var parameters: [String: String] {
        guard let request, let items = URLComponents(string: request)?.queryItems else { return [:] }
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    /// Returns a parameter of the requested address; nil if it has none.
    func parameter(_ name: String) -> String? {
        guard let request, let address = URLComponents(string: request) else { return nil }
        return address.queryItems?.first { $0.name == name }?.value
    }

    /// Returns true if a document is a recorded exchange. JSON never begins like this.
    static func leads(_ document: ArraySlice<UInt8>) -> Bool {
        [Array("HTTP/".utf8), Array("GET http".utf8)].contains { document.starts(with: $0) }
    }

    /// Returns the envelope at the start of a recorded exchange, and the body after it.
    static func split(
        _ bytes: ArraySlice<UInt8>
    ) throws(DumpError) -> (envelope: Envelope, body: ArraySlice<UInt8>) {
        var envelope = Envelope()
        var rest = bytes
        var number = 0
        while let line = takeLine(&rest) {
            number += 1
            guard rest.startIndex - bytes.startIndex <= limit else {
                throw DumpError(.limit, "the headers are above the limit of \(megabytes(limit)) MB")
            }
            if line.isEmpty {
                // Another response follows an interim one or a redirection.
                guard rest.starts(with: Array("HTTP/".utf8)) else { break }
            } else {
                try envelope.take(line, number: number)
            }
        }
        return (envelope, rest)
    }

    private mutating func take(_ line: String, number: Int) throws(DumpError) {
        let words = line.split(separator: " ", maxSplits: 2)
        if number == 1, words.count >= 2, words[0] == "GET" {
            request = Self.asLinked(String(words[1]))
        } else if line.hasPrefix("HTTP/") {
            guard words.count >= 2, let status = Int(words[1]), 100..<1_000 ~= status else {
                throw DumpError(.data, "line \(number) has no status code: \"\(printable(line, limit: 40))\"")
            }
            (self.status, headers) = (status, [])
        } else {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw DumpError(.data, "line \(number) is not a header: \"\(printable(line, limit: 40))\"")
            }
            let isBlank = { (character: Character) in character == " " || character == "\t" }
            let value = line[line.index(after: colon)...].drop(while: isBlank)
            let end = value.lastIndex { !isBlank($0) }
            add(String(line[..<colon]), end.map { String(value[...$0]) } ?? "")
        }
    }

    /// Removes the first line and returns it without its end; nil if nothing is left.
    private static func takeLine(_ bytes: inout ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty else { return nil }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        var line = bytes[..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        bytes = bytes[min(end + 1, bytes.endIndex)...]
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns a valid address without a default port: `https://a:443/b` becomes `https://a/b`. Recorders
    /// write it, links of servers do not.
    private static func asLinked(_ text: String) -> String {
        let address = text.validAddress
        guard var parts = URLComponents(string: address), let port = parts.port,
            (parts.scheme == "https" && port == 443) || (parts.scheme == "http" && port == 80)
        else { return address }
        parts.port = nil
        return parts.string ?? address
    }
}
