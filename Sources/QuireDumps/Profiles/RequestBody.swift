#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON body of a request that is a POST, as GraphQL wants it. A string in it that is a place, such as
/// `"{token}"` or `"{limit}"`, stands for that value. A member whose place has no value is left out, so the
/// first page is requested without a token; so is an array of nothing but such places.
public struct RequestBody: Sendable, Hashable {
    /// The names that places can have.
    static let known: Set = [
        "page", "offset", "limit", "token", "below", "above", "around", "until", "since",
    ]
    /// Those that stand for a number.
    private static let numbers: Set = ["page", "offset", "limit"]

    private let members: [String: Value]
    /// The names of its places.
    public let places: Set<String>

    fileprivate indirect enum Value: Sendable, Hashable {
        case null
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)
        case place(String)
        case list([Value])
        case object([String: Value])
    }

    /// Returns the body with these values in its places, as JSON in UTF-8.
    public func filled(_ values: [String: String]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // All numbers were read from JSON, so each can be written.
        return Array(try! encoder.encode(Value.object(members).filled(values)!))
    }
}

extension RequestBody: Decodable {
    public init(from decoder: any Decoder) throws {
        members = try decoder.singleValueContainer().decode([String: Value].self)
        places = members.values.reduce(into: []) { $1.addPlaces(to: &$0) }
    }
}

extension RequestBody.Value {
    /// Returns the value without places; nil if it is a place without a value, or an array of nothing else.
    fileprivate func filled(_ values: [String: String]) -> Self? {
        switch self {
        case .place(let name):
            guard let value = values[name] else { return nil }
            if RequestBody.numbers.contains(name), let number = Int64(value) { return .integer(number) }
            return .text(value)
        case .list(let list):
            let filled = list.compactMap { $0.filled(values) }
            return filled.isEmpty && !list.isEmpty ? nil : .list(filled)
        case .object(let members): return .object(members.compactMapValues { $0.filled(values) })
        case .null, .flag, .integer, .number, .text: return self
        }
    }

    fileprivate func addPlaces(to names: inout Set<String>) {
        switch self {
        case .place(let name): names.insert(name)
        case .list(let values): for value in values { value.addPlaces(to: &names) }
        case .object(let members): for value in members.values { value.addPlaces(to: &names) }
        case .null, .flag, .integer, .number, .text: break
        }
    }
}

extension RequestBody.Value: Codable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            let name = String(text.dropFirst().dropLast())
            self = text == "{\(name)}" && RequestBody.known.contains(name) ? .place(name) : .text(text)
        } else if let list = try? value.decode([Self].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: Self].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .place(let name): try value.encode("{\(name)}")
        case .list(let list): try value.encode(list)
        case .object(let members): try value.encode(members)
        }
    }
}
