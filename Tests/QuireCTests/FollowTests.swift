import Foundation
import Quire
import QuirePaging
import QuireSimulator
import Testing

@testable import TestSupport

/// One process makes random commits to a feed, another one follows it by nothing but the differences and
/// never has other rows. The other process is a C program (Tests/C/follow.c) with the C library of this
/// build.
@Suite(.enabled(if: FollowProgram.build != nil, "needs the build's C library and a C compiler"))
struct FollowTests {
    /// QUIRE_COMMITS: how many random commits.
    private static let commits =
        ProcessInfo.processInfo.environment["QUIRE_COMMITS"].flatMap { Int($0) } ?? 500

    private let folder: String
    private let cache: Cache
    private let feed: Feed
    private let observer: Feed
    private var path: String { cache.path }

    init() throws {
        folder = try TestFolder.make()
        cache = try Cache(at: folder + "/followed.quire", options: CacheOptions(durability: .relaxed))
        feed = try cache.feed(named: "followed")
        observer = try cache.feed(named: "observer")
    }

    @Test(.timeLimit(.minutes(20))) func swiftFollowsC() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = try FollowProgram(["write", path, "\(Self.commits)", "1"])
        var (rows, generation) = try read()
        var resyncs = 0
        for try await update in feed.changes(since: generation, every: .milliseconds(1)) {
            switch update {
            case .changed(let changes, let now):
                rows.apply(changes)
                generation = now
            case .resync: resyncs += 1
            }
            try observer.setAttribute("seen", to: Array("\(generation)".utf8))
            if rows.first == .post("end") { break }
        }
        try program.wait()
        #expect(resyncs == 0)
        #expect(try rows == read().rows)
        #expect(generation > Self.commits)
    }

    @Test(.timeLimit(.minutes(60))) func cFollowsSwift() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = try FollowProgram(["observe", path])
        var writer = RandomWriter(feed: feed, seed: 2)
        var made = 0
        while made < Self.commits {
            if try writer.change() { made += 1 }
            try await writer.wait(for: observer)
        }
        try feed.insertLocal("end", body: [])
        let said = try program.wait()
        #expect(said.hasPrefix("\(try read().rows.count) rows, "))
        #expect(said.hasSuffix(" 0 resyncs\n"))
    }

    private func read() throws -> (rows: [RowID], generation: UInt64) {
        try cache.withSnapshot { snapshot in
            (try snapshot.rows(of: feed, limit: .max).map(\.name), try snapshot.generation)
        }
    }
}

/// Changes a feed at random, as a reader and a server do.
private struct RandomWriter {
    let feed: Feed
    private var random: SplitMix64
    private var server = SimulatedServer()

    init(feed: Feed, seed: UInt64) {
        self.feed = feed
        random = SplitMix64(seed: seed)
        for _ in 0..<5 { server.insertOnTop() }
    }

    /// False if that was no commit.
    mutating func change() throws -> Bool {
        let id = random.pick(server.ids)
        let local = PostID("local \(random.below(9))")!
        switch random.below(12) {
        case 0, 1:
            if random.chance(0.15) { for _ in 0...random.below(8) { server.insertOnTop() } }
            return try fetch(.head)
        case 2, 3: return try fetch(.tail)
        case 4...6: return try fetch(.gap(GapID(UInt64(random.number(in: 1...200)))))
        case 7: return try feed.evict([id]) > 0
        case 8: try feed.delete(id)
        case 9: return try feed.insertLocal(local, body: Array("body".utf8))
        case 10: return try feed.removeLocal(local)
        default: return try fetch(.aboveGap(GapID(UInt64(random.number(in: 1...200)))))
        }
        return true
    }

    private func fetch(_ place: Place) throws -> Bool {
        guard let request = try feed.plan(place).request else { return false }
        let answer = server.answer(to: request.target, limit: 5, options: feed.options)
        _ = try feed.ingest(answer, for: request.ticket)
        return true
    }

    /// The log must not forget what the observer has not seen.
    func wait(for observer: Feed) async throws {
        while true {
            let (now, seen) = try feed.cache.withSnapshot { snapshot in
                let text = try snapshot.attribute("seen", of: observer) ?? []
                return (try snapshot.generation, UInt64(String(decoding: text, as: UTF8.self)) ?? 0)
            }
            if seen + 400 >= now { return }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// Tests/C/follow.c, running.
final class FollowProgram {
    /// Where this build put its C library.
    static let build: URL? = {
        guard let modules = Compiler.modules else { return nil }
        let folder = URL(fileURLWithPath: modules).deletingLastPathComponent()
        let library = folder.appendingPathComponent("libQuireC.so").path
        let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/gcc")
        return hasCompiler && FileManager.default.fileExists(atPath: library) ? folder : nil
    }()

    struct Failure: Error, CustomStringConvertible { let description: String }

    private let process = Process()
    private let output = Pipe()
    private let folder: String

    init(_ arguments: [String]) throws {
        folder = try TestFolder.make()
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/gcc")
        let library = Self.build!.path
        compiler.arguments = [
            "-std=c11", "-I\(Compiler.package)/Include", "\(Compiler.package)/Tests/C/follow.c", "-o",
            folder + "/follow", "-L\(library)", "-lQuireC", "-Wl,-rpath,\(library)",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw Failure(description: "follow.c is not compiled") }
        process.executableURL = URL(fileURLWithPath: folder + "/follow")
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// What it printed. Throws if it failed.
    @discardableResult
    func wait() throws -> String {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "follow failed: \(text)") }
        return text
    }
}
