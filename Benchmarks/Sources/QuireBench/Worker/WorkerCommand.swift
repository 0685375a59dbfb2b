import ArgumentParser
import Foundation

/// The process of one engine. Commands come in on standard input, replies go out on standard output.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "One engine in a process of its own.", shouldDisplay: false)

    @Option var engine: EngineName
    @Option var folder: String
    @Option(help: "The workload as JSON.") var workload: String
    @Option var durability = Durability.ordinary
    @Option(help: "Pages the files hold already.") var loaded = 0
    @Flag var syncing = false

    func run() throws {
        let workload = try JSONDecoder().decode(Workload.self, from: Data(workload.utf8))
        let worker: Worker
        do {
            let started = try Worker.start(
                engine, in: folder, workload, durability, isSyncing: syncing, loaded: loaded)
            worker = started.worker
            var greeting = worker.greeting
            greeting.reply = started.opening
            try Self.send(greeting)
        } catch {
            let reply = Reply(failure: "\(engine.rawValue): \(error)")
            try Self.send(Greeting(version: "", about: "", reply: reply))
            return
        }
        while let line = readLine() {
            let command = try JSONDecoder().decode(Command.self, from: Data(line.utf8))
            var reply: Reply
            do {
                reply = try worker.perform(command)
            } catch {
                reply = Reply(failure: "\(engine.rawValue): \(command.work): \(error)")
            }
            try Self.send(reply)
            if command.work == .stop { break }
        }
    }

    private static func send(_ message: some Encodable) throws {
        var line = try JSONEncoder().encode(message)
        line.append(UInt8(ascii: "\n"))
        try FileHandle.standardOutput.write(contentsOf: line)
    }
}

extension EngineName: ExpressibleByArgument {}
extension Durability: ExpressibleByArgument {}
extension IDOrder: ExpressibleByArgument {}
