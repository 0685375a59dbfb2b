import ArgumentParser

/// Prints the configuration of a server of NATS.
struct Configuration: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration", abstract: "Print a configuration for one of three servers of NATS.")

    @Argument(help: "The names or addresses of the servers; the first is the one that this is for.")
    var hosts: [String]

    @Option(help: "Where the server keeps the logs.")
    var store = "/var/lib/nats"

    func run() {
        let routes = hosts.map { "nats://\($0):6222" }.joined(separator: ", ")
        print(
            """
            # nats-server -c FILE
            server_name: \(hosts.first ?? "nats-1")
            listen: 0.0.0.0:4222
            # An entry of a log has at most 1 MiB, which is the default.
            max_payload: 1MB
            jetstream {
                store_dir: "\(store)"
                # Each entry is on the disk of two servers before it is acknowledged. Without this a power failure of
                # several servers may lose the last seconds. It takes twice as long. From version 2.10 on.
                sync_interval: always
            }
            cluster {
                name: quire
                listen: 0.0.0.0:6222
                routes: [\(routes)]
            }
            # tls { cert_file: "server.pem", key_file: "server.key", ca_file: "ca.pem", verify: true }
            # authorization { token: "..." } or accounts; see https://docs.nats.io
            """)
    }
}
