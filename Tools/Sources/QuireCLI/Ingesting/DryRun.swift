import Foundation
import Quire

/// A copy of a cache to try things on, which goes away with this object.
final class DryRun {
    let path: String
    private let folder: String

    /// A copy of the cache at this path, or nothing if there is none.
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
