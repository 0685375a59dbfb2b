import Foundation
import Quire
import QuireCluster

/// The node in Swift that is killed: pages of feeds go through the log for ever, and each that is
/// acknowledged is printed. It ends when its standard input does. Those in C and Python
/// (Cluster/Tests/Torture) do the same.
struct SwiftWorker {
    private let address: String
    private let folder: String
    private let lists: [(feed: String, index: Int)]

    /// Arguments: the address, the folder, feeds and the numbers of their lists.
    init(_ arguments: [String]) throws {
        guard arguments.count >= 4, arguments.count % 2 == 0 else { throw Trouble("worker: wrong arguments") }
        (address, folder) = (arguments[0], arguments[1])
        lists = stride(from: 2, to: arguments.count, by: 2).map {
            (arguments[$0], Int(arguments[$0 + 1]) ?? 0)
        }
    }

    /// Page n of list l has the posts l * 10000000 + 5 n + 1 to + 5.
    static func ids(_ page: Int, of list: Int) -> [PostID] {
        (1...5).map { PostID("\(list * 10_000_000 + page * 5 + $0)") ?? PostID(0) }
    }

    func run() async throws {
        let isOver = Task.detached { _ = FileHandle.standardInput.readDataToEndOfFile() }
        let ended = EndFlag()
        Task {
            await isOver.value
            ended.set()
        }
        var options = ClusterOptions()
        options.onEvent = { event in
            print("note \(event)")
            fflush(nil)
        }
        let cluster = try await ClusterCache.open(address, folder: folder, options: options)
        var feeds: [(ClusterFeed, String, Int)] = []
        for list in lists {
            guard let feed = await again(ended, { try await cluster.feed(named: list.feed) }) else { return }
            feeds.append((feed, list.feed, list.index))
        }
        while !ended.isSet {
            for (feed, name, index) in feeds {
                do { try await page(feed, name, index) } catch is LogError {} catch let error as QuireError
                    where [.diskFull, .io, .snapshotsOpen].contains(error.code)
                {}
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        print("end")
        await cluster.close()
    }

    private func again(
        _ ended: EndFlag, _ body: () async throws -> ClusterFeed
    ) async -> ClusterFeed? {
        while !ended.isSet {
            if let feed = try? await body() { return feed }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }

    private func page(_ feed: ClusterFeed, _ name: String, _ index: Int) async throws {
        for place in [Place.tail, .head] {
            do {
                var number = 0
                let fetch: @Sendable (Request) async throws -> Answer = { request in
                    Self.answer(Self.number(request), of: index)
                }
                let local = feed.feed
                let plan = try local.cache.dryRun { try $0[local].plan(place) }
                if case .request(let request) = plan { number = Self.number(request) }
                // another node may answer first: then the number is not ours to tell
                let outcome = try await feed.load(place, fetch: fetch)
                if outcome.verdict == .ok, outcome.new.first == Self.ids(number, of: index).first {
                    print("page \(name) \(number)")
                    fflush(nil)
                }
                return
            } catch is Refusal {}
        }
    }

    private static func number(_ request: Request) -> Int {
        if case .link(.token(let token)) = request.target { Int(token) ?? 0 } else { 0 }
    }

    private static func answer(_ page: Int, of list: Int) -> Answer {
        var answer = Answer(next: .token("\(page + 1)"), fetchedAt: 1)
        for id in ids(page, of: list) { answer.append(id: id, body: Array(repeating: 0x73, count: 200)) }
        return answer
    }
}
