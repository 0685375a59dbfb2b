/// Why a dump could not be read, as a sentence that names the place: `9.json: item 17: no question_id`.
///
/// Text from the dump is escaped and shortened, so the message is safe to print.
public struct DumpError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for programs. The raw values are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// The path does not exist or cannot be read.
        case noInput = "no-input"
        /// The data does not match the profile, or is malformed otherwise.
        case data
        /// The data is not JSON, or not XML where that is read: it was cut, or is something else.
        case syntax
        /// The data is larger, or nested deeper, than permitted.
        case limit
        /// The server's answer says that the same request may succeed later.
        case later
        /// The server's answer says that the link of the request is of no use any more (R32).
        case expired
    }

    /// The kind of the error.
    public let kind: Kind
    /// A sentence for people that names the place.
    public let message: String

    /// Creates an error of this kind.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

/// Returns foreign text for a message, cut after `limit` characters. It cannot move a terminal's cursor or
/// change the direction of writing.
func printable(_ text: some StringProtocol, limit: Int = 80) -> String {
    if text.utf8.count <= limit, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return String(text) }
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
        if count == limit { return result + "…" }
        count += 1
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        default:
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}
