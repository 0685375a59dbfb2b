import ArgumentParser
import Quire

struct Export: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the bodies of a feed's posts, top first, byte for byte as received.",
        discussion: """
            A newline follows each body. A body may itself have several lines. With --ndjson such a body is \
            written on one line, without the white space between its tokens. A body that is no JSON and spans \
            several lines stops --ndjson, as does an id with a newline in it --ids, with exit code 65. Posts \
            whose body is missing are left out.

            On a terminal, characters that would steer it are shown escaped.

            Examples:
              quire export so.quire so/active --ndjson
              quire export so.quire so/active -n 100 --after 41
              quire export so.quire so/active --id 42 --id 40
              quire export so.quire so/active --ids
            """)

    @OptionGroup var target: FeedArguments

    @Option(name: .short, help: ArgumentHelp("At most this many posts.", valueName: "number"))
    var number: Int?

    @Option(help: ArgumentHelp("Start below this post.", valueName: "id"))
    var after: String?

    @Option(help: ArgumentHelp("Only this post; may be given several times.", valueName: "id"))
    var id: [String] = []

    @Flag(help: "Write the ids instead, one per line.")
    var ids = false

    @Flag(help: "Write each body on one line.")
    var ndjson = false

    func validate() throws {
        if ids && ndjson { throw ValidationError("--ids and --ndjson exclude each other.") }
        if number ?? 0 < 0 { throw ValidationError("-n must not be negative.") }
        if !id.isEmpty && (after != nil || number != nil) {
            throw ValidationError("--id names the posts; -n and --after do not go with it.")
        }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.openToRead()
        var missing = 0
        try feed.cache.withSnapshot { snapshot in
            if id.isEmpty {
                let start = try after.map { try snapshot.require($0, in: feed).position }
                var left = number ?? .max
                try snapshot.eachRow(of: feed, after: start) { row in
                    if left == 0 { return false }
                    guard let post = row.post else { return true }
                    left -= 1
                    try write(post, snapshot, output, &missing)
                    return true
                }
            } else {
                // all are there, or nothing is written
                let posts = try id.map { try snapshot.require($0, in: feed) }
                for post in posts { try write(post, snapshot, output, &missing) }
            }
        }
        if missing > 0 { Messages.write("\(counted(missing, "post")) without a body left out") }
        return .ok
    }

    private func write(
        _ post: PostRow, _ snapshot: borrowing Snapshot, _ output: Output, _ missing: inout Int
    ) throws {
        if ids {
            try writeID(of: post, output)
        } else if post.bodySize == 0 {
            missing += 1
        } else {
            try snapshot.body(of: post).withUnsafeBytes { try writeBody($0, of: post, output) }
        }
    }

    private func writeID(of post: PostRow, _ output: Output) throws {
        let bytes = post.id.bytes
        if bytes.contains(UInt8(ascii: "\n")) {
            throw Failure(.data, "the id \(shown(post.id)) has a newline in it; use show --json")
        }
        try output.data(bytes)
        try output.endLine()
    }

    private func writeBody(_ body: UnsafeRawBufferPointer, of post: PostRow, _ output: Output) throws {
        if ndjson && body.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            guard let line = JSONText.onOneLine(body) else {
                throw Failure(.data, "post \(shown(post.id)): its body spans several lines and is not JSON")
            }
            try output.data(line)
        } else {
            try output.data(body)
        }
        try output.endLine()
    }
}

extension Snapshot {
    /// Finds a post by the text of its id.
    borrowing func require(_ text: String, in feed: Feed) throws -> PostRow {
        guard let id = PostID(text), let row = try find(id, in: feed) else {
            throw Failure(.data, "\(feed.cache.path): feed \(feed.name) has no post \(text)")
        }
        return row
    }
}
