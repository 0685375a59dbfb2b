import Foundation
import Quire

extension Profile {
    /// Reads a profile; `name` stands for it in messages.
    ///
    /// Throws `.data` with the name of the field that is unknown, missing, or not what it should be.
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

/// A profile in JSON. Apart from ``Profile``, whose reading is not a conformance callers could misuse.
private struct Contents: Decodable {
    let profile: Profile

    static let source = CodingUserInfoKey(rawValue: "source")!

    private static let places: Set = ["path", "header"]
    private static let links: Set = [
        "path", "header", "link", "template", "counted", "more", "end", "absent",
    ]

    /// Every field, and the fields of those that are objects.
    static let known: [String: Set<String>] = [
        "name": [], "title": [], "mark": ["path", "contains"], "items": [], "items_absent": [], "lines": [],
        "sequence": [], "post": [], "opaque_rows": [], "id": ["path", "type"], "key": ["path", "type"],
        "version": ["path", "type"], "next": links, "previous": links,
        "self": places.union(["query", "request"]), "page": places.union(["query"]), "pages": places,
        "total": places, "page_size": places, "backoff": places, "error": ["path", "name", "message"],
        "order": [], "paging": [], "first_page": [],
    ]

    /// What Foundation's decoder does not see: where it is no JSON, and fields that are there twice.
    static func requireSound(_ json: [UInt8]) throws(DumpError) {
        // Without an array of items, the document is the one item.
        let scanner = Scanner(depth: PageParser.depthLimit)
        var slots: [(name: String, slot: Scanner.Slot)] = []
        for (name, fields) in known {
            let path = try FieldPath(name)
            slots.append((name, scanner.inItem(path)))
            for field in fields {
                slots.append(("\(name).\(field)", scanner.inItem(try FieldPath("\(name).\(field)"))))
            }
        }
        try scanner.read(json[...])
        if let twice = slots.filter({ scanner.item(0, $0.slot).repeated }).map(\.name).min() {
            throw DumpError(.data, "\(twice) is there twice")
        }
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields(decoder, known: Set(Self.known.keys))
        let name = try fields.string("name")
        profile = Profile(
            name: name, title: try fields.value("title", String.self) ?? name,
            order: try fields.choice("order", among: OrderClass.allCases) ?? .keyless,
            paging: try fields.choice("paging", among: Paging.allCases) ?? .cursor,
            firstPage: try fields.value("first_page", Int.self) ?? 1,
            source: decoder.userInfo[Self.source] as? String ?? "",
            mark: try fields.object("mark") {
                Mark(
                    path: try $0.path("path") ?? $0.missing("path"),
                    texts: try $0.value("contains", [String].self) ?? [])
            },
            items: try fields.path("items") ?? .here,
            mayOmitItems: try fields.choice("items_absent", among: ItemsAbsence.allCases) == .empty,
            isLines: try fields.value("lines", Bool.self) ?? false,
            post: try fields.path("post") ?? .here,
            hasOpaqueRows: try fields.value("opaque_rows", Bool.self) ?? false,
            id: try fields.object("id") {
                IDField(
                    path: try $0.path("path") ?? .here,
                    type: try $0.choice("type", among: Profile.IDType.allCases) ?? .any)
            } ?? fields.missing("id"),
            key: try fields.key("key"), version: try fields.key("version"),
            sequence: try fields.path("sequence"),
            next: try fields.link("next"), previous: try fields.link("previous"),
            own: try fields.source("self"),
            page: try fields.object("page") { try $0.places() } ?? [],
            pages: try fields.source("pages"), total: try fields.source("total"),
            pageSize: try fields.source("page_size"), backoff: try fields.source("backoff"),
            error: try fields.object("error") {
                ErrorField(
                    path: try $0.path("path") ?? $0.missing("path"),
                    name: try $0.path("name"), message: try $0.path("message"))
            })
        try check(fields)
    }

    /// What the fields must not say together.
    private func check(_ fields: Fields) throws {
        if !Self.isName(profile.name) {
            throw fields.problem("name", "not 1 to 40 small letters, digits and hyphens")
        }
        if !(0...1_000_000 ~= profile.firstPage) {
            throw fields.problem("first_page", "not from 0 to 1000000")
        }
        let outside = [
            "items", "items_absent", "sequence", "self", "page", "pages", "total", "page_size", "backoff",
            "error",
        ]
        if profile.isLines, let field = outside.first(where: fields.has) {
            throw fields.problem(field, "lines have no document around them")
        }
        for (field, link) in [("next", profile.next), ("previous", profile.previous)] {
            switch link?.way {
            case .template(let template) where template.needsKey && profile.key?.type != .integer:
                throw fields.problem(field, "{key} needs a key of type integer")
            case .counted where field == "previous":
                throw fields.problem(field, "only next can be counted")
            case .counted where profile.page.isEmpty:
                throw fields.problem(field, "counting needs page")
            case .counted where profile.pages == nil && (profile.total == nil || profile.pageSize == nil):
                throw fields.problem(field, "counting needs pages, or total and page_size")
            case .template, .relation: break
            case .some where profile.isLines:
                throw fields.problem(field, "lines have no document around them")
            default: break
            }
        }
        if let (field, problem) = profile.misplacedPath { throw fields.problem(field, problem) }
    }

