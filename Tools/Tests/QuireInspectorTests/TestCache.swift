import Foundation
import Quire

/// A cache in a folder of its own, removed with the object.
final class TestCache {
    let cache: Cache
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "/quire-inspector-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var options = CacheOptions()
        options.durability = .relaxed
        cache = try Cache(at: folder + "/test.quire", options: options)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Puts pages of a recorded crawl into a feed, without those that are missing. Ids count down from the
    /// top.
    func feed(
        _ name: String, pages: Int, of size: Int, missing: Set<Int> = [], body: (Int) -> [UInt8] = { _ in [] }
    ) throws -> Feed {
        let feed = try cache.feed(named: name, options: FeedOptions(order: .keyless, paging: .pages))
        var crawl = Crawl(startingAt: .head(page: 1))
        let present = (1...pages).filter { !missing.contains($0) }
        for start in stride(from: 0, to: present.count, by: 64) {
            try cache.batch { batch in
                for page in present[start..<min(present.count, start + 64)] {
                    _ = try batch[feed].ingest(
                        answer(page, of: pages, size, body), page: page, of: &crawl)
                }
            }
        }
        return feed
    }

    private func answer(_ page: Int, of pages: Int, _ size: Int, _ body: (Int) -> [UInt8]) -> Answer {
        var answer = Answer(next: page == pages ? .end : .token("page=\(page + 1)"))
        for row in 0..<size {
            let id = (pages - page) * size + size - row
            answer.append(id: PostID(UInt64(id)), body: body(id))
        }
        answer.fetchedAt = Int64(1_700_000_000_000 + page)
        return answer
    }
}
