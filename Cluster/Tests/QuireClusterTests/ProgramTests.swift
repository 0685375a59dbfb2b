import ClusterTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@testable import QuireCluster

/// The programs of the package, as processes.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NATSServers.program != nil, "nats-server is not installed"))
struct ProgramTests {
    private let folder = ScratchFolder()

    private func process(_ name: String, _ arguments: [String]) -> Process {
        let process = Process()
        // where the tests are, on Linux and in a bundle
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/quire-node") {
            folder.deleteLastPathComponent()
        }
        process.executableURL = folder.appendingPathComponent(name)
        process.arguments = arguments
        return process
    }

    /// Waits on a thread of its own: tests share as few as there are processors. The program ends with the
    /// test.
    private func output(
        _ name: String, _ arguments: [String]
    ) async throws -> (status: Int32, text: String) {
        let (process, pipe) = (process(name, arguments), Pipe())
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
                }
            }
        } onCancel: {
            process.terminate()
        }
        return (process.terminationStatus, text)
    }

    /// The leader of the log is killed, and a node in a process of its own: nothing is lost, all are equal.
    @Test func theDemoLosesNothing() async throws {
        let (status, text) = try await output("quire-cluster-demo", [])
        #expect(status == 0 && text.contains("nothing is lost, and all nodes are equal"), "\(text)")
    }

    @Test func aNodeTellsHowItIsDoing() async throws {
        let servers = try NATSServers(1, in: folder.path)
        let log = [
            "--nats", servers.addresses[0], "--cache", "test", "--replicas", "1", "--allow-one-replica",
        ]
        let port = servers.sparePort
        let node = process(
            "quire-node",
            ["run", "--folder", "\(folder.path)/a", "--port", "\(port)", "--name", "first"] + log)
        node.standardOutput = FileHandle.nullDevice
        try node.run()
        defer {
            node.terminate()
            node.waitUntilExit()
        }
        let writer = try await ClusterCache.open(
            NATSOptions(servers: servers.addresses), folder: "\(folder.path)/b", cache: "test", replicas: 1,
            allowsOneReplica: true)
        for i in 0..<3 { _ = try await writer.submit([.setAttribute("a", to: [UInt8(i)])]) }
        try await writer.checkpoint()
        func get(_ path: String) async throws -> (Int, String) {
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/\(path)"))
            let (data, response) = try await URLSession.shared.data(from: url)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
        }
        var metrics = ""
        while !metrics.contains("quire_applied_entry{shard=\"0\"} 3") {
            try Task.checkCancellation()
            metrics = (try? await get("metrics"))?.1 ?? ""
        }
        #expect(metrics.contains("# TYPE quire_lag_entries gauge\nquire_lag_entries{shard=\"0\"} 0\n"))
        #expect(try await get("health") == (200, "shard 0: entry 3 of 3: follows\n"))
        #expect(try await get("other").0 == 404)
        let (status, text) = try await output("quire-node", ["status", "--compare"] + log)
        #expect(status == 0 && text.contains("entries     1 to 3,"), "\(text)")
        #expect(text.contains("checkpoint  entry 3,"), "\(text)")
        #expect(text.contains("\(servers.addresses[0]), 3 entries equal to the leader's\n"), "\(text)")
        #expect(text.contains("\n  node        first, entry 3, 0 behind\n"), "\(text)")
        #expect(text.contains("\(folder.path)/b, entry 3, 0 behind\n"), "\(text)")
        servers.killAll()
        var health = (0, "")
        while health.0 != 503 { health = try await get("health") }
        #expect(health.1.contains("shard 0: entry 3 of 3: "))
    }

    @Test func theSampleConfigurationFlushes() async throws {
        let (status, text) = try await output("quire-node", ["configuration", "a", "b", "c"])
        #expect(status == 0 && text.contains("sync_interval: always"))
        #expect(text.contains("routes: [nats://a:6222, nats://b:6222, nats://c:6222]"))
    }
}