    private static func isName(_ text: String) -> Bool {
        1...40 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
            }
    }
}

/// What a response without the array of items is.
private enum ItemsAbsence: String, CaseIterable { case error, empty }

/// What a response without a token says about the feed.
private enum LinkAbsence: String, CaseIterable { case end, unknown }

/// The fields of an object, of which only the known ones may be there.
private struct Fields {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>

    init(_ decoder: any Decoder, known: Set<String>) throws {
        container = try decoder.container(keyedBy: Name.self)
        let unknown = container.allKeys.map(\.stringValue).filter { !known.contains($0) }
        if let name = unknown.min() { throw problem(name, "unknown field") }
    }

    func has(_ name: String) -> Bool { container.contains(Name(stringValue: name)) }

    func problem(_ name: String, _ text: String) -> DecodingError {
        let path = container.codingPath + [Name(stringValue: name)]
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text))
    }

    func missing<Value>(_ name: String) throws -> Value { throw problem(name, "missing") }

    func value<Value: Decodable>(_ name: String, _ type: Value.Type) throws -> Value? {
        guard has(name) else { return nil }
        return try container.decode(type, forKey: Name(stringValue: name))
    }

    func string(_ name: String) throws -> String {
        try value(name, String.self) ?? missing(name)
    }

    func path(_ name: String) throws -> FieldPath? {
        guard let text = try value(name, String.self) else { return nil }
        do throws(DumpError) { return try FieldPath(text) } catch { throw problem(name, error.message) }
    }

    func choice<Choice: RawRepresentable<String> & Equatable>(
        _ name: String, among choices: [Choice]
    ) throws -> Choice? {
        guard let text = try value(name, String.self) else { return nil }
        if let choice = choices.first(where: { $0.rawValue == text }) { return choice }
        let words = choices.map(\.rawValue).joined(separator: ", ")
        throw problem(name, "\"\(printable(text))\" is none of \(words)")
    }

    /// An object among the fields of the profile.
    func object<Value>(_ name: String, _ read: (Fields) throws -> Value) throws -> Value? {
        guard has(name) else { return nil }
        let decoder = try container.superDecoder(forKey: Name(stringValue: name))
        return try read(Fields(decoder, known: Contents.known[name]!))
    }

    func key(_ name: String) throws -> KeyField? {
        try object(name) {
            KeyField(
                path: try $0.path("path") ?? $0.missing("path"),
                type: try $0.choice("type", among: Profile.KeyType.allCases) ?? .auto)
        }
    }

    func source(_ name: String) throws -> Source? {
        try object(name) { fields in
            if try fields.value("request", Bool.self) == true {
                guard !["path", "header", "query"].contains(where: fields.has) else {
                    throw problem(name, "request excludes the others")
                }
                return .request
            }
            return try fields.place()
        }
    }

    /// Those of `path`, `header` and `query` that are there, at least one.
    func places() throws -> [Source] {
        var places: [Source] = []
        if let path = try path("path") { places.append(.body(path)) }
        if let header = try value("header", String.self) {
            guard !header.isEmpty, header.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }) else {
                throw problem("header", "\"\(printable(header))\" is no name of a header")
            }
            places.append(.header(header))
        }
        if let query = try value("query", String.self) {
            guard !query.isEmpty else { throw problem("query", "is empty") }
            places.append(.query(query))
        }
        return places.isEmpty ? try missing("path") : places
    }

    /// The only one of them.
    private func place() throws -> Source {
        let places = try places()
        guard places.count == 1 else {
            throw problem(["query", "header"].first(where: has)!, "there is one already")
        }
        return places[0]
    }

    func link(_ name: String) throws -> LinkField? {
        try object(name) { fields in
            let ways = ["path", "header", "link", "template", "counted"].filter(fields.has)
            guard ways.count < 2 else { throw fields.problem(ways[1], "excludes \(ways[0])") }
            if let way = ways.first, !["path", "header"].contains(way),
                let field = ["more", "end"].first(where: fields.has)
            {
                throw fields.problem(field, "excludes \(way)")
            }
            guard let way = try fields.way(ways.first) ?? (fields.has("more") ? .flag : nil) else {
                throw problem(name, "none of path, header, link, template, counted, more")
            }
            return LinkField(
                way: way, more: try fields.path("more"),
                endToken: try fields.value("end", String.self),
                isUnknownIfAbsent: try fields.choice("absent", among: LinkAbsence.allCases) == .unknown)
        }
    }

    private func way(_ name: String?) throws -> LinkField.Way? {
        switch name {
        case "path", "header":
            return .token(try place())
        case "link":
            return try value("link", String.self).map { .relation($0.lowercased()) }
        case "template":
            guard let text = try value("template", String.self) else { return nil }
            do throws(DumpError) {
                return .template(try Template(text))
            } catch { throw problem("template", error.message) }
        case "counted":
            guard try value("counted", Bool.self) == true else {
                throw problem("counted", "is not true")
            }
            return .counted
        default: return nil
        }
    }
}

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
