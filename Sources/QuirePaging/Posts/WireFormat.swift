import Foundation

/// Decodes the stored bytes of a post to a model. With several formats, one model can be read from the data
/// of different servers, or of different versions of one.
///
///     let rss = WireFormat<Item>("rss", recognises: { $0.first == UInt8(ascii: "<") }) { bytes in … }
///     let items = feed.posts(as: Item.self, formats: [.json(), rss])
public struct WireFormat<Model>: Sendable {
    /// The name used in error messages.
    public let name: String
    let recognises: @Sendable ([UInt8]) -> Bool
    let merged: @Sendable ([UInt8], [String: [UInt8]]) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Model

    /// Creates a format.
    /// - Parameters:
    ///   - name: What error messages call it.
    ///   - recognises: True for bytes that are of this format. The first format that says so decodes them.
    ///   - merging: Puts values that were updated one by one into the bytes before they are decoded; without
    ///     it they are left out.
    ///   - decode: Makes a model of the bytes.
    public init(
        _ name: String, recognises: @escaping @Sendable ([UInt8]) -> Bool,
        merging: @escaping @Sendable ([UInt8], [String: [UInt8]]) throws -> [UInt8] = { bytes, _ in bytes },
        decode: @escaping @Sendable ([UInt8]) throws -> Model
    ) {
        self.name = name
        self.recognises = recognises
        merged = merging
        self.decode = decode
    }
}

extension WireFormat where Model: Decodable & SendableMetatype {
    /// Returns the JSON format, recognised by the first character.
    /// - Parameter configure: sets the decoder's strategies for keys and dates.
    public static func json(_ configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in }) -> WireFormat {
        json("json", recognises: isJSON, of: Model.self, configure: configure) { $0 }
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { [0x7B, 0x5B].contains($0) } ?? false
    }
}

extension WireFormat {
    /// Returns a JSON format that decodes another type and converts it: one place for a server's names.
    public static func json<Wire: Decodable & SendableMetatype>(
        _ name: String, recognises: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        of wire: Wire.Type, configure: @escaping @Sendable (JSONDecoder) -> Void = { _ in },
        model: @escaping @Sendable (Wire) throws -> Model
    ) -> WireFormat {
        WireFormat(name, recognises: recognises, merging: mergedJSON) { bytes in
            let decoder = JSONDecoder()
            configure(decoder)
            return try model(try decoder.decode(Wire.self, from: Data(bytes)))
        }
    }
}

/// Returns a JSON object with members replaced or added: a value as JSON if it is that, otherwise as text.
/// Returns other bytes unchanged.
private func mergedJSON(_ bytes: [UInt8], _ fields: [String: [UInt8]]) throws -> [UInt8] {
    guard var object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
        return bytes
    }
    for (name, value) in fields {
        let json = try? JSONSerialization.jsonObject(with: Data(value), options: .fragmentsAllowed)
        object[name] = json ?? String(decoding: value, as: UTF8.self)
    }
    return Array(try JSONSerialization.data(withJSONObject: object))
}
