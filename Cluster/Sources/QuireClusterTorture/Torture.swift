import ClusterTesting
import Foundation
import Quire
import QuireCluster

/// Three servers of NATS and three nodes, in Swift, C and Python, each in a process of its own. Servers and
/// nodes are killed, wiped, cut off, left behind and starved of disk while all nodes write. In the end no
/// acknowledged page may be missing, and all replicas are equal.
///
/// Environment: QUIRE_TORTURE_C, QUIRE_TORTURE_PYTHON name the programs (Scripts/torture-cluster builds
/// them). Arguments: how many leaders, all servers and nodes are killed: 20 3 20; and which accidents happen
/// then: wipe partition trim disk; also wipe-and-return.
@main struct Torture {
    static let lists = ["swift": 1, "c": 2, "python": 3, "shared": 9]

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments.first == "worker" {
                try await SwiftWorker(Array(arguments.dropFirst())).run()
            } else {
                let numbers = arguments.compactMap { Int($0) }
                let named = arguments.filter { Int($0) == nil }
                let torture = try await Torture(
                    numbers.count == 3 ? numbers : [20, 3, 20],
                    named.isEmpty ? ["wipe", "partition", "trim", "disk"] : named)
                try await torture.run()
            }
        } catch {
            FileHandle.standardError.write(Data("quire-cluster-torture: \(error)\n".utf8))
            exit(1)
        }
    }

    private let folder = ScratchFolder()
    private let network: ServerNetwork?
    private let servers: NATSServers
    private let nodes: [WorkerProcess]
    private let judge: ClusterCache
    private let address: String
    private let counts: [Int]
    private let accidents: [String]
    private let began = ContinuousClock.now

    private init(_ counts: [Int], _ accidents: [String]) async throws {
        (self.counts, self.accidents) = (counts, accidents)
        do { network = try ServerNetwork() } catch {
            print("no network namespaces here (\(error)): a stopped server stands in for one that is cut off")
            network = nil
        }
        servers = try NATSServers(3, in: folder.path, network: network)
        // also servers that lose are tried
        let hosts = servers.addresses.map { $0.replacing("nats://", with: "") }.joined(separator: ",")
        address = "nats://\(hosts)/torture?timeout=60&old-servers=yes"
        var options = ClusterOptions()
        options.checkpointInterval = 0
        options.margin = 4
        options.onEvent = { print("          the judge: \($0)") }
        judge = try await ClusterCache.open(address, folder: "\(folder.path)/judge", options: options)
        let feedOptions = FeedOptions(order: .keyless, pageSize: 5)
        for name in Self.lists.keys.sorted() { _ = try await judge.feed(named: name, options: feedOptions) }
        let environment = ProcessInfo.processInfo.environment
        let own = Bundle.main.executablePath.map { [$0, "worker"] }
        let programs = [
            ("swift", own), ("c", environment["QUIRE_TORTURE_C"].map { [$0] }),
            ("python", environment["QUIRE_TORTURE_PYTHON"].map { $0.split(separator: " ").map(String.init) }),
        ]
        var nodes: [WorkerProcess] = []
        for (name, program) in programs {
            guard let program else {
                print("no node in \(name)")
                continue
            }
            let place = "\(folder.path)/\(name)"
            let arguments = [address, place, name, "\(Self.lists[name] ?? 0)", "shared", "9"]
            nodes.append(try WorkerProcess(name, program + arguments, folder: place))
        }
        self.nodes = nodes
    }

    private func say(_ text: String) {
        print(String(format: "%6.1f s  ", (ContinuousClock.now - began) / .seconds(1)) + text)
        fflush(nil)
    }

    private func run() async throws {
        defer { for node in nodes { node.kill() } }
        for node in nodes { try node.start() }
        for node in nodes { try await node.wait(for: 20) }
        let version = try await kept().version ?? "before 2.11"
        say(
            "three servers of version \(version), \(nodes.count) nodes write: "
                + nodes.map(\.name).joined(separator: ", ")
        )
        try await killLeaders(counts[0])
        try await killAll(counts[1])
        try await killNodes(counts[2])
        for accident in accidents {
            switch accident {
            case "wipe": try await wipe()
            case "wipe-and-return": try await wipe(returnsAtOnce: true)
            case "partition": try await partitions()
            case "trim": try await leaveBehind()
            case "disk": try await fillDisk()
            default: throw Trouble("there is no accident \(accident)")
            }
        }
        for node in nodes { try await node.wait(for: 5) }
        for node in nodes { try await node.end() }
        say(
            "the nodes have ended: \(nodes.map { "\($0.name) \($0.count)" }.joined(separator: ", ")) acknowledged pages"
        )
        try await Judge(address: address, judge: judge, servers: servers.addresses).run(
            nodes, lists: Self.lists)
        await judge.close()
        say("0 acknowledged pages lost, equal hashes, check clean")
    }

    // MARK: What happens to them

    /// The server that leads the log.
    private func leader() async throws -> Int {
        let end = ContinuousClock.now + .seconds(60)
        while .now < end {
            if let leader = try? await kept().leader.flatMap({ NATSServers.index(ofLeader: $0) }) {
                return leader
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Trouble("the log has no leader for a minute")
    }

    private func kept() async throws -> LogServers {
        var options = NATSOptions(servers: servers.addresses)
        options.allowsOldServers = true
        let log = try await JetStreamLog.open(options, cache: "torture", shard: "0")
        defer { log.close() }
        return try await log.servers()
    }

    /// Waits until each server has what the leader has: another loss before that would be a second one.
    private func waitForServers() async throws {
        let end = ContinuousClock.now + .seconds(90)
        while .now < end {
            if let kept = try? await kept(), kept.leader != nil, kept.followers.count == 2,
                kept.followers.allSatisfy({ $0.isCurrent && !$0.isAway })
            {
                return
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        throw Trouble("the servers do not come together")
    }

    /// Does something, waits until all nodes write again, and returns their longest pause.
    private func pause(_ body: () async throws -> Void) async throws -> Double {
        for node in nodes { node.resetPause() }
        try await body()
        for node in nodes { try await node.wait(for: 3) }
        return nodes.map { $0.pause / .seconds(1) }.max() ?? 0
    }

    private func text(_ pauses: [Double]) -> String {
        let words = pauses.map { String(format: "%.1f", $0) }.joined(separator: " ")
        return "pauses \(words) s; longest \(String(format: "%.1f", pauses.max() ?? 0)) s"
    }

    private func killLeaders(_ count: Int) async throws {
        var pauses: [Double] = []
        for _ in 0..<count {
            let leader = try await leader()
            pauses.append(try await pause { servers.kill(leader) })
            try servers.start(leader)
            try await waitForServers()
        }
        say("\(count) leaders killed: \(text(pauses))")
    }

    private func killAll(_ count: Int) async throws {
        var pauses: [Double] = []
        for _ in 0..<count {
            pauses.append(
                try await pause {
                    servers.killAll()
                    for i in 0..<servers.count { try servers.start(i) }
                })
            try await waitForServers()
        }
        say("\(count) times all servers killed: \(text(pauses))")
    }

    private func killNodes(_ count: Int) async throws {
        var pauses: [Double] = []
        for i in 0..<count {
            let node = nodes[i % nodes.count]
            pauses.append(
                try await pause {
                    node.kill()
                    try node.start()
                })
        }
        say("\(count) nodes killed: \(text(pauses))")
    }

    /// It comes back when the others have chosen another leader, or at once: then it may vote before it knows
    /// what it has lost.
    private func wipe(returnsAtOnce: Bool = false) async throws {
        let leader = try await leader()
        let longest = try await pause {
            servers.kill(leader)
            try servers.wipe(leader)
            if returnsAtOnce { try servers.start(leader) }
        }
        if !returnsAtOnce { try servers.start(leader) }
        try await waitForServers()
        say(
            "the leader killed and its disk wiped\(returnsAtOnce ? ", started at once" : ""): \(text([longest])); "
                + "the others have filled it")
    }

    private func partitions() async throws {
        for isFromAll in [false, true] {
            let leader = try await leader()
            let before = nodes.map(\.count)
            var meanwhile: [Int] = []
            let longest = try await pause {
                try cut(leader, true, isFromAll)
                try await Task.sleep(for: .seconds(15))
                meanwhile = zip(nodes, before).map { $0.count - $1 }
                try cut(leader, false, isFromAll)
            }
            try await waitForServers()
            say(
                "the leader cut off from \(isFromAll ? "everything" : "the other servers") for 15 s: "
                    + "\(text([longest])), pages meanwhile \(meanwhile)")
        }
    }

    private func cut(_ server: Int, _ isCut: Bool, _ isFromAll: Bool) throws {
        guard let network else { return servers.pause(server, isCut) }
        if isFromAll { try network.cutOff(server, isCut) } else { try network.cutFromOthers(server, isCut) }
    }

    /// A node is away until the log does not keep what it needs.
    private func leaveBehind() async throws {
        guard let last = nodes.last else { return }
        last.kill()
        if let first = nodes.first, first !== last { try await first.wait(for: 40) }
        try await storeCheckpoint()
        try last.start()
        try await last.wait(for: 5)
        say("the node in \(last.name) was behind the trim, and writes again")
    }

    private func storeCheckpoint() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do { return try await judge.checkpoint() } catch let error as LogError {
                if ContinuousClock.now > end { throw error }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// The disk of a node is full for ten seconds.
    private func fillDisk() async throws {
        guard let node = nodes.first else { return }
        try await node.end()
        // the replica moves to a small disk
        let saved = node.folder + "-saved"
        try FileManager.default.moveItem(atPath: node.folder, toPath: saved)
        try FileManager.default.createDirectory(atPath: node.folder, withIntermediateDirectories: true)
        guard shell("mount -t tmpfs -o size=64m none '\(node.folder)'") else {
            try FileManager.default.removeItem(atPath: node.folder)
            try FileManager.default.moveItem(atPath: saved, toPath: node.folder)
            try node.start()
            return say("no small disk can be mounted here: nothing was tried")
        }
        _ = shell("cp -a '\(saved)'/. '\(node.folder)'/")
        try node.start()
        try await node.wait(for: 5)
        _ = shell("dd if=/dev/zero of='\(node.folder)/ballast' bs=64k 2>/dev/null")
        let (before, others) = (node.count, nodes.last?.count ?? 0)
        try await Task.sleep(for: .seconds(10))
        let (own, other) = (node.count - before, (nodes.last?.count ?? 0) - others)
        _ = shell("rm '\(node.folder)/ballast'")
        try await node.wait(for: 5)
        say(
            "the disk of the node in \(node.name) was full for 10 s: \(own) pages there, \(other) elsewhere; it goes on"
        )
        try await node.end()
        let (small, large) = ("'\(node.folder)'", "'\(saved)'")
        _ = shell(
            "rm -rf \(large); cp -a \(small) \(large); umount \(small); rmdir \(small); mv \(large) \(small)")
        try node.start()
    }

    private func shell(_ command: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
