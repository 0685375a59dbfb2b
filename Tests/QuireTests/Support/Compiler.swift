import Foundation

/// The Swift compiler, with the engine's module of this build.
enum Compiler {
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

    /// What the compiler says about a source file: a program with statements, or declarations only.
    static func compile(_ source: String, isProgram: Bool) throws -> String {
        let folder = NSTemporaryDirectory() + "/quire-compile-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/main.swift"
        try source.write(toFile: file, atomically: false, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-emit-sil", "-o", folder + "/out", "-swift-version", "6"]
            + (isProgram ? [] : ["-parse-as-library"])
            + ["-I", modules!, "-Xcc", "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap", file]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// The folder of the package.
    static let package: String = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        return folder.path
    }()
}
