public import Quire

/// Describes, as data, where things are in the responses of one API (Docs/profiles.md).
///
///     var profile = Profile.named("stackexchange")!
///     try profile.setKey(path: "last_activity_date")
public struct Profile: Sendable {
    /// The type of an id.
    public enum IDType: String, Sendable, CaseIterable {
        /// A number from 0 to 2⁶³ − 1.
        case integer
        /// A string.
        case string
        /// A string, or a whole number as written.
        case any
    }

    /// The type of a key or version, and how it becomes the `Int64` by which posts are ordered.
    public enum KeyType: String, Sendable, CaseIterable {
        /// A whole number, unchanged.
        case integer
        /// Any number, as an IEEE double converted to an integer of the same order.
        case number
        /// A date and time of RFC 3339, in microseconds since 1970. Finer digits are cut off.
        case date
        /// `integer` or `date`, depending on the first value of a page; the other values must agree. Never
        /// `number`, because a server may write both 5 and 5.5, which would not compare.
        case auto
    }

    /// A short name, used on the command line.
    public var name: String
    /// The name of the profile of an API that there is none for: a first response is all that is known of it.
    static let unknownName = "unknown"
    /// A one-line description.
    public var title: String
    /// What the API promises about the order, by default.
    public var order: OrderClass
    /// How the API divides the list into pages.
    public var paging: Paging
    /// The number of its first page.
    public var firstPage: Int
    /// How the page size is chosen, if pages are requested by number or position (R26).
    public var sizes: SizePolicy
    /// The JSON text of the profile.
    public var source: String { text() }
    /// Returns it; of a profile that was made of another one, when it is asked for.
    var text: @Sendable () -> String

    /// A value that responses of this API have; with lines, each line.
    var mark: Mark?
    /// Texts of which nearly every response has one. Without one, a response is not taken for one of this
    /// API.
    var signs: [String]
    var items: FieldPath
    /// Which response without the array of items is an empty page.
    var emptyPage: ItemsAbsence
    /// True if each line is a document and an item.
    var isLines: Bool
    var post: FieldPath
    var hasOpaqueRows: Bool
    var id: IDField
    var key: KeyField?
    var version: KeyField?
    /// The list of the post ids in the server's order, if the items come in another one.
    var sequence: FieldPath?
    var next: LinkField?
    var previous: LinkField?
    /// The link that led to the response.
    var own: Source?
    /// The token with which to ask later what has changed (R29).
    var since: Source?
    /// The list of deleted ids in an answer to that.
    var deleted: FieldPath?
    /// The request parameters that name a place, unless the links tell.
    var request: RequestField?
    /// How the bodies of posts are asked for, if the responses bring only ids.
    var bodies: BodiesField?
    /// How a request says by what the list is sorted.
    var sort: SortField?
    /// The sources of the page number. The first one that has a value is used.
    var page: [Source]
    var pages: Source?
    var total: Source?
    var pageSize: Source?
    /// The seconds to wait before the next request.
    var backoff: Source?
    /// The number of requests left.
    var quota: Source?
    /// The seconds until there are new ones.
    var quotaRenewal: Source?
    var error: ErrorField?

    /// True if the posts have sort keys.
    public var hasKey: Bool { key != nil }

    /// The options for a feed of this API.
    public var options: FeedOptions {
        FeedOptions(order: order, paging: paging, firstPage: firstPage, sizes: sizes)
    }

    /// Takes the items from another array; `path` starts at the document.
    ///
    /// Throws `.data` if the path is malformed, or a link of the profile would then be inside the items.
    public mutating func setItems(path: String) throws(DumpError) {
        var changed = self
        changed.items = try FieldPath(path)
        if let (_, problem) = changed.misplacedPath { throw DumpError(.data, problem) }
        self = changed
    }

    /// Takes the id from another field; `path` starts at the item.
    ///
    /// Throws `.data` if the path is malformed, or names a field although the items are the ids.
    public mutating func setID(path: String, type: IDType = .any) throws(DumpError) {
        let path = try FieldPath(path)
        if id.path.keys.isEmpty && !path.keys.isEmpty {
            throw DumpError(.data, "\(path): profile \(name) reads a list of ids, which have no fields")
        }
        id = IDField(path: path, type: type)
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
        ]
        return (paths + page.map(\.path)).compactMap(\.self) + (error?.paths ?? [])
    }

    /// The link whose template needs a key of another type.
    var misplacedTemplate: (field: String, problem: String)? {
        for (field, link) in [("next", next), ("previous", previous)] {
            guard case .template(let template)? = link?.way, template.needsKey, key?.type != .integer else {
                continue
            }
            return (field, "{key} needs a key of type integer")
        }
        return nil
    }

    /// The field whose path in the document is impossible, and why. Such a path would never be found, and so
    /// claim the end of the feed.
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
    /// One of these must be part of it. If there are none, any value will do.
    var texts: [String]
}

