import Foundation
import Testing

/// This program, started again for one test that asks its environment whether it is a child.
enum TestChild {
    /// Runs the test with these variables in a process with its own seed of hashes, and waits for its end.
    static func run(_ test: String, _ variables: [String: String]) throws {
        let process = process(test, variables)
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    fileprivate static func process(_ test: String, _ variables: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--testing-library", "swift-testing", "--filter", test]
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_DETERMINISTIC_HASHING"] = nil
        process.environment = environment.merging(variables) { $1 }
        process.standardOutput = FileHandle.nullDevice
        return process
    }
}

/// A child that is asked one thing after the other, over a socket that is its standard input. It ends with
/// this object, or with its parent.
final class TalkingChild<Question: Codable> {
    private let process: Process
    private let socket: FileHandle

    init(_ test: String, _ variables: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // a child that stands still is an error, too
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        socket = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process = TestChild.process(test, variables)
        process.standardInput = other
        try process.run()
        try other.close()
    }

    deinit {
        try? socket.close()
        process.waitUntilExit()
    }

    /// Returns the answer to a question.
    func ask(_ question: Question) throws -> String {
        try Self.send(question, to: socket)
        return try #require(try Self.receive(String.self, from: socket), "the child has ended")
    }

    /// For the child: answers all questions, until there is none any more.
    static func answer(_ answer: (Question) -> String) throws {
        let socket = FileHandle.standardInput
        while let question = try receive(Question.self, from: socket) {
            try send(answer(question), to: socket)
        }
    }

    /// A message is its number of bytes, and they.
    private static func send(_ message: some Encodable, to socket: FileHandle) throws {
        let bytes = try JSONEncoder().encode(message)
        let count = withUnsafeBytes(of: UInt32(bytes.count)) { Data($0) }
        try socket.write(contentsOf: count + bytes)
    }

    /// Returns the next message; nil if the other end is closed.
    private static func receive<M: Decodable>(_ type: M.Type, from socket: FileHandle) throws -> M? {
        guard let size = try read(4, from: socket) else { return nil }
        let count = size.withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self)) }
        return try read(count, from: socket).map { try JSONDecoder().decode(type, from: $0) }
    }

    private static func read(_ count: Int, from socket: FileHandle) throws -> Data? {
        var bytes = Data()
        while bytes.count < count {
            guard let more = try socket.read(upToCount: count - bytes.count), !more.isEmpty else {
                return nil
            }
            bytes += more
        }
        return bytes
    }
}
