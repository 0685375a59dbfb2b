import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

struct Message: Decodable, Sendable {
    var id: Int
    var text: String
}

/// The history of a chat that jumps to a date. The ids of its messages are their times, as in many chats, so
/// the server can be asked for the page around a moment. What lies between there and the newest messages is a
/// gap. It is filled from the reader's side, a page at a time, as the reader scrolls into it. A date that is
/// cached needs no request.
@main struct ChatHistory {
    static let profile = """
        {"name": "chat", "title": "Messages of a chat",
         "id": {"path": "id", "type": "integer"}, "key": {"path": "id", "type": "integer"},
         "order": "stable", "paging": "keyset",
         "next": {"template": "before={id}"}, "previous": {"template": "after={id}"}}
        """

    /// The hour of a date of 2026: the id of a message then.
    static func hour(_ day: String) throws -> Int64 {
        let start = try Date("2026-01-01T00:00:00Z", strategy: .iso8601)
        return Int64(try Date("\(day)T00:00:00Z", strategy: .iso8601).timeIntervalSince(start) / 3_600)
    }

    static func time(_ hour: Int) -> String {
        let start = Date(timeIntervalSince1970: 1_767_225_600)
        let day = start.addingTimeInterval(Double(hour) * 3_600).formatted(.iso8601.year().month().day())
        return "\(day), \(hour % 24):00"
    }

    /// A server with a message every seven hours until the middle of March.
    static func reply(_ question: Question) -> Reply {
        let all = Array(stride(from: 0, to: 1_800, by: 7).reversed())
        let limit = question.number("limit") ?? 10
        var shown = all.prefix(limit)
        if let id = question.number("before") { shown = all.drop { $0 >= id }.prefix(limit) }
        if let id = question.number("after") { shown = all.prefix { $0 > id }.suffix(limit) }
        if let id = question.number("around") {
            let at = all.firstIndex { $0 <= id } ?? all.count
            shown = all[max(0, at - limit / 2)...].prefix(limit)
        }
        return Reply(
            "[\(shown.map { #"{"id":\#($0),"text":"\#(time($0))"}"# }.joined(separator: ","))]")
    }

    @MainActor static func main() async throws {
        let server = try await LocalServer.start { reply($0) }
        try await withCache { path in
            let profile = try Profile(json: Array(Self.profile.utf8), name: "chat")
            let feed = try Cache(at: path).feed(named: "room", options: profile.options)
            let source = try HTTPSource(
                "\(server.address)/messages?limit={limit}&around={around}", profile: profile)
            let chat = try Chat(Pager(feed, source: source, options: PagerOptions(pageSize: 10)))
            await chat.model.refresh()
            chat.draw("the newest messages:")
            try await chat.show(try hour("2026-03-01"))
            chat.draw("the first of March:")
            print("asked:", server.takeRequests())
            print("cached:", try feed.picture)
            try await chat.show(try hour("2026-02-28"))
            chat.draw("the day before, which is cached:")
            print("asked:", server.takeRequests())
            for _ in 0..<6 { await chat.goOn() }
            chat.draw("six messages on, where the gap began:")
            print("asked:", server.takeRequests())
            print("cached:", try feed.picture)
        }
    }
}

/// A few lines of a chat, the newest at the bottom.
@MainActor final class Chat {
    let model: FeedModel<Message>
    private let height = 4
    /// The index of the lowest line among the rows, which begin with the newest.
    private var bottom = 0

    init(_ pager: Pager) throws { model = try FeedModel(pager, as: Message.self, reach: 2) }

    /// Shows the messages of a time. Asks the server only if some may be missing there.
    func show(_ hour: Int64) async throws {
        let feed = model.pager.feed
        let isCached = try feed.cache.withSnapshot { snapshot in
            guard let rank = try snapshot.rank(ofKey: hour, in: feed), rank > 0 else { return false }
            // a post above and one below, and no gap between
            return try snapshot.rows(of: feed, from: rank - 1, limit: 2).compactMap(\.post).count == 2
        }
        if !isCached { try await model.pager.jump(to: PostID(UInt64(hour))) }
        if await model.open(at: .key(hour)) {
            let at = model.rows.firstIndex { $0.id == model.anchor } ?? 0
            bottom = max(0, at - height)  // the first message of that time is the topmost line
        }
    }

    /// Goes on to the next message, and lets the model fetch what is missing near.
    func goOn() async {
        let newer = model.rows[max(0, bottom - 1)].id
        await model.see(visible.map(\.id))
        bottom = model.rows.firstIndex { $0.id == newer } ?? bottom
    }

    private var visible: ArraySlice<FeedModel<Message>.Row> { model.rows[bottom...].prefix(height) }

    func draw(_ title: String) {
        print(title)
        for row in visible.reversed() {
            switch row {
            case .post(let post): print("  |", (try? post.decoded().text) ?? "a message that cannot be read")
            case .gap: print("  | ~ messages may be missing")
            case .more: print("  | …")
            }
        }
    }
}
