import ArgumentParser
import Foundation
@_spi(Unstable) import Quire
import QuireSimulator

/// Two processes with maps of 1 MiB write bodies of half that size in turns, while the other holds a
/// snapshot. Each must notice that the other has made the file larger than its map.
struct Growth: TortureCommand {
    static let configuration = CommandConfiguration(abstract: "Let a file outgrow the maps of two processes.")

    @OptionGroup var common: CommonOptions
    @Option(help: "How often the file outgrows the maps.") var count = 40

    private enum Order: UInt8, CaseIterable {
        case write = 1
        case read, begin, end
    }

    /// The number of bodies after which a file is large enough.
    private static let chapter = 20

    func run(in folder: String, _ random: inout SplitMix64) throws -> Summary {
        var summary = Summary(name: "growing files", unit: "growths")
        var (files, orders) = (0, 0)
        while summary.count < count {
            let path = "\(folder)/growing-\(files).quire"
            files += 1
            let processes = [Self.process(path), Self.process(path)]
            for posts in 1...Self.chapter {
                let writer = random.below(2)
                let holds = random.chance(0.7)
                try ask(processes[1 - writer], holds ? .begin : .read, posts - 1)
                try ask(processes[writer], .write, posts)
                summary.count += 1
                // The other process has not noticed yet. It will by reading, or by writing in the next round.
                if holds { try ask(processes[1 - writer], .end, posts - 1) }
                if random.chance(0.5) { try ask(processes[1 - writer], .read, posts) }
                orders += 3
            }
            for process in processes { process.stop() }
            try Self.inspect(path)
        }
        summary.notes = "\(files) files, \(orders) orders"
        return summary
    }

    /// Sends an order to the process, which must find this number of posts.
    private func ask(_ process: HelperProcess, _ order: Order, _ posts: Int) throws {
        let answer = process.ask(order.rawValue)
        if answer != UInt64(posts) {
            throw Violation(
                what: "\(order): \(answer.map(String.init) ?? "failed") posts instead of \(posts)")
        }
    }

    /// Starts a process that answers with the number of posts it sees, in its snapshot if it has one.
    private static func process(_ path: String) -> HelperProcess {
        HelperProcess { order in
            let cache = try Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 20))
            let feed = try cache.feed(named: "f")
            var snapshot: OpenSnapshot?
            var answer: UInt64 = 0
            while let number = order.wait(answer) {
                switch Order(rawValue: number) {
                case .write:
                    snapshot = nil
                    // No read before: the write must find the file larger than the map.
                    try cache.batch { batch in
                        let post = 1 + (try batch[feed].attribute("posts")?.first ?? 0)
                        let body = [UInt8](repeating: post, count: 1 << 19)
                        try batch[feed].insertLocal(PostID(UInt64(post)), body: body)
                        try batch[feed].setAttribute("posts", to: [post])
                    }
                case .begin: snapshot = try OpenSnapshot(cache)
                default: break
                }
                answer = UInt64(try count(feed, in: snapshot ?? OpenSnapshot(cache)))
                if number == Order.end.rawValue { snapshot = nil }
            }
        }
    }

    /// Counts the posts and reads each body.
    private static func count(_ feed: Feed, in snapshot: OpenSnapshot) throws -> Int {
        let posts = try snapshot.read { try $0.rows(of: feed, limit: .max).compactMap(\.post) }
        for post in posts {
            let bytes = try snapshot.bytes(of: post)
            let ends = [bytes.first, bytes.last].compactMap(\.self).map { PostID(UInt64($0)) }
            if bytes.count != 1 << 19 || ends != [post.id, post.id] {
                throw Violation(what: "a wrong body")
            }
        }
        return posts.count
    }

    private static func inspect(_ path: String) throws {
        let child = Child { _ in
            do {
                let isSound = try Cache.verify(at: path).isEmpty && Cache(at: path).check().isEmpty
                return isSound ? 0 : 1
            } catch {
                complain("\(error)")
                return 2
            }
        }
        let ending = child.wait().ending
        if ending != .exited(0) { throw Violation(what: "afterwards: \(ending)") }
    }
}
