/// The share of a post that a body holds: the summary of a list, or all of it. A body never gives way to one
/// of less detail.
///
///     answer.append(id: 17, version: 5, detail: .summary, body: row)
public struct Detail: RawRepresentable, Sendable, Hashable, Comparable {
    /// 0 to 255; more is more.
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The summary of a list: 64, which leaves room on both sides.
    public static let summary = Detail(rawValue: 64)
    /// All that the server has: 255, the default.
    public static let full = Detail(rawValue: .max)

    public static func < (a: Detail, b: Detail) -> Bool { a.rawValue < b.rawValue }
}
