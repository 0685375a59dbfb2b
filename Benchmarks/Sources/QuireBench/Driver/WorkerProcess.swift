import Foundation

/// The driver's side of a worker.
final class WorkerProcess {
    let engine: EngineName
    let folder: String
    let greeting: Greeting
    private let process: Process
    private let input: FileHandle
    private let lines: LineReader

    /// Starts a worker on a folder, which is created if it does not exist.
    init(
        _ engine: EngineName, in folder: String, _ workload: Workload, _ durability: Durability,
        isSyncing: Bool = false, loaded: Int = 0
    ) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let json = String(decoding: try JSONEncoder().encode(workload), as: UTF8.self)
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments =
            [
                "worker", "--engine", engine.rawValue, "--folder", folder, "--workload", json,
                "--durability", durability.rawValue, "--loaded", String(loaded),
            ] + (isSyncing ? ["--syncing"] : [])
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input.fileHandleForWriting
        self.engine = engine
        self.folder = folder
        lines = LineReader(output.fileHandleForReading)
        guard let line = lines.next() else { throw RunFailure("\(engine.rawValue): died at its start") }
        greeting = try JSONDecoder().decode(Greeting.self, from: line)
        if let failure = greeting.reply.failure { throw RunFailure(failure) }
    }

    /// Sends a command and waits for the reply.
    func perform(_ command: Command) throws -> Reply {
        var data = try JSONEncoder().encode(command)
        data.append(UInt8(ascii: "\n"))
        try input.write(contentsOf: data)
        guard let line = lines.next() else {
            process.waitUntilExit()
            throw RunFailure(
                "\(engine.rawValue): died in \(command.work), status \(process.terminationStatus)")
        }
        let reply = try JSONDecoder().decode(Reply.self, from: line)
        if let failure = reply.failure { throw RunFailure(failure) }
        return reply
    }

    func stop() throws {
        _ = try perform(Command(work: .stop))
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }
}

/// Reads a pipe line by line.
private final class LineReader {
    private let file: FileHandle
    private var rest = Data()

    init(_ file: FileHandle) { self.file = file }

    /// nil at the end of the pipe.
    func next() -> Data? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest[rest.startIndex..<end]
                rest = Data(rest[(end + 1)...])
                return Data(line)
            }
            let part = file.availableData
            if part.isEmpty { return nil }
            rest.append(part)
        }
    }
}

/// Why a run ended without results.
struct RunFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
