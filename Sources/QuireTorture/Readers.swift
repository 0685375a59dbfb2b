import ArgumentParser
import Foundation
import Quire
import QuireSimulator

/// Readers are killed while they hold a snapshot. What they saw is used again all the same: the file stays
/// below twice what it is without them.
struct Readers: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Kill readers in the midst of a snapshot.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How many readers are killed.") var count = 20

    /// After each, every one of these posts is replaced so often, in two commits.
    private static let (posts, rounds) = (4 as UInt64, 100)

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        let undisturbed = try size(folder + "/undisturbed.quire", killing: false)
        let disturbed = try size(folder + "/disturbed.quire", killing: true)
        var summary = Summary(name: "killed readers", unit: "readers")
        summary.count = count
        let commits = count * Self.rounds * Int(Self.posts) * 2
        summary.notes = "file \(disturbed >> 10) KiB after \(commits) commits, "
            + "\(undisturbed >> 10) KiB without them"
        if disturbed > 2 * undisturbed { throw Violation(what: summary.notes) }
        return summary
    }

    private func size(_ path: String, killing: Bool) throws -> Int {
        let writer = Assistant { order in
            let story = try Story(at: path, durability: .relaxed)
            while order.wait() != nil {
                for _ in 0..<Self.rounds {
                    for id in 0..<Self.posts {
                        let body = [UInt8](repeating: UInt8(id), count: 900)
                        _ = try story.feed.removeLocal(PostID(id + 1))
                        _ = try story.feed.insertLocal(PostID(id + 1), body: body)
                    }
                }
            }
        }
        for _ in 0..<count {
            if killing {
                let reader = Child { tell in
                    guard let story = try? Story(at: path, durability: .relaxed) else { return 1 }
                    _ = try? story.cache.withSnapshot { _ in
                        tell(1)
                        pause()
                    }
                    return 0
                }
                if reader.heard() == nil { throw Violation(what: "a reader could not begin") }
                reader.end()
                _ = reader.wait()
            }
            if !writer.works() { throw Violation(what: "the writer failed") }
        }
        writer.stop()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
