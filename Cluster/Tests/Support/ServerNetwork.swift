import Foundation

/// A network of namespaces on one machine, one for each server, whose cables can be cut. It needs root and
/// Linux, and goes with this value.
public final class ServerNetwork: Sendable {
    /// Where a server runs.
    public struct Place: Sendable {
        /// Its address.
        public let host: String
        /// What starts a program there.
        let command: [String]
    }

    private let name = "qt\(getpid() % 100_000)"
    private let subnet = "10.\(200 + getpid() % 50).\(getpid() / 50 % 250)"
    /// One for each server.
    let places: [Place]

    /// - Throws: If namespaces cannot be made here.
    public init(_ count: Int = 3) throws {
        let (name, subnet) = (name, subnet)
        places = (0..<count).map {
            Place(
                host: "\(subnet).\($0 + 1)",
                command: ["/usr/bin/env", "ip", "netns", "exec", "\(name)n\($0)"])
        }
        try Self.ip("link add \(name)b type bridge")
        try Self.ip("addr add \(subnet).254/24 dev \(name)b")
        try Self.ip("link set \(name)b up")
        for (i, place) in places.enumerated() {
            try Self.ip("netns add \(name)n\(i)")
            try Self.ip("link add \(name)v\(i) type veth peer name \(name)p\(i)")
            try Self.ip("link set \(name)p\(i) netns \(name)n\(i)")
            try Self.ip("link set \(name)v\(i) master \(name)b up")
            try Self.ip("-n \(name)n\(i) addr add \(place.host)/24 dev \(name)p\(i)")
            try Self.ip("-n \(name)n\(i) link set \(name)p\(i) up")
            try Self.ip("-n \(name)n\(i) link set lo up")
        }
    }

    deinit {
        for i in places.indices {
            try? Self.ip("netns del \(name)n\(i)")
            try? Self.ip("link del \(name)v\(i)")
        }
        try? Self.ip("link del \(name)b")
    }

    /// Cuts a server off from everything, or joins it again.
    public func cutOff(_ index: Int, _ isCut: Bool) throws {
        try Self.ip("link set \(name)v\(index) \(isCut ? "down" : "up")")
    }

    /// Cuts a server off from the other servers, not from nodes, or joins it again.
    public func cutFromOthers(_ index: Int, _ isCut: Bool) throws {
        for (i, other) in places.enumerated() where i != index {
            try Self.ip("-n \(name)n\(index) route \(isCut ? "add" : "del") blackhole \(other.host)/32")
        }
    }

    private static func ip(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip"] + arguments.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw NATSServers.Failure(text: "ip \(arguments): refused") }
    }
}
