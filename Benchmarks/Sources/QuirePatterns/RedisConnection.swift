import Foundation

/// A connection to a Redis server over a Unix socket, which sends commands in one piece and reads the
/// replies.
final class RedisConnection {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var at = 0

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        for _ in 0..<5_000 {  // until the server listens
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if status == 0 { return }
            usleep(1_000)
        }
        throw Failure(description: "\(path): no server")
    }

    deinit { close(descriptor) }

    /// Sends commands and awaits all replies.
    @discardableResult
    func send(_ commands: [[[UInt8]]]) throws -> [String] {
        var bytes: [UInt8] = []
        for command in commands {
            bytes += Array("*\(command.count)\r\n".utf8)
            for word in command { bytes += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { throw Failure(description: "the connection is closed") }
            sent += count
        }
        return try commands.flatMap { _ in try reply() }
    }

    /// The items of a reply that is a list.
    func list(_ words: [String]) throws -> [String] { try send([words.map { Array($0.utf8) }]) }

    private func reply() throws -> [String] {
        let line = try line()
        switch line.first {
        case "+", ":": return [String(line.dropFirst())]
        case "$":
            let count = Int(line.dropFirst())!
            if count < 0 { return [] }
            while buffer.count - at < count + 2 { try fill() }
            defer { at += count + 2 }
            return [String(decoding: buffer[at..<at + count], as: UTF8.self)]
        case "*": return try (0..<Int(line.dropFirst())!).flatMap { _ in try reply() }
        default: throw Failure(description: line)
        }
    }

    private func line() throws -> String {
        while true {
            if let end = buffer[at...].firstIndex(of: 13), end + 1 < buffer.count {
                defer { at = end + 2 }
                return String(decoding: buffer[at..<end], as: UTF8.self)
            }
            try fill()
        }
    }

    private func fill() throws {
        if at > 0 { buffer.removeFirst(at); at = 0 }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &chunk, chunk.count)
        if count <= 0 { throw Failure(description: "the connection is closed") }
        buffer += chunk[..<count]
    }
}
