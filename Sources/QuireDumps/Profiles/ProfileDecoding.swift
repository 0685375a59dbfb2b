import Quire
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Profile {
    /// Reads a profile; `name` is used in messages.
    ///
    /// Throws `.data` with the name of the field that is unknown, missing or malformed.
    public init(json: [UInt8], name: String) throws(DumpError) {
        do {
            try Contents.requireSound(json)
            let decoder = JSONDecoder()
            decoder.userInfo[Contents.source] = String(decoding: json, as: UTF8.self)
            self = try decoder.decode(Contents.self, from: Data(json)).profile
        } catch {
            let problem = (error as? DumpError)?.message ?? sentence(for: error)
            throw DumpError(.data, "\(printable(name, limit: 400)): \(problem)")
        }
    }
}

/// A profile in JSON. Separate from ``Profile``, so that callers do not get its `Decodable` conformance.
private struct Contents: Decodable {
    let profile: Profile

    static let source = CodingUserInfoKey(rawValue: "source")!

    /// Finds what Foundation's decoder does not: the place of a JSON error, and duplicate fields.
    static func requireSound(_ json: [UInt8]) throws(DumpError) {
        let outcome = everyField.withLock { fields in
            Result { () throws(DumpError) in try fields.requireSound(json) }
        }
        try outcome.get()
    }

    /// Kept, because preparing the search for about eighty fields takes longer than reading a profile.
    private static let everyField = Mutex(EveryField())

    init(from decoder: any Decoder) throws {
        let fields = try ProfileFields(decoder, known: Set(ProfileFields.known.keys))
        let name = try fields.string("name")
        profile = Profile(
            name: name, title: try fields.value("title", String.self) ?? name,
            order: try fields.choice("order", among: OrderClass.allCases) ?? .keyless,
            paging: try fields.choice("paging", among: Paging.allCases) ?? .cursor,
            firstPage: try fields.value("first_page", Int.self) ?? 1,
            sizes: try fields.sizes("sizes") ?? .unknown,
            text: { [source = decoder.userInfo[Self.source] as? String ?? ""] in source },
            mark: try fields.object("mark") {
                Mark(
                    path: try $0.path("path") ?? $0.missing("path"),
                    texts: try $0.value("contains", [String].self) ?? [])
            },
            signs: try fields.value("signs", [String].self) ?? [],
            items: try fields.path("items") ?? .here,
            emptyPage: try fields.choice("items_absent", among: ItemsAbsence.allCases) ?? .error,
            isLines: try fields.value("lines", Bool.self) ?? false,
            post: try fields.path("post") ?? .here,
            hasOpaqueRows: try fields.value("opaque_rows", Bool.self) ?? false,
            id: try fields.object("id") {
                IDField(
                    path: try $0.path("path") ?? .here,
                    type: try $0.choice("type", among: Profile.IDType.allCases) ?? .any,
                    instead: try $0.paths("instead"))
            } ?? fields.missing("id"),
            key: try fields.key("key"), version: try fields.key("version"),
            sequence: try fields.path("sequence"),
            next: try fields.link("next"), previous: try fields.link("previous"),
            own: try fields.source("self"), since: try fields.source("since"),
            deleted: try fields.path("deleted"),
            request: try fields.object("request", Self.request),
            bodies: try fields.object("bodies", Self.bodies),
            sort: try fields.object("sort", Self.sort),
            page: try fields.object("page") { try $0.places() } ?? [],
            pages: try fields.source("pages"), total: try fields.source("total"),
            pageSize: try fields.source("page_size"), backoff: try fields.source("backoff"),
            quota: try fields.source("quota"), quotaRenewal: try fields.source("quota_renewal"),
            error: try fields.object("error") {
                ErrorField(
                    path: try $0.path("path") ?? $0.missing("path"), names: try $0.paths("name"),
                    message: try $0.path("message"), later: try $0.value("later", [String].self) ?? [],
                    expired: try $0.value("expired", [String].self) ?? [])
            })
        try check(fields)
    }

