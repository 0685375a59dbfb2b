import Foundation
import Quire

extension Profile {
    /// Reads a profile; `name` stands for it in messages.
    ///
    /// Throws `.data` with the name of the field that is unknown, missing, or not what it should be.
    public init(json: [UInt8], name: String) throws(DumpError) {
        do {
            self = try JSONDecoder().decode(Contents.self, from: Data(json)).profile
        } catch {
            throw DumpError(.data, "\(printable(name, limit: 400)): \(sentence(for: error))")
        }
    }
}

/// A profile in JSON. Apart from ``Profile``, whose reading is not a conformance callers could misuse.
private struct Contents: Decodable {
    let profile: Profile

    init(from decoder: any Decoder) throws {
        let fields = try Fields(
            decoder,
            known: [
                "name", "title", "items", "items_absent", "lines", "post", "opaque_rows", "id", "key",
                "version", "next", "previous", "error", "order", "paging", "first_page",
            ])
        let name = try fields.string("name")
        let isLines = try fields.value("lines", Bool.self) ?? false
        profile = Profile(
            name: name, title: try fields.value("title", String.self) ?? name,
            order: try fields.choice("order", among: OrderClass.allCases) ?? .keyless,
            paging: try fields.choice("paging", among: Paging.allCases) ?? .cursor,
            firstPage: try fields.value("first_page", Int.self) ?? 1,
            items: try fields.path("items") ?? .here,
            mayOmitItems: try fields.choice("items_absent", among: ItemsAbsence.allCases) == .empty,
            isLines: isLines,
            post: try fields.path("post") ?? .here,
            hasOpaqueRows: try fields.value("opaque_rows", Bool.self) ?? false,
            id: try fields.object("id", ["path", "type"]) {
                IDField(
                    path: try $0.path("path") ?? .here,
                    type: try $0.choice("type", among: Profile.IDType.allCases) ?? .any)
            } ?? fields.missing("id"),
            key: try fields.key("key"), version: try fields.key("version"),
            next: try fields.link("next"), previous: try fields.link("previous"),
            error: try fields.object("error", ["path", "name", "message"]) {
                ErrorField(
                    path: try $0.path("path") ?? $0.missing("path"),
                    name: try $0.path("name"), message: try $0.path("message"))
            })
        let outside = ["items", "items_absent", "next", "previous", "error"]
        if isLines, let field = outside.first(where: fields.has) {
            throw fields.problem(field, "lines have no document around them")
        }
        // Such a path would never be found, and so claim the end of the feed.
        for (field, link) in [("next", profile.next), ("previous", profile.previous)] {
            for path in [link?.token, link?.more].compactMap(\.self)
            where path.keys.starts(with: profile.items.keys) {
                throw fields.problem(field, "\(path) leads through the items")
            }
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

    func object<Value>(
        _ name: String, _ known: Set<String>, _ read: (Fields) throws -> Value
    ) throws -> Value? {
        guard has(name) else { return nil }
        return try read(
            Fields(container.superDecoder(forKey: Name(stringValue: name)), known: known))
    }

    func key(_ name: String) throws -> KeyField? {
        try object(name, ["path", "type"]) {
            KeyField(
                path: try $0.path("path") ?? $0.missing("path"),
                type: try $0.choice("type", among: Profile.KeyType.allCases) ?? .auto)
        }
    }

    func link(_ name: String) throws -> LinkField? {
        try object(name, ["path", "more", "end", "absent"]) {
            let field = LinkField(
                token: try $0.path("path"), more: try $0.path("more"),
                endToken: try $0.value("end", String.self),
                isUnknownIfAbsent: try $0.choice("absent", among: LinkAbsence.allCases) == .unknown)
            guard field.token != nil || field.more != nil else {
                throw problem(name, "neither path nor more")
            }
            return field
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
    default: "an object"
    }
}
