import Foundation
import Quire

/// Prints values as JSON, one object per line, with snake-case names in alphabetical order. No data in it can
/// control a terminal.
struct JSONLines {
    private let output: Output
    private let encoder = JSONEncoder.ofLines()

    init(_ output: Output) { self.output = output }

    func print(_ value: some Encodable) throws { try output.line(Self.text(value, encoder)) }

    /// The line of a value.
    static func text(_ value: some Encodable, _ encoder: JSONEncoder = .ofLines()) throws -> String {
        escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints an object with one more member, the body of a post, which comes first.
    func print(_ value: some Encodable, body: UnsafeRawBufferPointer) throws {
        let object = String(decoding: try encoder.encode(value), as: UTF8.self)
        let json = try BodyText.json(body, encoder)
        try output.line(Self.escaped("{\"body\":" + json + "," + object.dropFirst()))
    }

    /// Escapes harmful characters. They occur only inside strings, where `\u` means the same.
    private static func escaped(_ json: String) -> String {
        if json.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return json }
        if json.unicodeScalars.allSatisfy(\.isHarmless) { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            if scalar.isHarmless {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in UTF16.encode(scalar)! { result += String(format: "\\u%04x", unit) }
            }
        }
        return result
    }
}

extension JSONEncoder {
    fileprivate static func ofLines() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// A value that is printed as null if there is none.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension OrNull: Sendable where Value: Sendable {}
