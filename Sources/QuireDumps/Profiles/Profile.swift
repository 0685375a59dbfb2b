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
        /// A string.
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
    /// Who chooses how many rows a page has, where pages are asked for by number or position (R26).
    public var sizes: SizePolicy
    /// The JSON it was read from.
    public let source: String

    /// What responses of this API have; with lines, each line.
    var mark: Mark?
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
    /// The ids of the posts in the server's order, where the items come in another one.
    var sequence: FieldPath?
    var next: LinkField?
    var previous: LinkField?
    /// The link that was followed to the response.
    var own: Source?
    /// The token with which can be asked later what has changed (R29).
    var since: Source?
    /// The list of the ids that are gone, in an answer to that.
    var deleted: FieldPath?
    /// Which parameters of a request name a place, where the links do not say it.
    var request: RequestField?
    /// The places of the page's number; the first that is there counts.
    var page: [Source]
    var pages: Source?
    var total: Source?
    var pageSize: Source?
    /// Seconds to wait before the next request.
    var backoff: Source?
    /// How many requests are left.
    var quota: Source?
    /// Seconds until there are new ones.
    var quotaRenewal: Source?
    var error: ErrorField?

    /// True if the posts have sort keys.
    public var hasKey: Bool { key != nil }

    /// The options of a feed of this API.
    public var options: FeedOptions {
        FeedOptions(order: order, paging: paging, firstPage: firstPage, sizes: sizes)
    }

    /// Takes the items from another array; `path` starts at the document.
    ///
    /// Throws `.data` if the path is malformed, or the profile's links would lead through the items.
    public mutating func setItems(path: String) throws(DumpError) {
        var changed = self
        changed.items = try FieldPath(path)
        if let (_, problem) = changed.misplacedPath { throw DumpError(.data, problem) }
        self = changed
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

    /// The paths of fields outside the items.
    var outsidePaths: [FieldPath] {
        let paths = [
            isLines ? nil : mark?.path, sequence, next?.token?.path, next?.more,
            previous?.token?.path, previous?.more, own?.path, since?.path, deleted,
            pages?.path, total?.path, pageSize?.path, backoff?.path, quota?.path, quotaRenewal?.path,
            error?.path, error?.name, error?.message,
        ]
        return (paths + page.map(\.path)).compactMap(\.self)
    }

    /// The field with a path of the document that cannot be there, and why. Such a path would never be
    /// found, and so claim the end of the feed.
    var misplacedPath: (field: String, problem: String)? {
        let fields =
            [
                ("next", next?.token?.path), ("next", next?.more), ("previous", previous?.token?.path),
                ("previous", previous?.more), ("sequence", sequence), ("self", own?.path),
                ("since", since?.path), ("deleted", deleted),
                ("pages", pages?.path), ("total", total?.path),
                ("page_size", pageSize?.path), ("backoff", backoff?.path), ("quota", quota?.path),
                ("quota_renewal", quotaRenewal?.path),
                ("mark", isLines ? nil : mark?.path),
            ] + page.map { ("page", $0.path) }
        for case (let field, let path?) in fields {
            if path.keys.first == "^" && items.keys.isEmpty {
                return (field, "\(path): there is nothing around the items")
            }
            if path.resolved(around: items).keys.starts(with: items.keys) {
                return (field, "\(path) leads through the items")
            }
        }
        return nil
    }
}

/// A value that must be there.
struct Mark: Sendable {
    var path: FieldPath
    /// One of these must be part of it; if there are none, it may be anything.
    var texts: [String]
}

struct IDField: Sendable {
    var path: FieldPath
    var type: Profile.IDType
}

struct KeyField: Sendable {
    var path: FieldPath
    var type: Profile.KeyType
}

/// Where a value is that need not be in the body.
enum Source: Sendable, Hashable {
    case body(FieldPath)
    case header(String)
    /// A parameter of the address that was asked for.
    case query(String)
    /// The whole address that was asked for.
    case request

    var path: FieldPath? {
        if case .body(let path) = self { path } else { nil }
    }
}

/// What says how the feed goes on.
struct LinkField: Sendable {
    /// How the link comes about.
    enum Way: Sendable, Hashable {
        /// The server's words for the request.
        case token(Source)
        /// The address with this relation in the header `Link`.
        case relation(String)
        /// Made from the last post for what follows, from the first for what precedes.
        case template(Template)
        /// The server says which page of how many this is.
        case counted
        /// The server only says whether there is more.
        case flag
    }

    var way: Way
    /// Whether there is a next page.
    var more: FieldPath?
    /// What a token says at the end.
    var endToken: String?
    /// Without a token nothing is known, rather than the end reached.
    var isUnknownIfAbsent: Bool

    var token: Source? {
        if case .token(let source) = way { source } else { nil }
    }

    var isTemplate: Bool {
        if case .template = way { true } else { false }
    }

    /// It can be read without the headers.
    var isInBody: Bool {
        switch way {
        case .relation: false
        case .token(let source): source.path != nil
        case .template, .counted, .flag: true
        }
    }

    /// Pages are asked for by their numbers.
    var isNumbered: Bool { way == .counted || way == .flag }
}

/// The parameters of a request that name a place in the feed.
struct RequestField: Sendable {
    var below: [String]?
    var above: [String]?
    var newer: [String]?
    var around: [String]?
}

/// What an error document has and a page has not.
struct ErrorField: Sendable {
    var path: FieldPath
    var name: FieldPath?
    var message: FieldPath?
}
