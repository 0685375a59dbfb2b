/// Which shared cache to open, in one line: what programs in other languages and configuration files have.
///
///     nats://10.0.0.1:4222,10.0.0.2:4222,10.0.0.3:4222/news?shards=a,b&timeout=5
///     tls://user:password@nats.example/news?ca=/etc/quire/ca.pem
///
/// | option | means | default |
/// |---|---|---|
/// | `shards` | their names, divided by commas | `0` |
/// | `replicas` | how many servers keep what is made; `1` allows one | 3 |
/// | `create` | `no` makes no stream that is missing | `yes` |
/// | `old-servers` | `yes` allows servers before 2.12, see ``NATSOptions/allowsOldServers`` | `no` |
/// | `timeout` | how many seconds a write waits | 20 |
/// | `credentials`, `ca`, `certificate`, `key` | paths of files, see ``NATSOptions`` | |
/// | `hostname` | the name that the servers' certificates must have | |
///
/// `%2F` and the like stand for characters that would mean something else.
public struct ClusterAddress: Sendable, Hashable {
    /// How to reach the servers.
    public var nats: NATSOptions
    /// The name of what is shared.
    public var cache: String
    /// The names of the shards.
    public var shards = ["0"]
    /// How many servers keep what is made.
    public var replicas = 3
    /// True unless missing streams are an error.
    public var creates = true
    /// How many seconds a write waits.
    public var timeout = 20

    /// Reads an address.
    /// - Throws: ``LogError`` `.misconfigured`, which names the part that is wrong. Passwords are not
    ///   repeated.
    public init(_ text: String) throws(LogError) {
        let schemes = [("nats://", false), ("tls://", true)]
        guard let (scheme, isSecure) = schemes.first(where: { text.hasPrefix($0.0) }) else {
            throw .misconfigured("the address of a cluster begins with nats:// or tls://")
        }
        let parts = text.dropFirst(scheme.count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard path.count == 2, !path[1].isEmpty else {
            throw .misconfigured("the address of a cluster has one name behind its servers: nats://HOST/NAME")
        }
        let hosts = path[0].split(separator: ",", omittingEmptySubsequences: false)
        if hosts.contains(where: \.isEmpty) {
            throw .misconfigured("the address of a cluster has a server without a name")
        }
        // a user and a password stand before the first host, and are for all
        let user = hosts[0].lastIndex(of: "@").map { hosts[0][...$0] } ?? ""
        nats = NATSOptions(
            servers: hosts.map { host in "nats://" + (host.contains("@") ? "" : user) + host })
        nats.isSecure = isSecure
        cache = try Self.decoded(path[1], "the name")
        if parts.count == 2 { try read(options: parts[1]) }
    }

    private mutating func read(options: Substring) throws(LogError) {
        for option in options.split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            let value = try Self.decoded(pair.count == 2 ? pair[1] : "", name)
            switch name {
            case "shards":
                shards = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            case "replicas": replicas = try Self.number(value, in: 1...5, name)
            case "timeout": timeout = try Self.number(value, in: 1...86_400, name)
            case "create":
                guard value == "yes" || value == "no" else {
                    throw .misconfigured("create is yes or no, not \(value)")
                }
                creates = value == "yes"
            case "old-servers":
                guard value == "yes" || value == "no" else {
                    throw .misconfigured("old-servers is yes or no, not \(value)")
                }
                nats.allowsOldServers = value == "yes"
            case "credentials": nats.credentials = value
            case "ca": nats.certificateAuthority = value
            case "certificate": nats.certificate = value
            case "key": nats.key = value
            case "hostname": nats.hostname = value
            default: throw .misconfigured("the address of a cluster has an option \(name) that is not known")
            }
        }
    }

    private static func number(
        _ text: String, in range: ClosedRange<Int>, _ name: String
    ) throws(LogError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw .misconfigured(
                "\(name) is a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    private static func decoded(_ text: Substring, _ name: String) throws(LogError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "%") {
                bytes.append(byte)
                continue
            }
            guard let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.count >= 2
            else { throw .misconfigured("\(name) has a % without two hexadecimal digits") }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        guard let value = String(validating: bytes, as: UTF8.self) else {
            throw .misconfigured("\(name) is no UTF-8")
        }
        return value
    }
}

extension ClusterCache {
    /// Opens the node of a folder.
    ///
    ///     let cluster = try await ClusterCache.open("nats://10.0.0.1:4222/news", folder: "/var/lib/app")
    ///
    /// - Throws: As ``open(_:folder:cache:shards:replicas:allowsOneReplica:creates:options:)``, and
    ///   ``LogError`` `.misconfigured` for an address that does not read.
    public static func open(
        _ address: String, folder: String, options: ClusterOptions = ClusterOptions()
    ) async throws -> ClusterCache {
        let address = try ClusterAddress(address)
        var options = options
        options.timeout = .seconds(address.timeout)
        return try await open(
            address.nats, folder: folder, cache: address.cache, shards: address.shards,
            replicas: address.replicas, allowsOneReplica: address.replicas == 1, creates: address.creates,
            options: options)
    }
}
