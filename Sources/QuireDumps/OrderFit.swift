import Foundation
public import Quire

/// Finds the order of responses: a field of the posts that descends on every page.
///
/// It looks at the first hundred pages. That is enough to recognise an order, and cheap in a long run.
public struct OrderFit: Sendable {
    /// An order that fits the pages seen.
    public struct Suggestion: Sendable, Hashable {
        /// The order class that fits.
        public var order: OrderClass
        /// The field, as in a profile's `key`; nil if the posts are not ordered by any of their fields.
        public let key: String?

        /// No field fits.
        public static let none = Suggestion(order: .ranked, key: nil)
    }

    /// What is known about a field that has descended so far.
    fileprivate struct Field {
        var values: [PostID: Int64] = [:]
        /// The number of neighbours on a page with descending values.
        var descents = 0
        /// True if a post was shown again with another value, so it has risen.
        var hasChanged = false
        /// True if two posts have the same value.
        var hasTies = false
    }

    /// Nil until a page was seen.
    private var fields: [String: Field]?
    private var pages = 0
    private var pairs = 0
    private let prefix: String

    private static let pageLimit = 100
    private static let bodyLimit = 1 << 16

    /// Creates a fit for pages that are read with this profile.
    public init(_ profile: Profile) { prefix = profile.post.keys.isEmpty ? "" : "\(profile.post)." }

    /// Adds a page as the server sent it.
    public mutating func add(_ answer: Answer) {
        if pages == Self.pageLimit || answer.posts.count < 2 { return }
        var rows: [[String: Int64]] = []
        for post in answer.posts {
            guard post.body.count <= Self.bodyLimit, let values = Self.values(in: answer.bytes[post.body])
            else { return }
            rows.append(values)
        }
        pages += 1
        pairs += rows.count - 1
        var fields = fields ?? rows[0].mapValues { _ in Field() }
        for (name, known) in fields {
            fields[name] = known.adding(rows.map { $0[name] }, of: answer.posts.map(\.id))
        }
        self.fields = fields
    }

    /// The order of the pages; nil if there were too few posts to tell.
    public var suggestion: Suggestion? {
        if pairs < 2 { return nil }
        let clear = (fields ?? [:]).filter { $0.value.descents * 2 > pairs }
        guard
            let (name, field) = clear.max(by: { a, b in
                (a.value.hasChanged ? 1 : 0, a.value.descents, b.key) < (
                    b.value.hasChanged ? 1 : 0, b.value.descents, a.key
                )
            })
        else { return Suggestion.none }
        let key = prefix + name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
        return Suggestion(order: field.hasChanged || field.hasTies ? .bump : .stable, key: key)
    }

    /// Returns the fields of a post that could be its key: whole numbers and dates. Nil if it is not an
    /// object.
    private static func values(in body: ArraySlice<UInt8>) -> [String: Int64]? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
            return nil
        }
        return object.compactMapValues { value in
            if let text = value as? String { return Int64(text) ?? OrderKey.date(text.utf8) }
            guard let number = value as? NSNumber else { return nil }
            let isFlag = number.objCType.pointee == CChar(UInt8(ascii: "c"))
            return isFlag ? nil : Int64(exactly: number)
        }
    }
}

extension OrderFit.Field {
    /// Adds the values of one more page, from the top. Returns nil if they do not descend, or one is missing.
    fileprivate func adding(_ column: [Int64?], of ids: [PostID]) -> Self? {
        var field = self
        var above: Int64?
        for (id, value) in zip(ids, column) {
            guard let value, above.map({ $0 >= value }) ?? true else { return nil }
            if let above {
                if above > value { field.descents += 1 } else { field.hasTies = true }
            }
            if let known = field.values.updateValue(value, forKey: id), known != value {
                field.hasChanged = true
            }
            above = value
        }
        return field
    }
}
