import Quire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the fields of an object. An unknown field is an error.
struct ProfileFields {
    private static let places: Set = ["path", "header"]
    private static let links: Set = [
        "path", "header", "link", "template", "counted", "found", "more", "end", "absent", "empty",
    ]

    /// Every field, and the fields of those that are objects.
    static let known: [String: Set<String>] = [
        "name": [], "title": [], "mark": ["path", "contains"], "signs": [], "items": [], "items_absent": [],
        "lines": [],
        "sequence": [], "post": [], "opaque_rows": [], "id": ["path", "type", "instead"],
        "key": ["path", "type"],
        "version": ["path", "type"], "next": links, "previous": links,
        "self": places.union(["query", "request"]),
        "request": ["below", "above", "newer", "around", "size", "page", "offset", "token", "body"],
        "bodies": ["address", "id", "items"], "page": places.union(["query"]), "pages": places,
        "since": places, "deleted": [],
        "total": places, "page_size": places, "backoff": places, "quota": places, "quota_renewal": places,
        "error": ["path", "name", "message", "later", "expired"],
        "sort": ["query", "usual", "bump", "stable", "ranked", "ascending"],
        "order": [], "paging": [], "first_page": [], "sizes": [],
    ]

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

    /// Reads the name of a parameter of a request.
    func parameter(_ name: String) throws -> String? {
        guard let parameter = try value(name, String.self) else { return nil }
        if parameter.isEmpty { throw problem(name, "is empty") }
        if parameter.contains(where: { "&=?#{} ".contains($0) }) {
            throw problem(name, "\"\(printable(parameter))\" is not the name of a parameter")
        }
        return parameter
    }

    /// Reads `free`, `unknown`, or the number of rows that each page has.
    func sizes(_ name: String) throws -> SizePolicy? {
        guard has(name) else { return nil }
        let key = Name(stringValue: name)
        switch try? container.decode(String.self, forKey: key) {
        case "free": return .free
        case "unknown": return .unknown
        default: break
        }
        guard let rows = try? container.decode(Int.self, forKey: key), 1...1_000_000 ~= rows else {
            throw problem(name, "not free, unknown, or a number from 1 to 1000000")
        }
        return .fixed(rows)
    }

    func path(_ name: String) throws -> FieldPath? {
        guard let text = try value(name, String.self) else { return nil }
        do throws(DumpError) { return try FieldPath(text) } catch { throw problem(name, error.message) }
    }

    /// The parser watches at most 64 keys of one object, and a profile has about 20 other paths.
    private static let pathLimit = 16

    /// Reads one path, or several in an array; none if the field is not there.
    func paths(_ name: String) throws -> [FieldPath] {
        guard has(name) else { return [] }
        if (try? container.decode(String.self, forKey: Name(stringValue: name))) != nil {
            return [try path(name)].compactMap(\.self)
        }
        let texts = try value(name, [String].self) ?? []
        guard texts.count <= Self.pathLimit else {
            throw problem(name, "has more than \(Self.pathLimit) paths")
        }
        do throws(DumpError) {
            return try texts.map { text throws(DumpError) in try FieldPath(text) }
        } catch { throw problem(name, error.message) }
    }

    func choice<Choice: RawRepresentable<String> & Equatable>(
        _ name: String, among choices: [Choice]
    ) throws -> Choice? {
        guard let text = try value(name, String.self) else { return nil }
        if let choice = choices.first(where: { $0.rawValue == text }) { return choice }
        let words = choices.map(\.rawValue).joined(separator: ", ")
        throw problem(name, "\"\(printable(text))\" is not one of \(words)")
    }

    /// Reads an object among the fields of the profile.
    func object<Value>(_ name: String, _ read: (ProfileFields) throws -> Value) throws -> Value? {
        guard has(name) else { return nil }
        let decoder = try container.superDecoder(forKey: Name(stringValue: name))
        return try read(ProfileFields(decoder, known: Self.known[name]!))
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

    /// Reads those of `path`, `header` and `query` that are given, at least one.
    func places() throws -> [Source] {
        var places: [Source] = []
        if let path = try path("path") { places.append(.body(path)) }
        if let header = try value("header", String.self) {
            guard !header.isEmpty, header.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }) else {
                throw problem("header", "\"\(printable(header))\" is not a header name")
            }
            places.append(.header(header))
        }
        if let query = try value("query", String.self) {
            guard !query.isEmpty else { throw problem("query", "is empty") }
            places.append(.query(query))
        }
        return places.isEmpty ? try missing("path") : places
    }

    /// Reads the only one of them.
    private func place() throws -> Source {
        let places = try places()
        guard places.count == 1 else {
            throw problem(["query", "header"].first(where: has)!, "there is one already")
        }
        return places[0]
    }

    func link(_ name: String) throws -> LinkField? {
        try object(name) { fields in
            let ways = ["path", "header", "link", "template", "counted", "found"].filter(fields.has)
            guard ways.count < 2 else { throw fields.problem(ways[1], "excludes \(ways[0])") }
            if let way = ways.first, !["path", "header"].contains(way),
                let field = ["more", "end", "empty"].first(where: fields.has),
                (way, field) != ("template", "more"), (way, field) != ("found", "empty")
            {
                throw fields.problem(field, "excludes \(way)")
            }
            if name == "previous", fields.has("empty") { throw fields.problem("empty", "only next has it") }
            guard let way = try fields.way(ways.first) ?? (fields.has("more") ? .flag : nil) else {
                throw problem(name, "none of path, header, link, template, counted, found, more")
            }
            return LinkField(
                way: way, more: try fields.path("more"),
                endToken: try fields.value("end", String.self),
                absence: try fields.choice("absent", among: LinkAbsence.allCases) ?? .end,
                emptyEnd: try fields.choice("empty", among: EmptyEnd.allCases) ?? .end)
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
        case "found":
            guard try value("found", Bool.self) == true else { throw problem("found", "is not true") }
            return .found
        default: return nil
        }
    }
}
