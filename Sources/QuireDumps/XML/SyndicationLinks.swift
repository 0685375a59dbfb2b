import Quire

/// Where an RSS or Atom document lies in its list, as its own links say (RFC 5005).
struct SyndicationLinks {
    /// The addresses of the document's own links by relation.
    private var links: [String: String] = [:]
    private var isComplete = false
    private var isArchive = false

    private static let atom = "http://www.w3.org/2005/Atom link"
    private static let history = "http://purl.org/syndication/history/1.0"

    /// Reads an element that is in no item. Returns false if it says nothing of this. `origin` is the address
    /// of the document, if it is known.
    mutating func read(_ name: String, _ attributes: XMLParser.Attributes, origin: String?) -> Bool {
        if name == Self.atom, let relation = attributes["rel"], let address = attributes["href"] {
            let complete = resolved(address, against: attributes.base ?? origin)
            links[relation.lowercased()] = links[relation.lowercased()] ?? complete
        } else if name == "\(Self.history) complete" {
            isComplete = true
        } else if name == "\(Self.history) archive" {
            isArchive = true
        } else {
            return false
        }
        return true
    }

    /// Where the list goes on.
    var next: Link {
        if isComplete { return .end }
        if let address = links["next"] ?? links["prev-archive"] { return .token(address) }
        return isBelow ? .end : .unknown
    }

    /// True if the list goes on with an archive.
    var leadsToArchive: Bool { links["next"] == nil && links["prev-archive"] != nil && !isComplete }

    /// True if the document is not the top of its list.
    var isBelow: Bool { isArchive || links["previous"] != nil || links["prev"] != nil }

    /// The address of the document, as it says.
    var own: String? { links["self"] }
}
