import Foundation
import Testing

/// The built program `quire`, run as others run it.
enum Tool {
    /// It lies beside the test bundle, wherever that was built.
    static let path: String = {
        let places: [String?] = [
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            CommandLine.arguments.first, Bundle.main.bundlePath, Bundle.main.executablePath,
        ]
        for place in places.compactMap(\.self) {
            var folder = URL(fileURLWithPath: place)
            for _ in 0..<4 {
                folder.deleteLastPathComponent()
                let path = folder.appendingPathComponent("quire").path
                if FileManager.default.isExecutableFile(atPath: path), !isFolder(path) { return path }
            }
        }
        fatalError("the program quire does not lie near the tests")
    }()

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = ObjCBool(false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

/// What a run of a program left.
struct Run {
    let status: Int32
    let out: String
    let err: String

    var lines: [String] { out.split(separator: "\n").map(String.init) }
    var errLines: [String] { err.split(separator: "\n").map(String.init) }

    /// The objects, one per line.
    func objects() throws -> [[String: Any]] {
        try lines.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    /// The numbers and flags of the only object.
    func object() throws -> JSONObject {
        let objects = try objects()
        try #require(objects.count == 1, "\(out)\(err)")
        return JSONObject(values: objects[0])
    }
}

struct JSONObject {
    let values: [String: Any]

    subscript(_ name: String) -> Int? { (values[name] as? NSNumber)?.intValue }
    func flag(_ name: String) -> Bool? { values[name] as? Bool }
    func text(_ name: String) -> String? { values[name] as? String }
}

/// A folder of its own with pages and caches, removed with the object.
final class Sandbox {
    let folder: String
    var cache: String { path("test.quire") }
    private var runs = 0

    init() throws {
        let shared = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : nil
        folder = (shared ?? NSTemporaryDirectory()) + "/quire-cli-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    // MARK: Running

    func start(
        _ program: String, _ arguments: [String], input: FileHandle = .nullDevice,
        environment: [String: String] = [:]
    ) throws -> (process: ChildProcess, out: String, err: String) {
        runs += 1
        let (out, err) = (path("run-\(runs).out"), path("run-\(runs).err"))
        for file in [out, err] { try Data().write(to: URL(fileURLWithPath: file)) }
        let process = try ChildProcess(
            program, arguments, in: folder,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, input: input,
            output: #require(FileHandle(forWritingAtPath: out)),
            errors: #require(FileHandle(forWritingAtPath: err)))
        return (process, out, err)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Run {
        let (process, out, err) = try start(program, arguments)
        process.waitUntilExit()
        func text(_ path: String) -> String {
            String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }
        return Run(status: process.status, out: text(out), err: text(err))
    }

    /// Runs quire.
    func quire(_ arguments: String...) throws -> Run { try run(Tool.path, arguments) }
    func quire(_ arguments: [String]) throws -> Run { try run(Tool.path, arguments) }

    /// Runs a line of shell, in which `$Q` is quire and `$C` the cache.
    func shell(_ line: String) throws -> Run {
        try run("/bin/sh", ["-c", "Q='\(Tool.path)'; C='\(cache)'; \(line)"])
    }

    // MARK: Pages

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    /// A response in the manner of Stack Exchange, as a file; returns its path. The key of a post is a
    /// thousand times its id.
    @discardableResult
    func page(_ name: String, _ ids: some Sequence<Int>, more: Bool = true) throws -> String {
        let items = ids.map {
            #"{"question_id": \#($0), "last_activity_date": \#($0 * 1_000), "title": "post \#($0)"}"#
        }
        try write(
            name,
            "{\n  \"items\": [\n    \(items.joined(separator: ",\n    "))\n  ],\n  \"has_more\": \(more)\n}\n"
        )
        return path(name)
    }

    /// Pages 1.json, 2.json, … of ten posts each, the first from `top` down.
    func pages(_ numbers: ClosedRange<Int>, top: Int = 1_000) throws -> [String] {
        try numbers.map { number in
            let first = top - (number - 1) * 10
            return try page("\(number).json", (first - 9...first).reversed())
        }
    }
}

/// What lies beside a developer's checkout; tests that need it are skipped where it is missing.
enum Shared {
    static let fixtures: String? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let fixtures = folder.appendingPathComponent("shared/fixtures").path
            if FileManager.default.fileExists(atPath: fixtures) { return fixtures }
        }
        return nil
    }()

    static func path(_ name: String) throws -> String { try #require(fixtures) + "/" + name }
}
