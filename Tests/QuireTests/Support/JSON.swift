import Foundation

/// A JSON value, as the scenarios hold them.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])

    init(_ data: Data) throws {
        self = JSON(any: try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
    }

    private init(any value: Any) {
        switch value {
        case let value as NSNumber where CFBoolean.isBoolean(value): self = .bool(value.boolValue)
        case let value as NSNumber: self = .number(value.doubleValue)
        case let value as String: self = .text(value)
        case let value as [Any]: self = .list(value.map(JSON.init(any:)))
        case let value as [String: Any]: self = .object(value.mapValues(JSON.init(any:)))
        default: self = .null
        }
    }

    subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var int: Int? { number.map { Int($0) } }
    var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    var list: [JSON]? { if case .list(let list) = self { list } else { nil } }
    var object: [String: JSON]? { if case .object(let object) = self { object } else { nil } }

    /// A dictionary expects the named members only; anything else must be equal.
    func matches(_ seen: JSON) -> Bool {
        switch (self, seen) {
        case (.object(let expected), .object(let members)):
            expected.allSatisfy { name, value in members[name].map(value.matches) ?? (value == .null) }
        case (.list(let expected), .list(let items)):
            expected.count == items.count && zip(expected, items).allSatisfy { $0.matches($1) }
        default: self == seen
        }
    }
}

private enum CFBoolean {
    /// JSONSerialization gives booleans as numbers of this one type.
    static func isBoolean(_ number: NSNumber) -> Bool {
        String(cString: number.objCType) == "c"
    }
}