struct IDField: Sendable {
    var path: FieldPath
    var type: Profile.IDType
    /// The ids of other lists of the API, whose items have this field, too.
    var instead: [FieldPath] = []
}

struct KeyField: Sendable {
    var path: FieldPath
    var type: Profile.KeyType
}

/// The place of a value that may be outside the body.
enum Source: Sendable, Hashable {
    case body(FieldPath)
    case header(String)
    /// A parameter of the requested address.
    case query(String)
    /// The whole requested address.
    case request

    var path: FieldPath? {
        if case .body(let path) = self { path } else { nil }
    }
}

/// What a response without the array of items is.
enum ItemsAbsence: String, Sendable, CaseIterable {
    case error
    /// A page without items.
    case empty
    /// A page without items if the array is null; else an error.
    case null
}

/// What a response without a token says about the feed.
enum LinkAbsence: String, Sendable, CaseIterable {
    case end, unknown
    /// The end if the token is null, false or empty; else nothing.
    case null
}

/// What the end means that a page without posts reports.
enum EmptyEnd: String, Sendable, CaseIterable {
    case end
    /// Perhaps the post that the link names is gone.
    case doubtful
}

/// How a response says where the feed continues.
struct LinkField: Sendable {
    /// How the link is formed.
    enum Way: Sendable, Hashable {
        /// A token in the server's own words.
        case token(Source)
        /// The address with this relation in the header `Link`.
        case relation(String)
        /// A template, filled from the last post for what follows, or from the first for what precedes.
        case template(Template)
        /// The numbers of this page and of all pages.
        case counted
        /// A flag that says only whether there is more.
        case flag
        /// What looks like a link to the next page, wherever the response has it.
        case found
    }

    var way: Way
    /// Whether there is a next page.
    var more: FieldPath?
    /// The value of a token at the end.
    var endToken: String?
    /// What a missing token means.
    var absence: LinkAbsence
    /// What the end means that a page without posts reports.
    var emptyEnd: EmptyEnd

    var token: Source? {
        if case .token(let source) = way { source } else { nil }
    }

    var isTemplate: Bool {
        if case .template = way { true } else { false }
    }

    /// True if it can be read without the headers.
    var isInBody: Bool {
        switch way {
        case .relation: false
        case .token(let source): source.path != nil
        case .template, .counted, .flag, .found: true
        }
    }

    /// True if pages are requested by number.
    var isNumbered: Bool { way == .counted || way == .flag }
}

/// The request parameters that name a place in the feed.
struct RequestField: Sendable {
    var below: [String]?
    var above: [String]?
    var newer: [String]?
    var around: [String]?
    /// The parameter with the number of posts on a page.
    var size: String?
    /// The parameter with the number of a page, if the field `page` does not name it.
    var page: String?
    /// The parameter with the position at which a page begins.
    var offset: String?
    /// The parameter with the token of the next page, if neither `self` nor `below` names it.
    var token: String?
    /// The body of each request, which is then a POST.
    var body: RequestBody?
}

/// How the bodies of posts are asked for, and read.
struct BodiesField: Sendable {
    /// With a place `{ids}`; relative to the address of the list.
    var address: String
    /// The id of a post, from its body.
    var id: FieldPath
    /// The posts in a response; at the empty path, the response may also be one post.
    var items: FieldPath
}

/// The request parameter that says by what the server sorts.
struct SortField: Sendable {
    /// What a value of the parameter means.
    struct Way: Sendable {
        var order: OrderClass
        /// The field that descends; nil if none does.
        var key: FieldPath?
    }

    var query: String
    /// The value that counts if the request has none.
    var usual: String?
    var ways: [String: Way]
    /// The parameter and value that turn the list around: `order=asc`.
    var ascending: String?
}

/// A value that only an error document has.
struct ErrorField: Sendable {
    var path: FieldPath
    /// The places of its name. The first one that has a value counts.
    var names: [FieldPath]
    var message: FieldPath?
    /// The names of errors that pass by themselves.
    var later: [String]
    /// The names of errors that say that the link of the request is of no use any more.
    var expired: [String]

    var paths: [FieldPath] { [path] + names + [message].compactMap(\.self) }
}

extension Profile {
    /// Returns the profile for a list of items without their response.
    func forItems(areLines: Bool) -> Profile {
        var profile = self
        profile.items = .here
        profile.emptyPage = .error
        if !isLines {  // a list of items has nothing of what it says of a document
            (profile.mark, profile.sequence, profile.error) = (nil, nil, nil)
            (profile.next, profile.previous, profile.own) = (nil, nil, nil)
            (profile.page, profile.pages, profile.total) = ([], nil, nil)
            (profile.pageSize, profile.backoff) = (nil, nil)
        }
        profile.isLines = areLines
        return profile
    }
}
