import Foundation

/// A new folder, which goes with this value: in memory where there is such a place.
public final class ScratchFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes one.
    public init() {
        let isShared = FileManager.default.fileExists(atPath: "/dev/shm")
        path = (isShared ? "/dev/shm" : NSTemporaryDirectory()) + "/quire-cluster-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// A new folder in another one.
    public static func made(under folder: String, _ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        return "\(folder)/\(name)"
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
