import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

/// The feed of questions that never shows a gap. Pages are numbered, so they shift whenever somebody asks a
/// question; what a refresh does not reach leaves at the first moment at which the reader cannot see it.
@main struct StackOverflowFeed {
    /// Stack Exchange, in small: newest on top, ten to a page.
    struct Site: Sendable {
        var questions = Array(1...60)
        var isThrottling = false

        func reply(_ question: Question) -> Reply {
            if isThrottling {
                return Reply(
                    #"{"error_id":502,"error_name":"throttle_violation","error_message":"slow down"}"#,
                    status: 400)
            }
            let (page, size) = (question.number("page") ?? 1, question.number("pagesize") ?? 10)
            let items = questions.reversed().dropFirst((page - 1) * size).prefix(size)
                .map { #"{"question_id":\#($0),"title":"How do I \#($0)?"}"# }
            let hasMore = page * size < questions.count
            return Reply(
                #"{"items":[\#(items.joined(separator: ","))],"has_more":\#(hasMore),"quota_remaining":287}"#)
        }
    }

    static func main() async throws {
        let site = Shared(Site())
        let server = try await LocalServer.start { site.value.reply($0) }
        try await withCache { path in
            let profile = Profile.named("stackexchange")!
            let cache = try Cache(at: path)
            let feed = try cache.feed(named: "newest", options: profile.options)
            let source = try HTTPSource(
                "\(server.address)/2.3/questions?sort=creation&page={page}&pagesize={limit}",
                profile: profile)
            let pager = Pager(
                feed, source: source, options: PagerOptions(refresh: .startAfresh, pageSize: 10))

            try await pager.refresh()
            site.change { $0.questions += 61...63 }
            try await pager.append()
            print("two pages, three questions asked meanwhile:", try feed.picture)

            try await pager.setVisible([52, 51])
            site.change { $0.questions += 64...99 }
            try await pager.refresh()
            print("36 questions later, a reader in the middle:", try feed.picture)
            print("what the app lists:                        ", try shown(feed))

            try await pager.setVisible([99, 98])
            print("the reader is on top again:                ", try feed.picture)

            site.change { $0.isThrottling = true }
            do {
                try await pager.refresh()
            } catch {
                let reason = "\(error)".components(separatedBy: "response: ").last ?? ""
                print("the server refuses:                        ", reason)
            }
            print("nothing was lost:                          ", try feed.picture)

            site.change { $0.isThrottling = false }
            while case .loaded = try await pager.append() {}
            let ids = try cache.withSnapshot { try $0.rows(of: feed, limit: .max).map { $0.post?.id } }
            let all = (1...99).reversed().map { PostID(UInt64($0)) }
            print("all pages, as the server has them:         ", ids == all)
        }
    }

    /// The rows above the first gap: below it something may be missing.
    static func shown(_ feed: Feed) throws -> String {
        let rows = try feed.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        let ids = rows.prefix { $0.gap == nil }.compactMap { $0.post?.id.description }
        return "\(ids.count) questions, \(ids.first ?? "-") to \(ids.last ?? "-")"
    }
}
