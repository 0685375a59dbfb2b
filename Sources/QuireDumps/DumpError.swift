/// Why a dump could not be read, as a sentence that names the place: `9.json: item 17: no question_id`.
///
/// Text from the dump appears in it escaped and shortened, so that printing it is safe.
public struct DumpError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for programs; its raw value is stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// There is nothing to read at the path, or it may not be read.
        case noInput = "no-input"
        /// What was read is not what it should be.
        case data
        /// What was read is larger, or nested deeper, than permitted.
        case limit
    }

    /// What kind of error it is.
    public let kind: Kind
    /// A sentence for people that names the place.
    public let message: String

    /// An error of this kind.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }
}

/// Foreign text for a message: nothing in it moves a terminal's cursor or turns the direction of
/// writing, and it is cut after `limit` characters.
func printable(_ text: some StringProtocol, limit: Int = 80) -> String {
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
