import Foundation

/// A new folder for one test: in memory where there is such a place, because these tests are about rules
/// and not about disks. The caller removes it.
enum TestFolder {
    static func make() throws -> String {
        let isShared = FileManager.default.fileExists(atPath: "/dev/shm")
        let folder = (isShared ? "/dev/shm" : NSTemporaryDirectory()) + "/quire-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}
