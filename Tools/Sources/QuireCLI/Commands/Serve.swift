import ArgumentParser
import Foundation
import Quire
import QuireInspector
import Synchronization

struct Serve: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show caches in a browser, live, while other programs write to them.",
        discussion: """
            Prints an address of this computer, with a token that is new each time; open it in a browser. Nobody \
            without the address can read the caches, and nothing is changed. Ctrl-C ends it.

            Example:
              quire serve so.quire gh.quire
            """)

    @Argument(help: "The files of the caches.", completion: .file())
    var caches: [String]

    @Option(help: ArgumentHelp("The port of 127.0.0.1; one that is free by default.", valueName: "number"))
    var port: UInt16 = 0

    func run(_ output: Output) throws -> ExitStatus {
        let opened = try caches.map { path in (cache: try openCache(path, isReadOnly: true), name: path) }
        let server: InspectorServer
        do {
            server = try InspectorServer(opened, port: port == 0 ? InspectorServer.freePort() : port)
        } catch let error as QuireError {
            throw error
        } catch {
            throw Failure(.temporary, "no port of 127.0.0.1 is free: \(error)")
        }
        Interruption.watch()
        let failure = Mutex<String?>(nil)
        let serving = Task.detached {
            do { try await server.run() } catch {
                failure.withLock { $0 = (error as? QuireError)?.message ?? "\(error)" }
            }
        }
        let isListening = Atomic(false)
        Task.detached {
            try await server.waitUntilListening()
            isListening.store(true, ordering: .releasing)
        }
        var isSaid = false
        while Interruption.received == 0 {
            if let message = failure.withLock({ $0 }) { throw Failure(.temporary, message) }
            if !isSaid, isListening.load(ordering: .acquiring) {
                try output.line(server.address)
                try output.flush()
                isSaid = true
            }
            usleep(20_000)
        }
        serving.cancel()
        return .ok
    }
}
