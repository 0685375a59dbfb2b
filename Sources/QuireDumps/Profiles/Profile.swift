public import Quire

/// Where things are in the responses of one API, as data (Docs/profiles.md).
///
///     var profile = Profile.named("stackexchange")!
///     try profile.setKey(path: "last_activity_date")
public struct Profile: Sendable {
    /// What an id may be.
    public enum IDType: String, Sendable, CaseIterable {
        /// A number from 0 to 2⁶³ − 1.
        case integer
        case string
        /// A string, or a whole number as it is written.
        case any
    }

    /// What a key or version may be, and how it becomes the `Int64` that posts are ordered by.
    public enum KeyType: String, Sendable, CaseIterable {
        /// A whole number, as it is.
        case integer
        /// Any number, as an IEEE double whose bits are read as an integer of the same order.
        case number
        /// A date and time of RFC 3339, as microseconds since 1970, finer digits cut off.
        case date
        /// `integer` or `date`, by the first value of a page; the others of the page must agree.
        /// Never `number`: a server may write 5 beside 5.5, and the two would not compare.
        case auto
    }

    /// A short name, the one on the command line.
    public var name: String
    /// A line for people.
    public var title: String
    /// What the API promises about order, unless the caller knows better.
    public var order: OrderClass
    /// The protocol of its pages.
    public var paging: Paging
    /// The number of its first page.
    public var firstPage: Int

    var items: FieldPath
    /// A response without the array of items is an empty page.
    var mayOmitItems: Bool
    /// Each line is a document and an item.
    var isLines: Bool
    var post: FieldPath
    var hasOpaqueRows: Bool
    var id: IDField
    var key: KeyField?
    var version: KeyField?
    var next: LinkField?
    var previous: LinkField?
    var error: ErrorField?

    /// True if the posts have sort keys.
    public var hasKey: Bool { key != nil }

    /// The options of a feed of this API.
    public var options: FeedOptions {
        FeedOptions(order: order, paging: paging, firstPage: firstPage)
    }

    /// Takes the id from another field; `path` starts at the item.
    ///
    /// Throws `.data` if the path is malformed.
    public mutating func setID(path: String, type: IDType = .any) throws(DumpError) {
        id = IDField(path: try FieldPath(path), type: type)
    }

    /// Takes the sort key from another field; `path` starts at the item.
    ///
    /// Throws `.data` if the path is malformed.
    public mutating func setKey(path: String, type: KeyType = .auto) throws(DumpError) {
        key = KeyField(path: try FieldPath(path), type: type)
    }

    /// The profiles that come with Quire, by name.
    public static let builtIn: [Profile] = [
        // The tests read every built-in profile; a broken one never ships.
        try! Profile(json: PackageResources.stackexchange_json, name: "stackexchange.json")
    ]

    /// The built-in profile with this name, or nil.
    public static func named(_ name: String) -> Profile? { builtIn.first { $0.name == name } }
}

struct IDField: Sendable {
    var path: FieldPath
    var type: Profile.IDType
}

struct KeyField: Sendable {
    var path: FieldPath
    var type: Profile.KeyType
}

/// What says how the feed goes on.
struct LinkField: Sendable {
    /// The server's words for the next page.
    var token: FieldPath?
    /// Whether there is a next page.
    var more: FieldPath?
    /// What a token says at the end.
    var endToken: String?
    /// Without a token nothing is known, rather than the end reached.
    var isUnknownIfAbsent: Bool
}

/// What an error document has and a page has not.
struct ErrorField: Sendable {
    var path: FieldPath
    var name: FieldPath?
    var message: FieldPath?
}
