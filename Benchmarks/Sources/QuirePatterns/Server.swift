import Foundation
import Quire
import QuireSimulator

/// The server that all patterns ask, and what they cost it. Its list changes while it is asked, and a request
/// fails now and then; the changes depend on the session alone, so every pattern meets the same ones.
final class Server {
    struct Unreachable: Error {}

    private(set) var list = SimulatedServer()
    private(set) var requests = 0
    private(set) var downloaded = 0
    private var random = SplitMix64(seed: 0)
    private let seed: UInt64

    static let pageSize = 20

    init(seed: UInt64) {
        self.seed = seed
        for _ in 0..<400 { list.insertOnTop() }
    }

    /// The reader was away: new posts, often more than a page, and some are gone.
    func begin(session: Int) {
        random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(session))
        for _ in 0..<random.number(in: 0...60) { list.insertOnTop() }
        for _ in 0..<random.number(in: 0...4) { list.delete(random.pick(list.ids.prefix(150))) }
    }

    /// A page as the server answers it now.
    func page(_ target: Request.Target, _ options: FeedOptions) throws -> Answer {
        requests += 1
        if random.chance(0.15) { for _ in 0..<random.number(in: 1...3) { list.insertOnTop() } }
        if random.chance(0.10) { list.delete(random.pick(list.ids.prefix(100))) }
        if random.chance(0.03) { throw Unreachable() }
        let shown = list.answer(to: target, limit: Self.pageSize, options: options)
        var answer = Answer(next: shown.next)
        for post in shown.posts {
            answer.append(id: post.id, key: list.position(of: post.id), body: body(of: post.id))
        }
        downloaded += answer.posts.count
        return answer
    }

    /// Posts of the list that lie between two others and were there at a time.
    func posts(between upper: PostID, _ lower: PostID, at time: Int) -> Int {
        guard let high = list.position(of: upper), let low = list.position(of: lower), high > low else {
            return 0
        }
        return list.ids.count { id in
            let place = list.position(of: id)!
            return place < high && place > low && list.arrival(of: id)! <= time
        }
    }
}

/// The body of a post, as large as that of a list often is.
func body(of id: PostID) -> [UInt8] {
    Array("{\"id\":\"\(id)\",\"text\":\"\(String(repeating: "x", count: 560))\"}".utf8)
}
