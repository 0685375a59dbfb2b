import ArgumentParser
import Foundation

/// What is said about a cluster is said by `quire-node`, a program of its own: it links libnats, and this one
/// does not.
struct Node: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a node of a cluster: replicas that follow a shared log (quire-node).",
        discussion: """
            Runs the program quire-node, which is beside quire or on PATH, with these arguments: \
            quire node --help lists them.

            Example:
              quire node --nats nats://10.0.0.1:4222 --cache news --folder /var/lib/app
            """)

    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("For quire-node.", valueName: "arguments"))
    var arguments: [String] = []

    func run(_ output: Output) throws -> ExitStatus { throw NodeProgram.run(arguments) }
}

struct ClusterCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Show how a cluster is: servers, leader, entries, nodes (quire-node).",
        discussion: """
            quire cluster status runs quire-node status, with these arguments: quire cluster status --help lists them.

            Example:
              quire cluster status --nats nats://10.0.0.1:4222 --cache news
            """)

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("status, and what is for quire-node status.", valueName: "arguments"))
    var arguments: [String] = []

    func run(_ output: Output) throws -> ExitStatus {
        guard arguments.first == "status" else {
            throw Failure(
                .usage, "quire cluster status is all there is; quire cluster status --help lists its options")
        }
        throw NodeProgram.run(arguments)
    }
}

private enum NodeProgram {
    /// Becomes quire-node. Returns only if that is not possible.
    static func run(_ arguments: [String]) -> Failure {
        let own = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
        let others = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(
            String.init)
        let paths = ([own].compactMap(\.self) + others).map { "\($0)/quire-node" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            return Failure(
                .noInput,
                "there is no program quire-node beside quire or on PATH; make install-node in the checkout installs it"
            )
        }
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &words)
        let problem = String(cString: strerror(errno))
        return Failure(.io, "\(path): \(problem)")
    }
}
