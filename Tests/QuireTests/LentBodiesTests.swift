import Foundation
import Testing

/// The compiler keeps bodies, and snapshots, inside the snapshot they come from.
@Suite struct LentBodiesTests {
    /// Where this build put the engine's module: beside the test bundle.
    static let modules: String? = {
        guard
            let program = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/exe")
        else { return nil }
        let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
            .appendingPathComponent("Modules").path
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }()

    @Test(
        .enabled(if: modules != nil, "needs the build's modules"),
        arguments: [
            ("let size = try snapshot.body(of: row).byteCount; _ = size", nil),
            ("kept = try snapshot.body(of: row)", "escapes its scope"),
            ("let copy = snapshot; _ = copy.self", "cannot be consumed"),
        ])
    func compiles(statement: String, complaint: String?) throws {
        let source = """
            import Quire
            func use(_ cache: Cache, _ feed: Feed) throws {
                var kept = RawSpan()
                try cache.withSnapshot { snapshot in
                    let row = try snapshot.find(1, in: feed)!
                    _ = row
                    \(statement)
                }
                _ = kept.byteCount
                kept = RawSpan()
            }
            """
        let output = try compile(source)
        if let complaint {
            #expect(output.contains(complaint), "\(output)")
        } else {
            #expect(!output.contains("error:"), "\(output)")
        }
    }

    private func compile(_ source: String) throws -> String {
        let folder = NSTemporaryDirectory() + "/quire-lent-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/main.swift"
        try source.write(toFile: file, atomically: false, encoding: .utf8)
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-emit-sil", "-o", folder + "/out", "-swift-version", "6", "-I", Self.modules!,
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap", "-parse-as-library", file,
        ]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
