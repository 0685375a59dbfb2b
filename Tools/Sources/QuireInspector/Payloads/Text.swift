import Foundation
import Quire

/// Bytes of a cache as text for a page: cut, and with U+FFFD in the place of what is not UTF-8. It is data;
/// the page never takes it for markup.
struct CutText: Encodable {
    let text: String
    /// The size of the whole in bytes.
    let bytes: Int
    let isCut: Bool

    /// Takes at most `limit` bytes.
    init(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        var end = min(max(0, limit), bytes.count)
        isCut = end < bytes.count
        // A character is not cut in the middle: the byte behind the cut does not go on with one.
        while isCut, end > 0, end + 4 > limit, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        let part = bytes[..<end]
        text = String(decoding: part, as: UTF8.self)
        self.bytes = bytes.count
    }

    private enum CodingKeys: String, CodingKey {
        case text, bytes
        case isCut = "cut"
    }
}

/// Text of a cache that should be short: an id, a link, a name.
func brief(_ text: String, limit: Int = 300) -> String {
    text.utf8.count <= limit ? text : String(text.prefix(limit)) + "…"
}

func brief(_ id: PostID) -> String { brief(id.description, limit: 120) }

extension Link {
    /// The kind of link, which distinguishes a token `end` from the end.
    public var kind: String {
        switch self {
        case .unknown: "unknown"
        case .end: "end"
        case .confirmEnd: "confirm-end"
        case .head: "head"
        case .more: "more"
        case .token: "token"
        case .below: "below"
        case .above: "above"
        }
    }
}

/// A link as the page gets it.
struct LinkText: Encodable {
    let kind: String
    let text: String

    init(_ link: Link) { (kind, text) = (link.kind, brief(link.description)) }
}

/// An id in an address: its bytes in base64url.
enum IDText {
    static func encoded(_ id: PostID) -> String {
        Data(id.bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    static func decoded(_ text: String) -> PostID? {
        var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { PostID(bytes: $0) }
    }
}
