import Foundation
import Quire
import QuirePaging
import Stage

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the screen shows, whichever format it came in.
struct NewsItem: Codable, Sendable {
    var id: String
    var title: String
}

/// A store that returns what it has for five minutes and fetches after that; the caller cannot tell the
/// difference. Songs come as JSON, news as RSS; both are one model. What was read stays read.
@main struct NewsStoreExample {
    struct NewsStore {
        let cache: Cache
        let server: String
        let clock: PagerClock

        /// One feed for each question: twenty songs are not answered with ten.
        func songs(_ count: Int) throws -> (feed: Feed, pager: Pager) {
            let address = "\(server)/songs.json?count=\(count)"
            return try open("songs \(count)", Download(address: address, read: readJSON))
        }

        func news() throws -> (feed: Feed, pager: Pager) {
            try open("news", Download(address: "\(server)/news.rss", read: readRSS))
        }

        private func open(_ name: String, _ source: Download) throws -> (feed: Feed, pager: Pager) {
            let feed = try cache.feed(named: name, options: FeedOptions(order: .keyless))
            let options = PagerOptions(lifetime: .seconds(300), retries: RetryPolicy(attempts: 1))
            return (feed, Pager(feed, source: source, options: options, clock: clock))
        }
    }

    /// A list that has one page.
    struct Download: PagingSource {
        let address: String
        let read: @Sendable (Data) throws -> Answer

        func page(for request: PageRequest) async throws -> PageResponse {
            guard let url = URL(string: address) else { throw PageFailure("no address", isTransient: false) }
            let (data, response) = try await URLSession.shared.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw PageFailure("HTTP \(status)", status: status, headers: [:]) }
            return PageResponse(try read(data))
        }
    }

    @Sendable static func readJSON(_ data: Data) throws -> Answer {
        var answer = Answer(next: .end)
        for item in try JSONDecoder().decode([NewsItem].self, from: data) {
            guard let id = PostID(item.id) else { continue }
            answer.append(id: id, body: Array(try JSONEncoder().encode(item)))
        }
        return answer
    }

    /// The bytes of each item stay as they came; the model reads them later.
    @Sendable static func readRSS(_ data: Data) throws -> Answer {
        let text = String(decoding: data, as: UTF8.self)
        guard text.contains("<rss") else { throw PageFailure("no RSS", isTransient: false) }
        var answer = Answer(next: .end)
        for part in text.components(separatedBy: "<item>").dropFirst() {
            let item = "<item>" + (part.components(separatedBy: "</item>").first ?? "") + "</item>"
            guard let id = element("guid", of: item).flatMap({ PostID($0) }) else {
                throw PageFailure("an item without guid", isTransient: false)
            }
            answer.append(id: id, body: Array(item.utf8))
        }
        return answer
    }

    static func element(_ name: String, of item: String) -> String? {
        let parts = item.components(separatedBy: "<\(name)>")
        return parts.count < 2 ? nil : parts[1].components(separatedBy: "</\(name)>").first
    }

    static let formats = [
        WireFormat<NewsItem>("rss", recognises: { $0.first == UInt8(ascii: "<") }) { bytes in
            let item = String(decoding: bytes, as: UTF8.self)
            return NewsItem(id: element("guid", of: item) ?? "", title: element("title", of: item) ?? "")
        },
        .json(),
    ]

    static func titles(_ feed: Feed) throws -> [String] {
        try feed.posts(as: NewsItem.self, formats: formats).rows(limit: 3)
            .compactMap { try $0.post?.decoded().title }
    }

    /// Songs as JSON, news as RSS, newest first.
    static func reply(_ question: Question, news: ClosedRange<Int>, isDown: Bool) -> Reply {
        if isDown { return Reply("", status: 503) }
        if question.path == "/songs.json" {
            let songs = (1...(question.number("count") ?? 0))
                .map { #"{"id":"s\#($0)","title":"Song \#($0)"}"# }
            return Reply("[\(songs.joined(separator: ","))]")
        }
        let items = news.reversed().map { "<item><title>News \($0)</title><guid>n\($0)</guid></item>" }
        return Reply("<rss><channel>\(items.joined())</channel></rss>")
    }

    static func main() async throws {
        let news = Shared(1...12)
        let isDown = Shared(false)
        let minutes = Shared(0)
        let server = try await LocalServer.start { reply($0, news: news.value, isDown: isDown.value) }
        let clock = PagerClock(
            now: { 1_000_000_000 + Int64(minutes.value) * 60_000 }, sleep: { _ in }, luck: { 0 })
        try await withCache { path in
            do {
                let store = NewsStore(cache: try Cache(at: path), server: server.address, clock: clock)
                let songs = try store.songs(10)
                print("songs:", try await songs.pager.refresh(.ifStale), try titles(songs.feed))
                minutes.value = 4
                print("after four minutes:", try await songs.pager.refresh(.ifStale))
                let more = try store.songs(20)
                print("twenty of them:", try await more.pager.refresh(.ifStale))
                minutes.value = 6
                print("after six:", try await songs.pager.refresh(.ifStale))
                minutes.value = -1_000
                print("the clock was set back:", try await songs.pager.refresh(.ifStale))
                isDown.value = true
                minutes.value = -900
                print("no network:", try await songs.pager.refresh(.ifStale), try songs.feed.picture)
                isDown.value = false

                let (feed, pager) = try store.news()
                try await pager.refresh(.ifStale)
                print("news:", try titles(feed), "unread:", try feed.reading.unread().count)
                try await feed.reading.setMarker("n12")
            }
            let store = NewsStore(cache: try Cache(at: path), server: server.address, clock: clock)
            let (feed, pager) = try store.news()
            news.value = 1...15
            try await pager.refresh()
            let unread = try feed.reading.unread()
            print("after a restart:", unread.count, "unread, exact:", unread.isExact)
            try await feed.reading.mark(["n15"])
            print("read:", try feed.reading.areRead(["n15", "n14"]))
        }
    }
}
