import Foundation
import Quire

/// A sorted set for the timeline and a string for each post. More is fetched below the last member; the set
/// is trimmed to the newest members.
final class RedisPattern: Pattern {
    static let title = "Redis, a sorted set"
    private static let options = FeedOptions(order: .stable)
    private static let limit = 800
    let meter = Meter()
    private let process = Process()
    private let connection: RedisConnection
    private let folder: URL

    init(folder: URL) throws {
        self.folder = folder
        let socket = folder.appendingPathComponent("redis.sock").path
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder.path, "--save", "",
            "--appendonly", "yes", "--appendfsync", "no",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        connection = try RedisConnection(socket)
    }

    deinit { process.terminate() }

    private func store(_ answer: Answer) throws {
        try meter.commit(answer) {
            var commands: [[[UInt8]]] = [[Array("MULTI".utf8)]]
            for post in answer.posts {
                commands.append(["ZADD", "timeline", "\(post.key!)", "\(post.id)"].map { Array($0.utf8) })
                commands.append(
                    ["SET", "post:\(post.id)"].map { Array($0.utf8) } + [Array(answer.bytes[post.body])])
            }
            let trim = ["ZREMRANGEBYRANK", "timeline", "0", "-\(Self.limit + 1)"]
            commands.append(trim.map { Array($0.utf8) })
            commands.append([Array("EXEC".utf8)])
            try connection.send(commands)
        }
    }

    func refresh(_ server: Server) throws { try store(server.page(.link(.head), Self.options)) }

    func loadMore(_ server: Server) throws -> Bool {
        guard let last = try members().last else { return false }
        let answer = try server.page(.link(.below(last)), Self.options)
        try store(answer)
        return !answer.posts.isEmpty
    }

    private func members() throws -> [PostID] {
        try connection.list(["ZREVRANGE", "timeline", "0", "-1"]).map { PostID(UInt64($0)!) }
    }

    func rows() throws -> [ShownRow] { try members().map { .post($0) } }

    func size() throws -> Int {
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return files.reduce(0) { sum, name in
            let path = folder.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return sum
                + (attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as! Int : 0)
        }
    }
}
