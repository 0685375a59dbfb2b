import ArgumentParser
import Quire

struct Get: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print one post: in which feeds it stands, and its body.",
        discussion: """
            Ids mean something only within a collection. Where several collections have a post of this id, \
            each is printed, and --feed chooses one.

            With --json the member body is the body itself if that is a JSON object or array, else a string, \
            with U+FFFD in the place of bytes that are not UTF-8. --body writes the bytes as received.

            Examples:
              quire get so.quire 42
              quire get so.quire 42 --json
              quire get so.quire 42 --feed so/active --body
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The id of the post.")
    var id: String

    @Option(help: ArgumentHelp("Only as this feed shows it.", valueName: "name"), completion: .feeds)
    var feed: String?

    @Flag(help: "Write only the body, byte for byte as received.")
    var body = false

    @OptionGroup var json: JSONOption

    func validate() throws {
        if body && json.isOn { throw ValidationError("--body and --json exclude each other.") }
    }

    private struct Place: Encodable {
        let detached: Bool
        @OrNull var doubt: String?
        let feed: String
        @OrNull var key: Int64?
        @OrNull var page: UInt64?
        let pinned: Bool
        let placeholder: Bool
        let rank: Int

        init(_ row: PostRow, in feed: Feed, rank: Int) {
            (detached, doubt, self.feed) = (row.isDetached, row.doubt?.rawValue, feed.name)
            (key, page, pinned) = (row.key, row.page, row.isPinned)
            (placeholder, self.rank) = (row.isPlaceholder, rank)
        }
    }

    private struct Field: Encodable {
        let name: String
        let value: String
    }

    private struct Line: Encodable {
        let bytes: Int
        let collection: String
        let feeds: [Place]
        let fields: [Field]
        let id: String
        let outdated: Bool
        @OrNull var version: Int64?
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        guard let wanted = PostID(id) else { throw Failure(.usage, "an id has 1 to 65,536 bytes") }
        let feeds = try feed.map { [try openFeed($0, in: cache)] } ?? cache.feeds()
        let members = Dictionary(grouping: feeds, by: \.options.collection)
        var known: Set<String> = []
        let collections = feeds.map(\.options.collection).filter { known.insert($0).inserted }
        try cache.withSnapshot { snapshot in
            var found: [(line: Line, post: PostInfo)] = []
            for collection in collections {
                let line = try look(for: wanted, in: collection, members[collection]!, snapshot)
                if let line { found.append(line) }
            }
            if found.isEmpty {
                let place = feed.map { "feed \($0)" } ?? "no feed"
                throw Failure(.data, "\(cache.path): \(place) has \(feed == nil ? "a" : "no") post \(id)")
            }
            if body && found.count > 1 {
                let names = found.map { $0.line.feeds[0].feed }.joined(separator: ", ")
                throw Failure(.data, "post \(id) is in several collections: --feed chooses one of \(names)")
            }
            for (number, (line, post)) in found.enumerated() {
                let bytes = try snapshot.body(of: post).withUnsafeBytes { Array($0) }
                if body {
                    try output.data(bytes)
                } else if json.isOn {
                    try bytes.withUnsafeBytes { try JSONLines(output).print(line, body: $0) }
                } else {
                    if number > 0 { try output.line("") }
                    try print(line, bytes, snapshot, output)
                }
            }
        }
        return .ok
    }

    private func look(
        for id: PostID, in collection: String, _ feeds: [Feed], _ snapshot: borrowing Snapshot
    ) throws -> (Line, PostInfo)? {
        guard let post = try snapshot.post(id, in: collection) else { return nil }
        var places: [Place] = []
        for feed in feeds {
            guard let row = try snapshot.find(id, in: feed) else { continue }
            places.append(Place(row, in: feed, rank: try snapshot.rank(of: row.position, in: feed)))
        }
        if places.isEmpty { return nil }
        let fields = post.fields.sorted { $0.key < $1.key }
            .map { Field(name: $0.key, value: String(decoding: $0.value, as: UTF8.self)) }
        let line = Line(
            bytes: post.bodySize, collection: collection, feeds: places, fields: fields,
            id: post.id.description, outdated: post.isOutdated, version: post.version)
        return (line, post)
    }

    private func print(
        _ line: Line, _ body: [UInt8], _ snapshot: borrowing Snapshot, _ output: Output
    ) throws {
        try output.line("\(shown(line.id)) in collection \"\(shown(line.collection))\"")
        for place in line.feeds {
            var words = ["row \(grouped(place.rank))"]
            if let page = place.page { words.append("page \(page)") }
            if let key = place.key { words.append("key \(key)") }
            if place.pinned { words.append("pinned") }
            if place.detached { words.append("outside the server's sequence") }
            if let doubt = place.doubt { words.append("unverified join above it: \(doubt)") }
            try output.line("  feed " + padded(shown(place.feed)) + words.joined(separator: ", "))
        }
        for field in line.fields {
            try output.line("  field " + padded(shown(field.name)) + shown(field.value, limit: 200))
        }
        if let version = line.version { try output.line("  version \(version)") }
        if line.outdated { try output.line("  outdated: a newer version was seen, with less detail") }
        if body.isEmpty { return try output.line("  no body") }
        try output.line("  \(counted(body.count, "byte")):")
        try output.data(body)
        try output.endLine()
    }
}
