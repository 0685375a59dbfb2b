import Foundation

/// Writes pages like those of the Stack Exchange API, about 100 KB each, with escapes and markup in the
/// bodies as real ones have them.
struct GeneratedPages {
    private let factory = PostFactory(order: .random, seed: 7)
    private var random = SplitMix64(seed: 7)
    private static let postsPerPage = 30

    /// Writes this many pages into a folder, named by their numbers.
    mutating func write(_ count: Int, to folder: String) throws {
        for number in 1...max(1, count) {
            let page = page(number, of: count)
            try Data(page.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(number).json"))
        }
    }

    private mutating func page(_ number: Int, of count: Int) -> String {
        let first = (number - 1) * Self.postsPerPage
        let items = (first..<first + Self.postsPerPage).map { item($0) }
        return """
            {"items":[\(items.joined(separator: ","))],"has_more":\(number < count),\
            "quota_max":300,"quota_remaining":\(300 - number % 300)}
            """
    }

    private mutating func item(_ rank: Int) -> String {
        let serial = UInt64(rank)
        let user = random.below(9_000_000)
        let activity = 1_700_000_000 - rank * 37
        var body = ""
        // Sizes of real ones: median 2.7 KB, some ten times as large.
        let size = 4 * factory.size(serial) * (random.below(40) == 0 ? 4 : 1)
        while body.utf8.count < size { body += paragraph() }
        return """
            {"tags":["swift","lmdb","json-\(random.below(50))"],"owner":{"reputation":\
            \(random.below(100_000)),"user_id":\(user),"user_type":"registered","profile_image":\
            "https://www.gravatar.com/avatar/\(String(mixed(serial), radix: 16))?s=128&d=identicon",\
            "display_name":"user \(user)","link":"https://stackoverflow.com/users/\(user)"},\
            "is_answered":\(rank % 3 == 0),"view_count":\(random.below(5_000)),"answer_count":\(rank % 5),\
            "score":\(random.below(90) - 9),"last_activity_date":\(activity),"creation_date":\
            \(activity - random.below(90_000)),"question_id":\(factory.id(serial) >> 30),"link":\
            "https://stackoverflow.com/questions/\(rank)","title":\
            "How do I read page \(rank) &quot;twice&quot;?","body":"\(body)"}
            """
    }

    private mutating func paragraph() -> String {
        switch random.below(4) {
        case 0: #"<p>I want to keep pages of a feed. It&#39;s the \"next\" link that fails:</p>\n\n"#
        case 1: #"<pre><code>let page = try cache.feed(named: \"home\")\n    .plan(.tail)\n</code></pre>\n\n"#
        case 2: #"<p>Na\u00efve code, \u201cas documented\u201d, gives <code>nil</code>; naïve too.</p>\n\n"#
        default: #"<ul>\n<li>one post twice</li>\n<li>a hole in the middle &lt;of it&gt;</li>\n</ul>\n\n"#
        }
    }
}
