import Foundation

/// What lies beside a developer's checkout and is not part of the project; tests that need it count as
/// skipped where it is missing.
enum Shared {
    static let folder: String? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let shared = folder.appendingPathComponent("shared/oracle/RULES.md").path
            if FileManager.default.fileExists(atPath: shared) {
                return folder.appendingPathComponent("shared").path
            }
        }
        return nil
    }()

    /// A number from the environment.
    static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
