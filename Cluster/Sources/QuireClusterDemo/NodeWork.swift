import Foundation
import Quire
import QuireCluster
import QuireSimulator

/// What a node's process does: it pulls the feed page by page, as the others do, and counts in an attribute
/// of its own. It prints each write that was acknowledged.
struct NodeWork {
    static let options = FeedOptions(order: .keyless)
    private let index: String
    private let folder: String
    private let servers: [String]

    init(_ arguments: [String]) throws {
        guard arguments.count >= 3 else { throw DemoFailure("node INDEX FOLDER SERVER...") }
        (index, folder, servers) = (arguments[0], arguments[1], Array(arguments[2...]))
    }

    static func number(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

    func run() async throws {
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            exit(1)
        }
        var made = SimulatedServer()
        for _ in 0..<Demo.pages * 5 { made.insertOnTop() }
        let server = made
        let cluster = try await opened()
        let feed = try await retried { try await cluster.feed(named: "demo", options: Self.options) }
        let attribute = "writes-\(index)"
        // what was under way when it was killed counts, too
        _ = try await retried { try await feed.write([.feed(feed.feed.number, .endLive)]) }
        var count = try feed.feed.attribute(attribute).map(Self.number) ?? 0
        report(count)
        var isAtEnd = false
        while !isAtEnd || count < Demo.pages {
            let old = count == 0 ? nil : Self.bytes(count)
            let operation = FeedOperation.exchangeAttribute(attribute, from: old, to: Self.bytes(count + 1))
            let replies = try await retried { try await feed.write([.feed(feed.feed.number, operation)]) }
            guard replies == [.flag(true)] else {
                throw DemoFailure("a write of node \(index) is lost or came twice")
            }
            count += 1
            report(count)
            do {
                let isFirst = try feed.feed.cache.withSnapshot { try $0.info(of: feed.feed).posts } == 0
                _ = try await feed.load(isFirst ? .head : .tail, limit: 5) { request in
                    server.answer(to: request.target, limit: 5, options: Self.options)
                }
            } catch Refusal.end { isAtEnd = true } catch is LogError {}
        }
        Self.say("end")
        await cluster.close()
    }

    private func report(_ count: Int) { Self.say("written \(count)") }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Opens again while the servers choose leaders.
    private func opened() async throws -> ClusterCache {
        try await retried { try await Demo.open("\(folder)/node-\(index)", servers) }
    }

    private func retried<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        while true {
            do { return try await body() } catch LogError.unavailable {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
