import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging
import Stage

struct Message: Decodable, Sendable {
    var id: String
    var text: String
}

/// Where a message stands in time. Its id is made of that time, as in many chats, so an id can be made of a date.
struct Moment {
    var id: Int64

    /// The start of a day. No message has exactly this id.
    static func day(_ day: Int64) -> Moment { Moment(id: day * 2_400) }
    var text: String { "day \(id / 2_400), \(id / 100 % 24):\(id % 100)" }
}

/// A channel that can be read from its newest message, and from any date.
@MainActor final class Channel {
    static let profile = """
        {"name": "chat", "id": {"path": "id", "type": "string"}, "key": {"path": "id", "type": "integer"},
         "next": {"template": "before={id}"}, "previous": {"template": "after={id}"},
         "request": {"size": "limit", "below": ["before"], "above": ["after"], "around": ["around"]},
         "order": "stable", "paging": "keyset"}
        """
    let pager: Pager
    let model: FeedModel<Message>
    private let height = 5

    init(_ path: String, _ server: String) throws {
        let profile = try Profile(json: Array(Self.profile.utf8), name: "chat")
        let feed = try Cache(at: path).feed(named: "channel", options: profile.options)
        let source = try HTTPSource("\(server)/messages?limit={limit}&around={around}", profile: profile)
        pager = Pager(feed, source: source, options: PagerOptions(pageSize: 10))
        model = try FeedModel(pager, as: Message.self, reach: 2)
    }

    /// Shows the channel at a moment. Asks the server only if messages may be missing just there.
    func jump(to moment: Moment) async throws {
        if try !isKnown(moment) { try await pager.jump(to: PostID(UInt64(moment.id))) }
        await model.open(at: .key(moment.id))
    }

    /// True if the messages before and after a moment are cached, and none may be missing between them.
    private func isKnown(_ moment: Moment) throws -> Bool {
        let feed = pager.feed
        return try feed.cache.withSnapshot { snapshot in
            guard let rank = try snapshot.rank(ofKey: moment.id, in: feed), rank > 0 else { return false }
            let around = try snapshot.rows(of: feed, from: rank - 1, limit: 2)
            return around.count == 2 && around.allSatisfy { $0.post != nil }
        }
    }

    /// The message at which the channel was opened, and what is next to it.
    private var visible: ArraySlice<FeedModel<Message>.Row> {
        let rows = model.rows
        let at = model.anchor.flatMap { anchor in rows.firstIndex { $0.id == anchor } }
        let start = at.map { $0 - height / 2 } ?? rows.firstIndex { $0.post != nil } ?? 0
        return rows[max(0, min(start, rows.count - height))...].prefix(height)
    }

    var lines: [String] {
        visible.map { row in
            switch row {
            case .post(let post): (try? post.decoded().text) ?? "a message that cannot be read"
            case .gap: "~ messages may be missing"
            case .more(let place): "… \(model.state(at: place))"
            }
        }
    }

    /// Lets the model fetch what is missing next to the lines.
    func look() async { await model.see(visible.map(\.id)) }

    func draw(_ title: String) {
        print(title)
        for line in lines { print("  |", line) }
    }
}

@main struct ChatHistory {
    /// One message an hour. Pages begin at the newest, or lie before, after or around an id.
    static func reply(_ question: Question, newest: Int) -> Reply {
        let size = question.number("limit") ?? 10
        let moments = stride(from: newest, to: 0, by: -1).map { Moment(id: Int64($0) * 100 + 30) }
        func split(_ name: String) -> Int? {
            question.number(name).map { id in moments.firstIndex { $0.id < id } ?? moments.count }
        }
        let page: ArraySlice<Moment> =
            if let at = split("around") {
                moments[max(0, at - size / 2)..<min(moments.count, at + size / 2)]
            } else if let at = split("before") {
                moments[at...].prefix(size)
            } else if let at = split("after") {
                moments[..<max(0, at - 1)].suffix(size)
            } else {
                moments.prefix(size)
            }
        return Reply("[\(page.map { #"{"id":"\#($0.id)","text":"\#($0.text)"}"# }.joined(separator: ","))]")
    }

    @MainActor static func main() async throws {
        let newest = Shared(1_000)
        let server = try await LocalServer.start { reply($0, newest: newest.value) }
        try await withCache { path in
            let channel = try Channel(path, server.address)
            await channel.model.refresh()
            channel.draw("the newest messages:")
            _ = server.takeRequests()

            try await channel.jump(to: .day(21))
            channel.draw("a jump to day 21, where nothing is cached:")
            print("asked:", server.takeRequests())
            print("cached:", try channel.pager.feed.picture)

            newest.value = 1_003
            let before = channel.lines
            await channel.model.refresh()
            print("three new messages; the screen is as it was:", channel.lines == before)
            _ = server.takeRequests()

            for day in [22, 20] as [Int64] {
                try await channel.jump(to: .day(day))
                await channel.look()
            }
            channel.draw("two days on, and two days back:")
            print("asked:", server.takeRequests())
            try await channel.jump(to: .day(21))
            print("day 21 again, asked:", server.takeRequests())
            print("cached:", try channel.pager.feed.picture)

            await channel.model.open(at: .head)
            channel.draw("back to the newest:")
        }
    }
}
