import Foundation
import Quire

/// A temporary copy of a cache for dry runs, which is removed with this object.
final class DryRun {
    let path: String
    private let folder: String

    /// Copies the cache at this path, if there is one.
    init(of path: String) throws {
        folder = NSTemporaryDirectory() + "quire-dry-run-" + UUID().uuidString
        self.path = folder + "/copy.quire"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(.cannotCreate, "\(folder): cannot be created")
        }
        if exists(path) { try Cache(at: path).copy(to: self.path) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
