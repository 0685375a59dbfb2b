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
        /// The bytes between the quotes of its name.
        let name: [UInt8]
        var values: [PostID: Int64] = [:]
        /// The number of neighbours on a page with descending values.
        var descents = 0
        /// True if a post was shown again with another value, so it has risen.
        var hasChanged = false
        /// True if two posts have the same value.
        var hasTies = false
    }

    /// Nil until a page was seen.
    private var fields: [Field]?
    private var pages = 0
    private var pairs = 0
    private let prefix: String

    private static let pageLimit = 100
    private static let bodyLimit = 1 << 16
    /// How many fields of a post are looked at; a name is looked for among all of them.
    private static let fieldLimit = 100

    /// Creates a fit for pages that are read with this profile.
    public init(_ profile: Profile) { prefix = profile.post.keys.isEmpty ? "" : "\(profile.post)." }

    /// Adds a page as the server sent it.
    public mutating func add(_ answer: Answer) {
        if pages == Self.pageLimit || answer.posts.count < 2 { return }
        guard let first = Self.fields(in: answer.bytes[answer.posts[0].body]) else { return }
        let fields = self.fields ?? first
        var columns = fields.map { _ in [Int64?](repeating: nil, count: answer.posts.count) }
        for (row, post) in answer.posts.enumerated() {
            let isObject =
                post.body.count <= Self.bodyLimit
                && answer.bytes[post.body].withUnsafeBufferPointer { body in
                    Self.forEachValue(in: body) { name, value in
                        let column = fields.firstIndex {
                            $0.name.count == name.count && $0.name.elementsEqual(body[name])
                        }
                        if let column { columns[column][row] = value() }
                    }
                }
            if !isObject { return }
        }
        pages += 1
        pairs += answer.posts.count - 1
        let ids = answer.posts.map(\.id)
        self.fields = zip(fields, columns).compactMap { $0.adding($1, of: ids) }
    }

    /// The order of the pages; nil if there were too few posts to tell.
    public var suggestion: Suggestion? {
        if pairs < 2 { return nil }
        let clear = (fields ?? []).filter { $0.descents * 2 > pairs }
            .map { (name: Self.text(of: $0.name), field: $0) }
        guard
            let (name, field) = clear.max(by: { a, b in
                (a.field.hasChanged ? 1 : 0, a.field.descents, b.name) < (
                    b.field.hasChanged ? 1 : 0, b.field.descents, a.name
                )
            })
        else { return Suggestion.none }
        let key = prefix + name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
        return Suggestion(order: field.hasChanged || field.hasTies ? .bump : .stable, key: key)
    }

    /// Returns the fields of a post that could be its key. Nil if it is not an object.
    private static func fields(in body: ArraySlice<UInt8>) -> [Field]? {
        body.withUnsafeBufferPointer { body in
            var names: [[UInt8]] = []
            let isObject = forEachValue(in: body) { name, value in
                if names.count < fieldLimit, value() != nil { names.append(Array(body[name])) }
            }
            return isObject ? Set(names).map { Field(name: $0) } : nil
        }
    }

    /// Calls `body` with the name of each field of a post, and with what returns its value: a whole number,
    /// or a date. Returns false if the post is not an object.
    private static func forEachValue(
        in post: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>, () -> Int64?) -> Void
    ) -> Bool {
        var walk = JSONWalk(post)
        return walk.forEachScalar { name, kind, value in
            body(name) { Self.value(of: kind, UnsafeBufferPointer(rebasing: post[value])) }
        }
    }

    private static func value(of kind: JSONOutline.Kind, _ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        switch kind {
        case .integer: Int64(String(decoding: text, as: UTF8.self))
        case .fraction: Double(String(decoding: text, as: UTF8.self)).flatMap { Int64(exactly: $0) }
        case .string: Int64(String(decoding: text, as: UTF8.self)) ?? OrderKey.date(text)
        default: nil
        }
    }

    /// Returns the name of a field without escapes.
    private static func text(of name: [UInt8]) -> String {
        let quote = [UInt8(ascii: "\"")]
        let text = try? JSONDecoder().decode(String.self, from: Data(quote + name + quote))
        return text ?? String(decoding: name, as: UTF8.self)
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
