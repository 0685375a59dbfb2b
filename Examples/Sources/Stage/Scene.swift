import Foundation
import Quire
import QuirePaging
import Synchronization

/// Runs a program with a cache in a folder that is removed afterwards.
public nonisolated(nonsending) func withCache(
    _ body: nonisolated(nonsending) (_ path: String) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appending(path: "cache.quire").path)
}

extension Feed {
    /// The feed in one line, long runs abridged: `[60 59 … 42 41] ~ [20 19 … 2 1]`; `~` is a gap, `?` a post
    /// whose body has not been fetched.
    public var picture: String {
        get throws {
            let rows = try cache.withSnapshot { try $0.rows(of: self, limit: .max) }
            let segments = rows.split(whereSeparator: { $0.gap != nil }).map { segment in
                let names = segment.compactMap(\.post).map {
                    ($0.isPlaceholder ? "?" : "") + $0.id.description
                }
                let isLong = names.count > 6
                let shown = isLong ? names.prefix(2) + ["…"] + names.suffix(2) : names[...]
                return "[\(shown.joined(separator: " "))]"
            }
            return segments.joined(separator: " ~ ")
        }
    }
}

/// A value that an example and its server share.
public final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    public init(_ value: Value) { state = Mutex(value) }

    public var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    public func change(_ body: @Sendable (inout Value) -> Void) { state.withLock { body(&$0) } }
}
