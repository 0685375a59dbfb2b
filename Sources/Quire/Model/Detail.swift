/// How much of a post a body contains: a summary as shown in a list, or everything. A body with less detail
/// never replaces one with more.
///
///     answer.append(id: 17, version: 5, detail: .summary, body: row)
public struct Detail: RawRepresentable, Sendable, Hashable, Comparable {
    /// 0 to 255; a larger value is more detail.
    public let rawValue: UInt8

    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// What a list shows: 64. There is room for values below and above it.
    @inlinable public static var summary: Detail { Detail(rawValue: 64) }
    /// Everything that the server has: 255, the default.
    @inlinable public static var full: Detail { Detail(rawValue: .max) }

    @inlinable public static func < (a: Detail, b: Detail) -> Bool { a.rawValue < b.rawValue }
}
