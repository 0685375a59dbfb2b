import ArgumentParser
import Dispatch
import FlyingFox
import FlyingSocks
import Foundation
import QuireCluster

/// Keeps the replicas of a folder up to date, until SIGTERM or SIGINT.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a node: replicas in a folder, figures over HTTP on loopback.",
        discussion: """
            GET /metrics has the figures in the text format of Prometheus. GET /health is 200 while every shard \
            follows its log and lags less than --lag entries behind, else 503 with the reason.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: "Where the replicas are.")
    var folder: String

    @Option(help: "What the node is called in reports; by default the machine and the folder.")
    var name: String?

    @Option(help: "The port of 127.0.0.1 for /metrics and /health; 0 for none.")
    var port: UInt16 = 9422

    @Option(help: "How many entries behind still counts as healthy.")
    var lag: UInt64 = 1000

    @Option(help: "After how many entries a checkpoint is stored and the log trimmed; 0 never.")
    var checkpointInterval: UInt64 = 4096

    func run() async throws {
        var options = ClusterOptions()
        options.checkpointInterval = checkpointInterval
        options.node = name
        options.onEvent = { event in
            FileHandle.standardError.write(Data("quire-node: \(event.text)\n".utf8))
        }
        let cluster = try await ClusterCache.open(
            log.options, folder: folder, cache: log.cache, shards: log.shards, replicas: log.replicas,
            allowsOneReplica: log.allowOneReplica, options: options)
        print("following \(log.shards.count) shard(s) of \(log.cache) in \(folder)")
        let serving =
            port == 0 ? nil : Task { [lag, port] in try await Self.serve(cluster, port: port, lag: lag) }
        await Self.waitForSignal()
        serving?.cancel()
        await cluster.close()
    }

    private static func serve(_ cluster: ClusterCache, port: UInt16, lag: UInt64) async throws {
        let server = HTTPServer(
            config: HTTPServer.Configuration(
                address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), timeout: 30, logger: .disabled),
            handler: ClosureHTTPHandler { request in
                let figures = Figures(cluster.status, lag: lag)
                switch (request.method, request.path) {
                case (.GET, "/metrics"):
                    return HTTPResponse(
                        statusCode: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                        body: Data(figures.metrics.utf8))
                case (.GET, "/health"):
                    return HTTPResponse(
                        statusCode: figures.isHealthy ? .ok : .serviceUnavailable,
                        headers: [.contentType: "text/plain; charset=utf-8"], body: Data(figures.health.utf8))
                default: return HTTPResponse(statusCode: .notFound)
                }
            })
        do { try await server.run() } catch SocketError.failed(_, _, let message) {
            FileHandle.standardError.write(Data("quire-node: port \(port) of 127.0.0.1: \(message)\n".utf8))
        }
    }

    private static func waitForSignal() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}

extension ClusterEvent {
    fileprivate var text: String {
        switch self {
        case .rebuilt(let shard, .otherHistory, let lost):
            "shard \(shard): the log lost entries that it had acknowledged; the replica was made anew; "
                + "\(lost) writes of this node are lost"
        case .rebuilt(let shard, .behind, _):
            "shard \(shard): was behind what the log keeps; the replica was made anew from a checkpoint"
        case .rebuilt(let shard, .file(let text), _):
            "shard \(shard): the replica could not be used (\(text)); it is made anew"
        case .stalled(let shard, let text): "shard \(shard): nothing is applied now: \(text)"
        }
    }
}