    /// Checks combinations of fields that exclude each other.
    private func check(_ fields: ProfileFields) throws {
        if !Self.isName(profile.name) {
            throw fields.problem("name", "not 1 to 40 small letters, digits and hyphens")
        }
        if !(0...1_000_000 ~= profile.firstPage) {
            throw fields.problem("first_page", "not from 0 to 1000000")
        }
        if fields.has("sizes"), profile.paging != .page, profile.paging != .offset {
            throw fields.problem("sizes", "only paging page and offset have it")
        }
        if fields.has("bodies"), profile.paging != .ids {
            throw fields.problem("bodies", "only paging ids has them")
        }
        let outside = [
            "items", "items_absent", "sequence", "self", "since", "deleted", "request", "bodies", "page",
            "pages", "total", "sort", "page_size", "backoff", "quota", "quota_renewal", "error",
        ]
        if profile.isLines, let field = outside.first(where: fields.has) {
            throw fields.problem(field, "lines have no document around them")
        }
        if let (field, problem) = profile.misplacedTemplate { throw fields.problem(field, problem) }
        for (field, link) in [("next", profile.next), ("previous", profile.previous)] {
            switch link?.way {
            case .counted where field == "previous":
                throw fields.problem(field, "only next can be counted")
            case .found where field == "previous":
                throw fields.problem(field, "only next can be found")
            case .counted where profile.page.isEmpty:
                throw fields.problem(field, "counting needs page")
            case .counted where profile.pages == nil && (profile.total == nil || profile.pageSize == nil):
                throw fields.problem(field, "counting needs pages, or total and page_size")
            case .template where link?.more == nil, .relation: break
            case .some where profile.isLines:
                throw fields.problem(field, "lines have no document around them")
            default: break
            }
        }
        if let (field, problem) = profile.misplacedPath { throw fields.problem(field, problem) }
    }

    private static func request(_ fields: ProfileFields) throws -> RequestField {
        let request = RequestField(
            below: try fields.value("below", [String].self), above: try fields.value("above", [String].self),
            newer: try fields.value("newer", [String].self),
            around: try fields.value("around", [String].self),
            size: try fields.parameter("size"), page: try fields.parameter("page"),
            offset: try fields.parameter("offset"), token: try fields.parameter("token"),
            body: try fields.value("body", RequestBody.self))
        var seen: Set<String> = []
        for (field, names) in [
            ("below", request.below), ("above", request.above), ("newer", request.newer),
            ("around", request.around),
        ] {
            for name in names ?? [] where name.isEmpty || !seen.insert(name).inserted {
                throw fields.problem(
                    field, name.isEmpty ? "is empty" : "\"\(printable(name))\" is there twice")
            }
        }
        return request
    }

    private static func bodies(_ fields: ProfileFields) throws -> BodiesField {
        let address = try fields.string("address")
        if address.ranges(of: "{ids}").count != 1 {
            throw fields.problem("address", "\"\(printable(address))\" does not have {ids} once")
        }
        return BodiesField(
            address: address, id: try fields.path("id") ?? FieldPath("id"),
            items: try fields.path("items") ?? .here)
    }

    private static func sort(_ fields: ProfileFields) throws -> SortField {
        var ways: [String: SortField.Way] = [:]
        for order in [OrderClass.bump, .stable] {
            for (value, path) in try fields.value(order.rawValue, [String: String].self) ?? [:] {
                do throws(DumpError) {
                    ways[value] = SortField.Way(order: order, key: try FieldPath(path))
                } catch { throw fields.problem(order.rawValue, error.message) }
            }
        }
        for value in try fields.value("ranked", [String].self) ?? [] {
            ways[value] = SortField.Way(order: .ranked, key: nil)
        }
        let usual = try fields.value("usual", String.self)
        if let usual, ways[usual] == nil {
            throw fields.problem("usual", "\"\(printable(usual))\" is not one of the ways to sort")
        }
        return SortField(
            query: try fields.string("query"), usual: usual, ways: ways,
            ascending: try fields.value("ascending", String.self))
    }

    private static func isName(_ text: String) -> Bool {
        1...40 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
            }
    }
}

/// Searches for every field that a profile can have. Without an array of items, the document is the only
/// item.
private struct EveryField {
    private let scanner = Scanner(depth: PageParser.depthLimit)
    private let slots: [(name: String, slot: Scanner.Slot)]

    init() {
        let names = ProfileFields.known.flatMap { name, fields in [name] + fields.map { "\(name).\($0)" } }
        slots = names.map { [scanner] in
            // These names are valid paths.
            ($0, scanner.inItem(try! FieldPath($0)))
        }
    }

    func requireSound(_ json: [UInt8]) throws(DumpError) {
        try scanner.read(json[...])
        if let twice = slots.filter({ scanner.item(0, $0.slot).repeated }).map(\.name).min() {
            throw DumpError(.data, "\(twice) is there twice")
        }
    }
}

/// What a response without the array of items means.

private func sentence(for error: any Error) -> String {
    guard let error = error as? DecodingError else { return "not JSON" }
    switch error {
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
        return "\(place(context)) is not \(noun(type))"
    case .keyNotFound(let key, _):
        return "\(printable(key.stringValue)): missing"
    case .dataCorrupted(let context):
        let isSyntax = context.codingPath.isEmpty
        return isSyntax ? "not JSON" : "\(place(context)): \(context.debugDescription)"
    @unknown default:
        return "not a profile"
    }
}

private func place(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "it" : printable(path)
}

private func noun(_ type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is Int.Type: "an integer"
    case is [Any].Type, is [String].Type: "an array of strings"
    default: "an object"
    }
}
