import Foundation
import QuirePaging
import Synchronization
import Testing

@testable import QuireCLI

/// A run of the tool as a process that holds up no thread, so that the server of the test can answer.
final class PullProcess: Sendable {
    private let process: ChildProcess
    private let outPath: String
    private let errPath: String
    /// What it has printed.
    var out: String { Self.text(outPath) }

    /// Runs `quire pull` on the sandbox's cache. A busy machine is no reason to ask again.
    convenience init(_ box: Sandbox, _ arguments: [String], environment: [String: String] = [:]) throws {
        try self.init(
            box, command: ["pull", box.cache] + arguments + ["--timeout", "600s"], environment: environment)
    }

    init(
        _ box: Sandbox, program: String = Tool.path, command: [String], environment: [String: String] = [:]
    ) throws {
        (process, outPath, errPath) = try box.start(program, command, environment: environment)
    }

    func send(_ signal: Int32) { process.send(signal) }

    /// Waits until it has ended.
    func end() async -> Run {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread { [process] in
                process.waitUntilExit()
                continuation.resume()
            }
        }
        return Run(status: process.status, out: out, err: Self.text(errPath))
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

extension Sandbox {
    /// Runs `quire pull` on the sandbox's cache, without pauses between requests.
    func pull(_ arguments: String..., environment: [String: String] = [:]) async throws -> Run {
        try await PullProcess(self, arguments + ["--pause", "0s"], environment: environment).end()
    }

    /// Runs another command, which also holds up no thread.
    func other(_ command: String...) async throws -> Run {
        try await PullProcess(self, command: command).end()
    }

    /// The ids of a feed, top first, and "~" for a gap; none if there is no such feed.
    func rows(of feed: String) async throws -> [String] {
        let run = try await other("show", cache, feed, "-n", "1000000", "--json")
        return try run.objects().map { row in
            row["type"] as? String == "post" ? row["id"] as? String ?? "" : "~"
        }
    }
}

/// Runs `quire pull` in this process, with a clock by which each wait is over at once.
struct PullInside {
    let end: EndLine
    let notes: [String]
    /// The waits, in order.
    let waits: [Duration]

    init(_ box: Sandbox, _ arguments: String...) async throws {
        let held = Held()
        let pager = PagerClock(
            now: { held.clock.withLock(\.now) },
            sleep: { duration in
                try Task.checkCancellation()
                held.clock.withLock {
                    $0.now += Int64(duration / .milliseconds(1))
                    $0.waits.append(duration)
                }
            }, luck: { 1 })
        let command = try #require(
            try QuireTool.parseAsRoot(["pull", box.cache, "--timeout", "600s"] + arguments) as? Pull)
        let log = PullLog()
        end = try await command.work(pager).run(log)
        notes = log.take().events.compactMap { if case .note(let text) = $0 { text } else { nil } }
        waits = held.clock.withLock(\.waits)
    }

    private final class Held: Sendable {
        let clock = Mutex((now: millisecondsNow(), waits: [Duration]()))
    }
}
