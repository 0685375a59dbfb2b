import ArgumentParser
import Quire

struct Export: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the bodies of a feed's posts, top first, byte for byte as received.",
        discussion: """
            A newline follows each body. A body may itself have several lines. With --ndjson such a body is \
            written on one line, without the white space between its tokens. A body that is no JSON and spans several lines stops --ndjson, as does an id with \
            a newline in it --ids, with exit code 65. Posts whose body is missing are left out.

            On a terminal, characters that would steer it are shown escaped.
            """)

    @OptionGroup var target: FeedArguments

    @Flag(help: "Write the ids instead, one per line.")
    var ids = false

    @Flag(help: "Write each body on one line.")
    var ndjson = false

    func validate() throws {
        if ids && ndjson { throw ValidationError("--ids and --ndjson exclude each other.") }
    }

    func run(_ output: Output) throws -> ExitStatus {
        let feed = try target.open()
        var missing = 0
        try feed.cache.withSnapshot { snapshot in
            try snapshot.eachRow(of: feed) { row in
                guard let post = row.post else { return true }
                if ids {
                    try writeID(of: post, output)
                } else if post.bodySize == 0 {
                    missing += 1
                } else {
                    let body = try snapshot.body(of: post)
                    try body.withUnsafeBytes { try writeBody($0, of: post, output) }
                }
                return true
            }
        }
        if missing > 0 { Messages.write("\(counted(missing, "post")) without a body left out") }
        return .ok
    }

    private func writeID(of post: PostRow, _ output: Output) throws {
        let bytes = post.id.bytes
        if bytes.contains(UInt8(ascii: "\n")) {
            throw Failure(.data, "the id \(post.id) has a newline in it; use show --json")
        }
        try output.data(bytes)
        try output.endLine()
    }

    private func writeBody(_ body: UnsafeRawBufferPointer, of post: PostRow, _ output: Output) throws {
        if ndjson && body.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            guard let line = JSONText.onOneLine(body) else {
                throw Failure(.data, "post \(post.id): its body spans several lines and is not JSON")
            }
            try output.data(line)
        } else {
            try output.data(body)
        }
        try output.endLine()
    }
}

/// JSON as it is written, not what it means.
enum JSONText {
    /// The text without the white space between its tokens; strings and numbers stay as they are. Nil
    /// if that would join two words or leave a line break in a string: then it was not JSON.
    static func onOneLine(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isInString = false
        var isEscaped = false
        var hasSpace = false
        for byte in text {
            if isInString {
                if byte < 0x20 { return nil }
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
                hasSpace = true
                continue
            } else {
                if hasSpace, let last = result.last, isWord(last), isWord(byte) { return nil }
                isInString = byte == UInt8(ascii: "\"")
            }
            hasSpace = false
            result.append(byte)
        }
        return isInString ? nil : result
    }

    /// Part of a number or of a name like `true`.
    private static func isWord(_ byte: UInt8) -> Bool {
        !#"{}[],:""#.utf8.contains(byte)
    }
}
