import Foundation

/// The Swift compiler, with the engine's module of this build.
enum Compiler {
    /// Where this build put the engine's module: beside the test bundle.
    static let modules: String? = {
        guard
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        else { return nil }
        let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
            .appendingPathComponent("Modules").path
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }()

    /// What the compiler says about a file of declarations.
    static func compile(_ source: String) throws -> String {
        try inFolder(source) { folder in
            try run(["swiftc", "-emit-sil", "-o", "out", "-parse-as-library"] + flags, in: folder)
        }
    }

    /// Builds a program, linked with targets of this build, and runs it in an empty folder. Returns
    /// what the compiler complained about, else what the program printed.
    static func buildAndRun(_ source: String, with targets: [String] = ["Quire"]) throws -> String {
        let build = URL(fileURLWithPath: modules!).deletingLastPathComponent()
        let names = try targets.flatMap { target in
            // Objects of sources that are gone may still lie there.
            let objects = build.appendingPathComponent("\(target).build").path
            return try FileManager.default.subpathsOfDirectory(atPath: package + "/Sources/" + target)
                .filter { $0.hasSuffix(".swift") }
                .map { objects + "/" + URL(fileURLWithPath: $0).lastPathComponent + ".o" }
        }
        // In the package that Packaging/write-swift-package writes, LMDB is a target.
        let objects = build.appendingPathComponent("CLMDB.build").path
        let own = (try? FileManager.default.contentsOfDirectory(atPath: objects)) ?? []
        let lmdb = own.filter { $0.hasSuffix(".c.o") }.map { objects + "/" + $0 }
        let inputs = names + (lmdb.isEmpty ? ["-llmdb"] : lmdb)
        return try inFolder(source) { folder in
            let complaints = try run(["swiftc", "-o", "out"] + flags + inputs, in: folder)
            return complaints.isEmpty ? try run(["./out"], in: folder) : complaints
        }
    }

    private static var flags: [String] {
        [
            "main.swift", "-swift-version", "6", "-I", modules!, "-Xcc",
            "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap",
        ]
    }

    private static func inFolder(_ source: String, _ body: (String) throws -> String) throws -> String {
        let folder = NSTemporaryDirectory() + "/quire-compile-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try source.write(toFile: folder + "/main.swift", atomically: false, encoding: .utf8)
        return try body(folder)
    }

    private static func run(_ command: [String], in folder: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// The Swift blocks of a document of the package.
    static func examples(in document: String) throws -> [String] {
        let text = try String(contentsOfFile: package + "/" + document, encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    /// The folder of the package.
    static let package: String = {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        return folder.path
    }()
}
