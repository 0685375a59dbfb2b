import Foundation
import Quire

/// What is different in a profile that was made of another one.
enum ProfileChange: Sendable {
    case items(FieldPath)
    case post(FieldPath)
    case id(FieldPath)
    /// Nil removes it.
    case key(KeyField?)
    case version(KeyField?)
    case order(OrderClass)
    /// The place of the token of the next page. Null is the end; where it is missing, nothing is known.
    case next(FieldPath)
    case noOwnLink
    /// The next page is in the header `Link`, and links are addresses.
    case addresses
    /// The next page is looked for in each response.
    case linkIsFound
    case opaqueRows
    /// The place of the number of posts in the whole list.
    case total(FieldPath)
    case paging(Paging)
    /// The number of the first page.
    case firstPage(Int)

    fileprivate func apply(to profile: inout Profile) {
        switch self {
        case .items(let path): profile.items = path
        case .post(let path): profile.post = path
        case .id(let path): profile.id = IDField(path: path, type: .any)
        case .key(let field): profile.key = field
        case .version(let field): profile.version = field
        case .order(let order): profile.order = order
        case .next(let path):
            profile.next = LinkField(
                way: .token(.body(path)), more: nil, endToken: nil, absence: .null, emptyEnd: .doubtful)
        case .noOwnLink: profile.own = nil
        case .addresses:
            profile.next = LinkField(
                way: .relation("next"), more: nil, endToken: nil, absence: .end, emptyEnd: .end)
            profile.own = .request
        case .linkIsFound:
            profile.next = LinkField(
                way: .found, more: nil, endToken: nil, absence: .null, emptyEnd: .doubtful)
        case .opaqueRows: profile.hasOpaqueRows = true
        case .total(let path): profile.total = .body(path)
        case .paging(let paging): profile.paging = paging
        case .firstPage(let number): profile.firstPage = number
        }
    }

    /// The fields as a profile has them in JSON; null removes one.
    fileprivate var fields: [String: Any] {
        func object(_ field: KeyField?) -> Any {
            field.map { ["path": $0.path.text, "type": $0.type.rawValue] } ?? NSNull()
        }
        return switch self {
        case .items(let path): ["items": path.text]
        case .post(let path): ["post": path.text]
        case .id(let path): ["id": ["path": path.text]]
        case .key(let field): ["key": object(field)]
        case .version(let field): ["version": object(field)]
        case .order(let order): ["order": order.rawValue]
        case .next(let path): ["next": ["path": path.text, "absent": "null", "empty": "doubtful"]]
        case .noOwnLink: ["self": NSNull()]
        case .addresses: ["next": ["link": "next"], "self": ["request": true]]
        case .linkIsFound: ["next": ["found": true, "empty": "doubtful"]]
        case .opaqueRows: ["opaque_rows": true]
        case .total(let path): ["total": ["path": path.text]]
        case .paging(let paging): ["paging": paging.rawValue]
        case .firstPage(let number): ["first_page": number]
        }
    }
}

extension Profile {
    /// Returns the profile with these changes; nil if its fields would contradict each other. Its JSON is
    /// written when somebody asks for it, as that takes longer than most recognitions.
    func changed(by changes: [ProfileChange]) -> Profile? {
        if changes.isEmpty { return self }
        var profile = self
        for change in changes { change.apply(to: &profile) }
        if profile.misplacedPath != nil || profile.misplacedTemplate != nil { return nil }
        profile.text = { [text] in
            var fields = try? JSONSerialization.jsonObject(with: Data(text().utf8)) as? [String: Any]
            for change in changes { fields?.merge(change.fields) { $1 } }
            fields = fields?.filter { !($0.value is NSNull) }
            let options: JSONSerialization.WritingOptions = [
                .sortedKeys, .prettyPrinted, .withoutEscapingSlashes,
            ]
            // Both are objects of text, numbers and flags.
            let json = try? JSONSerialization.data(withJSONObject: fields ?? [:], options: options)
            return String(decoding: json ?? Data(), as: UTF8.self)
        }
        return profile
    }

    /// What is said of an API without a profile.
    static let unknown = try! Profile(
        json: Array(
            """
            {"name": "\(unknownName)", "title": "An API that Quire has no profile for", "id": {"path": "id"}, \
            "items_absent": "null", "order": "ranked"}
            """.utf8), name: "the profile of unknown APIs")
}
