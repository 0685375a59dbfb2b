import Quire
import QuireSimulator

/// A kind of server that people have, and what a feed may say of it.
public struct NumberedServer: Sendable, CustomStringConvertible {
    /// How the feed asks.
    public enum Asking: String, Sendable {
        /// By the number of a page.
        case number
        /// By the number of rows to skip.
        case offset
        /// By links that are numbers (R26.9).
        case links
    }

    /// What the tests call it.
    public let name: String
    /// How the server behaves.
    public let kind: ServerKind
    /// How the feed asks.
    public let asking: Asking
    /// Who chooses the size of a page, as the feed's options state it.
    public let policy: SizePolicy

    public var description: String { "\(name), by \(asking.rawValue), \(policy)" }

    /// All kinds with everything that is true of them, and some that is false: a size that is not granted.
    ///
    /// - Parameters:
    ///   - size: Rows of a page where the server fixes them.
    ///   - most: Rows that it grants where it limits them.
    public static func all(size: Int, most: Int, filtered percent: Int = 20) -> [NumberedServer] {
        let filter = ServerKind.Filter.leftOut(percent: percent)
        let bare = ServerKind.Filter.withoutID(percent: percent)
        let free: [(String, ServerKind)] = [
            ("any size", ServerKind()),
            ("any size, rows left out", ServerKind(filter: filter)),
            ("any size, end unsaid", ServerKind(end: .unsaid)),
        ]
        let limited: [(String, ServerKind)] = [
            ("at most \(most)", ServerKind(size: .capped(most))),
            ("at most \(most), else refused", ServerKind(size: .refusedAbove(most))),
        ]
        let fixed: [(String, ServerKind)] = [
            ("always \(size)", ServerKind(size: .fixed(size))),
            ("always \(size), rows left out", ServerKind(size: .fixed(size), filter: filter)),
            ("always \(size), rows without id", ServerKind(size: .fixed(size), filter: bare)),
            (
                "always \(size), total, rows left out",
                ServerKind(size: .fixed(size), filter: filter, end: .total)
            ),
            ("always \(size), end unsaid", ServerKind(size: .fixed(size), end: .unsaid)),
            (
                "always \(size), then the last page",
                ServerKind(size: .fixed(size), beyond: .lastPage, end: .unsaid)
            ),
            (
                "always \(size), then the first page",
                ServerKind(size: .fixed(size), beyond: .firstPage, end: .unsaid)
            ),
            ("always \(size), then refused", ServerKind(size: .fixed(size), beyond: .refusal, end: .unsaid)),
        ]
        return servers(free, [(.number, .free), (.offset, .free), (.number, .unknown)])
            + servers(limited, [(.number, .unknown), (.offset, .unknown)])
            + servers(Array(limited.prefix(1) + fixed.prefix(1)), [(.number, .free), (.offset, .free)])
            + servers(Array(fixed.prefix(1)), [(.number, .fixed(size + 1)), (.number, .fixed(size - 1))])
            + servers(
                fixed,
                [(.number, .fixed(size)), (.number, .unknown), (.offset, .fixed(size)), (.offset, .unknown)])
            + fixed.prefix(3).map { name, kind in
                var kind = kind
                kind.linksAreNumbers = true
                return NumberedServer(name: name, kind: kind, asking: .links, policy: .unknown)
            }
    }

    private static func servers(
        _ kinds: [(String, ServerKind)], _ declarations: [(Asking, SizePolicy)]
    ) -> [NumberedServer] {
        kinds.flatMap { name, kind in
            declarations.map { NumberedServer(name: name, kind: kind, asking: $0, policy: $1) }
        }
    }

    /// Where more is asked for, the server refuses.
    var mostAskable: Int {
        if case .refusedAbove(let most) = kind.size { most } else { .max }
    }

    /// Rows of a page when `limit` are asked for.
    func granted(_ limit: Int) -> Int {
        switch kind.size {
        case .free: limit
        case .capped(let most), .refusedAbove(let most): min(limit, most)
        case .fixed(let size): size
        }
    }
}
