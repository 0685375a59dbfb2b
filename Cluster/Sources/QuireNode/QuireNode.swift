import ArgumentParser
import QuireCluster

/// A node as a program, and what one asks about a cluster.
@main struct QuireNode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quire-node", abstract: "Follows the shared log of a cluster.",
        version: "0.1.0",
        subcommands: [Run.self, Status.self, Configuration.self], defaultSubcommand: Run.self)
}

/// How to reach the log.
struct LogArguments: ParsableArguments {
    @Option(
        name: .customLong("nats"), help: "A server, like nats://10.0.0.1:4222. May be given several times.")
    var servers: [String]

    @Option(help: "The name of what is shared.")
    var cache: String

    @Option(name: .customLong("shard"), help: "A shard. All nodes name the same ones in the same order.")
    var shards: [String] = ["0"]

    @Option(help: "How many servers keep the log.")
    var replicas = 3

    @Flag(help: "Accept a log that one server keeps: what it acknowledged is lost with that server.")
    var allowOneReplica = false

    @Flag(
        help:
            "Accept servers before 2.12: they lose acknowledged writes when one is cut off from the others."
    )
    var allowOldServers = false

    @Option(help: ArgumentHelp("A file with credentials, as nsc writes it.", valueName: "file"))
    var credentials: String?

    @Flag(help: "Speak TLS only, with the certificates of the system.")
    var tls = false

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp("Certificates that the servers' are signed by.", valueName: "file"))
    var certificateAuthority: String?

    @Option(name: .customLong("cert"), help: ArgumentHelp("The certificate of this node.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("The private key of that certificate.", valueName: "file"))
    var key: String?

    @Option(help: "The name that the servers' certificates must have.")
    var hostname: String?

    var options: NATSOptions {
        var options = NATSOptions(servers: servers)
        (options.credentials, options.allowsOldServers) = (credentials, allowOldServers)
        options.isSecure = tls
        options.certificateAuthority = certificateAuthority
        (options.certificate, options.key, options.hostname) = (certificate, key, hostname)
        return options
    }

    func validate() throws {
        if servers.isEmpty { throw ValidationError("--nats names no server") }
        if (certificate == nil) != (key == nil) {
            throw ValidationError("--cert and --key belong together")
        }
    }
}
