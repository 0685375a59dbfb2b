import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Real servers of NATS on loopback, which form one cluster. They end with this value.
public final class NATSServers: Sendable {
    /// Where `nats-server` is, nil if it is not installed: `NATS_SERVER`, or the one that
    /// Cluster/install-dependencies has put under `build`, or the first on `PATH`.
    public static let program: String? = {
        if let path = ProcessInfo.processInfo.environment["NATS_SERVER"] { return path }
        let folders =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin"]
        var checkout = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { checkout.deleteLastPathComponent() }
        let own = checkout.appendingPathComponent("build/nats-server/bin").path
        return ([own] + folders).map { "\($0)/nats-server" }.first { access($0, X_OK) == 0 }
    }()

    private struct Server: Sendable {
        let host: String
        let port: UInt16
        let folder: String
        var process: pid_t?
        /// As long as it is open the server lives: it ends with this program, also if that is killed.
        var lifeline: FileHandle?
    }

    private let servers: Mutex<[Server]>
    private let folder: String
    private let places: [ServerNetwork.Place]
    /// A port of loopback that no other servers take, for a program that a test starts beside them.
    public let sparePort: UInt16
    /// What keeps the ports for these servers.
    private let holders: [FileHandle]

    /// Starts servers, and returns when they listen. Their streams have no leaders yet: what uses them waits.
    /// - Parameters:
    ///   - extra: lines for each configuration.
    ///   - network: Where they run; nil for loopback.
    public init(
        _ count: Int = 3, in folder: String, extra: String = "", network: ServerNetwork? = nil
    ) throws {
        self.folder = folder
        let loopback = ServerNetwork.Place(host: "127.0.0.1", command: [])
        places = network?.places ?? Array(repeating: loopback, count: count)
        let held = try Self.freePorts(2 * count + 1)
        let ports = held.dropLast().map(\.number)
        sparePort = held.last!.number
        holders = held.map(\.holder)
        let routes = zip(places, ports[count...]).map { "nats://\($0.host):\($1)" }.joined(separator: ", ")
        var made: [Server] = []
        for i in 0..<count {
            let place = "\(folder)/nats-\(i)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            var text = """
                host: \(places[i].host)
                port: \(ports[i])
                server_name: server-\(i)
                pid_file: "\(place)/pid"
                log_file: "\(place)/log"
                jetstream { store_dir: "\(place)/data", max_mem: 64M, max_file: 4G }
                \(extra)

                """
            if count > 1 {
                text +=
                    "cluster { name: quire, host: \(places[i].host), port: \(ports[count + i]), "
                    + "routes: [\(routes)] }\n"
            }
            try text.write(toFile: "\(place)/conf", atomically: true, encoding: .utf8)
            made.append(Server(host: places[i].host, port: ports[i], folder: place))
        }
        servers = Mutex(made)
        for i in 0..<count { try start(i) }
    }

    deinit { killAll() }

    /// The number of servers.
    public var count: Int { servers.withLock { $0.count } }

    /// What clients connect to.
    public var addresses: [String] { servers.withLock { $0.map { "nats://\($0.host):\($0.port)" } } }

    /// Starts a server that does not run, and returns when it listens.
    public func start(_ index: Int) throws {
        guard let program = Self.program else { throw Failure(text: "nats-server is not installed") }
        let server = servers.withLock { $0[index] }
        let process = Process()
        let words = places[index].command + [program, "-c", "\(server.folder)/conf"]
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let (pipe, watcher) = (Pipe(), Process())
        watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
        watcher.arguments = ["-c", "cat; kill -9 \(process.processIdentifier) 2>/dev/null"]
        watcher.standardInput = pipe
        try watcher.run()
        servers.withLock {
            ($0[index].process, $0[index].lifeline) = (process.processIdentifier, pipe.fileHandleForWriting)
        }
        let end = ContinuousClock.now + .seconds(20)
        while !Self.listens(server.host, server.port) {
            guard ContinuousClock.now < end else {
                throw Failure(text: "nats-server \(index) does not start")
            }
            usleep(10_000)
        }
    }

    /// Kills a server at once (SIGKILL), and returns when it has ended.
    public func kill(_ index: Int) {
        let process = servers.withLock { servers in
            defer { servers[index].process = nil }
            return servers[index].process
        }
        guard let process else { return }
        Self.signal(process, SIGKILL)
        // Foundation may see that late: a program that was started at the same time can have inherited what
        // tells it.
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Stops a server, which keeps its connections, or lets it go on.
    public func pause(_ index: Int, _ isPaused: Bool) {
        guard let process = servers.withLock({ $0[index].process }) else { return }
        Self.signal(process, isPaused ? SIGSTOP : SIGCONT)
    }

    /// Empties the disk of a server that does not run.
    public func wipe(_ index: Int) throws {
        try FileManager.default.removeItem(atPath: "\(servers.withLock { $0[index].folder })/data")
    }

    /// Kills those that run, all at once.
    public func killAll() {
        let processes = servers.withLock { $0.compactMap(\.process) }
        for process in processes { Self.signal(process, SIGKILL) }
        for i in 0..<count { kill(i) }
    }

    /// The server with this name.
    public static func index(ofLeader name: String) -> Int? {
        name.split(separator: "-").last.flatMap { Int($0) }
    }

    /// What went wrong.
    public struct Failure: Error, CustomStringConvertible {
        let text: String
        public var description: String { text }
    }

    @discardableResult
    private static func signal(_ process: pid_t, _ number: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.kill(process, number)
        #else
            Darwin.kill(process, number)
        #endif
    }

    private static func newSocket() -> Int32 {
        #if canImport(Glibc)
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func withAddress<R>(
        _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>) -> R
    ) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }

    private static func listens(_ host: String, _ port: UInt16) -> Bool {
        let descriptor = newSocket()
        defer { close(descriptor) }
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withAddress(host, port) { connect(descriptor, $0, size) } == 0
    }

    /// Ports that no program uses now. They are below those that the system gives to clients, so that no
    /// client of another test takes one before its server does. A socket is bound to each as long as the
    /// servers live, so that no other ones choose it before it is listened to.
    private static func freePorts(_ count: Int) throws -> [(number: UInt16, holder: FileHandle)] {
        var ports: [(number: UInt16, holder: FileHandle)] = []
        for _ in 0..<10_000 where ports.count < count {
            let port = UInt16.random(in: 20_000..<32_000)
            if let holder = holder(of: port) { ports.append((port, holder)) }
        }
        guard ports.count == count else { throw Failure(text: "no free ports") }
        return ports
    }

    /// Binds a socket to a port that no other one is bound to. A server may listen there all the same.
    private static func holder(of port: UInt16) -> FileHandle? {
        let descriptor = newSocket()
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withAddress("127.0.0.1", port, { bind(descriptor, $0, size) }) == 0 else {
            close(descriptor)
            return nil
        }
        var isShared: Int32 = 1  // from now on: who asks for it may bind as well
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
