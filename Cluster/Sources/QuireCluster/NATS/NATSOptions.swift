/// How to reach the servers of NATS.
public struct NATSOptions: Sendable, Hashable {
    /// Addresses like `nats://10.0.0.1:4222`; a user and a password may stand in them.
    public var servers: [String]
    /// The path of a file with credentials (a user's JWT and key), as `nsc` writes it.
    public var credentials: String?
    /// True to speak TLS only. It follows from `certificateAuthority`.
    public var isSecure = false
    /// The path of the certificates that the servers' own are signed by; nil for those of the system.
    public var certificateAuthority: String?
    /// The path of this client's certificate, for servers that demand one; with `key`.
    public var certificate: String?
    /// The path of the private key of `certificate`.
    public var key: String?
    /// The name that the servers' certificates must have; nil if it is not tested.
    public var hostname: String?
    /// Accepts a log on servers that are older than 2.12. After one of them was cut off from the others, they
    /// have kept different entries under one number, and lost acknowledged ones.
    public var allowsOldServers = false
    /// What servers list this connection as.
    public var name = "quire"

    /// Connects to no other servers that these tell of.
    var staysThere = false

    /// Creates options for these servers.
    public init(servers: [String]) { self.servers = servers }
}
