import Foundation

/// Profiles that are made of others, or of nothing.
extension Profile {
    /// Returns the profile with these fields of its JSON replaced; null removes one.
    func changed(by changes: [String: Any]) -> Profile? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(source.utf8)) as? [String: Any]
        else { return nil }
        return Self.made(of: object.merging(changes) { $1 })
    }

    /// Returns the profile with these fields.
    static func made(of fields: [String: Any]) -> Profile? {
        let fields = fields.filter { !($0.value is NSNull) }
        let options: JSONSerialization.WritingOptions = [
            .sortedKeys, .prettyPrinted, .withoutEscapingSlashes,
        ]
        guard let json = try? JSONSerialization.data(withJSONObject: fields, options: options) else {
            return nil
        }
        return try? Profile(json: Array(json), name: "profile")
    }
}
