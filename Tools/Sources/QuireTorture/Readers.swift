import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// Kills readers while they hold a snapshot. The space they saw must be reused: the file stays below twice
/// the size of a compact copy.
struct Readers: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Kill readers in the midst of a snapshot.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many readers are killed.") var count = 20
    @Option(help: "How many commits follow each kill.") var commits = 500

    /// Each commit replaces the body of one of these. All together have about a megabyte.
    private static let (posts, size) = (500, 2_000)

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let path = folder + "/readers.quire"
        let commits = commits
        let writer = HelperProcess { order in
            let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 30))
            try Self.fill(cache)
            var number = 0
            while order.wait() != nil {
                for _ in 0..<commits {
                    number += 1
                    let id = PostID(UInt64(number % Self.posts))
                    let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Self.size)
                    if try cache.update(id, body: body) != .changed { throw Violation(what: "no update") }
                }
            }
        }
        for _ in 0..<count {
            try killReader(of: path)
            if !writer.works() { throw Violation(what: "the writer failed") }
        }
        writer.stop()
        let copied = Child { _ in
            (try? Cache(at: path).copy(to: CommitHistory.copyPath(of: path))) == nil ? 1 : 0
        }
        if copied.wait().ending != .exited(0) { throw Violation(what: "no copy") }
        let (file, live) = (try Self.size(path), try Self.size(CommitHistory.copyPath(of: path)))
        var summary = Summary(name: "killed readers", unit: "readers")
        summary.count = count
        summary.notes =
            "after \(count * commits) commits the file has \(file >> 10) KiB, "
            + "a compact copy of it \(live >> 10) KiB"
        if file > 2 * live { throw Violation(what: summary.notes) }
        return summary
    }

    private static func fill(_ cache: Cache) throws {
        let feed = try cache.feed(named: "readers")
        for first in stride(from: 0, to: posts, by: 20) {
            let place: Place = first == 0 ? .head : .tail
            guard let request = try feed.plan(place).request else { throw Violation(what: "no page") }
            var answer = Answer(next: .token("\(first + 20)"))
            for id in first..<first + 20 {
                answer.append(id: PostID(UInt64(id)), body: [UInt8](repeating: 0, count: size - 1))
            }
            _ = try feed.ingest(answer, for: request.ticket)
        }
    }

    private func killReader(of path: String) throws {
        let reader = Child { tell in
            guard let cache = try? Cache(at: path, options: CacheOptions(mapSize: 1 << 30)) else { return 1 }
            _ = try? cache.withSnapshot { _ in
                tell(1)
                pause()
            }
            return 0
        }
        if reader.heard() == nil { throw Violation(what: "a reader could not begin") }
        reader.end()
        _ = reader.wait()
    }

    private static func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
