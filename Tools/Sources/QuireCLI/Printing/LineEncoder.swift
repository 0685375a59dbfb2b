/// Writes a value as JSON on one line: names in snake case, in alphabetical order. A line of a listing has
/// only objects, lists, strings, whole numbers, truth values and null. `JSONEncoder` took most of the time of
/// a long listing.
final class LineEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private enum Value {
        case single([UInt8])
        /// Each with its name.
        case members([[UInt8]])
        case elements([[UInt8]])
    }

    private var value = Value.single(null)
    private static let null = Array("null".utf8)

    static func json(_ value: some Encodable) throws -> [UInt8] {
        switch value {
        case let value as String: return quoted(value)
        case let value as Bool: return Array((value ? "true" : "false").utf8)
        case let value as Int: return digits(value)
        case let value as Int64: return digits(value)
        case let value as UInt64: return digits(value)
        case let value as UInt32: return digits(value)
        case let value as Int32: return digits(value)
        case let value as UInt8: return digits(value)
        default:
            let encoder = LineEncoder()
            try value.encode(to: encoder)
            return encoder.json
        }
    }

    private var json: [UInt8] {
        switch value {
        case .single(let json): return json
        case .elements(let elements): return Self.list(elements, "[", "]")
        case .members(let members):
            // A quotation mark, which ends a name, stands before each character of one.
            let sorted = members.sorted { $0.lexicographicallyPrecedes($1) }
            return Self.list(sorted, "{", "}")
        }
    }

    private static func list(_ parts: [[UInt8]], _ open: Unicode.Scalar, _ close: Unicode.Scalar) -> [UInt8] {
        var json = [UInt8(ascii: open)]
        json.reserveCapacity(parts.reduce(2) { $0 + $1.count + 1 })
        for (index, part) in parts.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json += part
        }
        json.append(UInt8(ascii: close))
        return json
    }

    private static func digits(_ number: some BinaryInteger) -> [UInt8] { Array("\(number)".utf8) }

    /// A string of JSON.
    static func quoted(_ text: String) -> [UInt8] {
        var json = [UInt8(ascii: "\"")]
        json.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
            case 0x0A: json += "\\n".utf8
            case 0x0D: json += "\\r".utf8
            case 0x09: json += "\\t".utf8
            case 0x08: json += "\\b".utf8
            case 0x0C: json += "\\f".utf8
            case ..<0x20: json += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
        return json
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        value = .members([])
        return KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        value = .elements([])
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

    private func add(_ json: [UInt8], named name: String) {
        var member = [UInt8(ascii: "\"")]
        member.reserveCapacity(name.utf8.count + json.count + 8)
        for byte in name.utf8 {
            if 0x41...0x5A ~= byte {
                member += [UInt8(ascii: "_"), byte | 0x20]
            } else {
                member.append(byte)
            }
        }
        member += [UInt8(ascii: "\""), UInt8(ascii: ":")]
        member += json
        guard case .members(var members) = value else { return }
        value = .members([])  // so that the list is not copied
        members.append(member)
        value = .members(members)
    }

    private func add(_ json: [UInt8]) {
        guard case .elements(let elements) = value else { return }
        value = .elements(elements + [json])
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: LineEncoder
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil(forKey key: Key) { encoder.add(LineEncoder.null, named: key.stringValue) }

        mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            encoder.add(try LineEncoder.json(value), named: key.stringValue)
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { noNesting() }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { noNesting() }
        mutating func superEncoder() -> any Encoder { noNesting() }
        mutating func superEncoder(forKey key: Key) -> any Encoder { noNesting() }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let encoder: LineEncoder
        var codingPath: [any CodingKey] { [] }
        var count = 0

        mutating func encodeNil() { encoder.add(LineEncoder.null) }

        mutating func encode<T: Encodable>(_ value: T) throws {
            encoder.add(try LineEncoder.json(value))
            count += 1
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> { noNesting() }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { noNesting() }
        mutating func superEncoder() -> any Encoder { noNesting() }
    }

    private struct Single: SingleValueEncodingContainer {
        let encoder: LineEncoder
        var codingPath: [any CodingKey] { [] }

        mutating func encodeNil() { encoder.value = .single(LineEncoder.null) }

        mutating func encode<T: Encodable>(_ value: T) throws {
            encoder.value = .single(try LineEncoder.json(value))
        }
    }
}

/// Lines are values within values, which need no container of another one.
private func noNesting() -> Never { preconditionFailure("a line has no containers within containers") }
