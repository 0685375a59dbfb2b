import FlyingFox
import Foundation
import LoopbackServers
import Testing

/// The files that documents speak of: caches, pages, a dump, a server that only `curl` reaches, and those
/// that `quire pull` asks.
final class DocumentedWorld {
    private let box: Sandbox
    private let servers: LoopbackServer
    private var copies = 0

    init() async throws {
        box = try Sandbox()
        servers = try await DocumentedServers.start()
        let manager = FileManager.default
        for folder in ["bin", "world/pages-so", "world/pages-github"] {
            try manager.createDirectory(atPath: box.path(folder), withIntermediateDirectories: true)
        }
        try manager.createSymbolicLink(atPath: box.path("bin/quire"), withDestinationPath: Tool.path)
        try box.write("bin/curl", "#!/bin/sh\ncat <<END\n\(Self.blog)\nEND\n")
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: box.path("bin/curl"))
        // 170 of 200 posts: pages 4, 9 and 17 are missing.
        for number in 1...20 {
            let name = number == 17 ? "world/page-17.json" : "world/pages-so/\(number).json"
            if number != 4 && number != 9 { try box.write(name, Self.page(number)) }
        }
        try box.write("world/pages-github/1.json", #"[{"id": 12, "number": 2}, {"id": 11, "number": 1}]"#)
        try box.write("world/beer.stackexchange.com.7z", Self.dump)
        try box.write("world/page.json", Self.statuses)
        try box.write("world/page.json.headers", Self.headers)
        try box.write("world/mine.json", Self.profile)
        try box.write("world/my-issues.json", try Self.block(of: "Docs/pull.md", beginning: "{"))
        try box.write("world/se.key", "U4DMV*8nvpm3EOpvf69Rxw((\n")
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: box.path("world/se.key"))
        let setUp = [
            "quire ingest so.quire so/active pages/ --order bump --key last_activity_date --collection so",
            "quire ingest so.quire so/old pages/1.json --collection so --order keyless",
            "quire ingest tags.quire swift pages/1.json --order bump --key last_activity_date",
            "quire ingest tags.quire lmdb pages/1.json pages/2.json --order bump --key last_activity_date",
            "quire ingest gh.quire issues pages/ --profile github", "quire copy so.quire stranger.quire",
        ]
        for line in setUp {
            let run = try await run(line, in: "world")
            try #require(run.status == 0, "\(line): \(run.err)")
        }
    }

    /// A folder with all of it, for commands that change it.
    func copy() throws -> String {
        copies += 1
        try #require(box.shell("cp -a world copy-\(copies)").status == 0)
        return "copy-\(copies)"
    }

    /// Runs a line of shell in a folder. What would run until Ctrl-C gets it at once. What would ask a server
    /// asks one of this test, without pauses.
    func run(_ line: String, in folder: String) async throws -> Run {
        let pages = line.contains("--profile github") ? "pages-github" : "pages-so"
        var line = line
        var isEndless =
            line.hasPrefix("quire serve") || line.hasPrefix("quire watch") && !line.contains(" -n ")
        if line.hasPrefix("quire pull") {
            isEndless = line.contains("--follow")
            line = line.replacing(/https:\/\/[a-z.-]+/, with: servers.address) + " --pause 0s --timeout 600s"
        }
        let typed = line.replacingOccurrences(of: "'", with: #"'\''"#)
        let command =
            isEndless
            ? "env --block-signal=INT sh -c 'kill -INT $$; exec \(typed)'" : "sh -c '\(typed)'"
        let shell =
            "export PATH=\"$PWD/bin:$PATH\"; cd \(folder) && ln -sfn \(pages) pages && \(command)"
        let run = try await PullProcess(
            box, program: "/bin/sh", command: ["-c", shell],
            environment: ["GITHUB_TOKEN": "t", "TOKEN": "t"]
        ).end()
        // Ctrl-C is how it ends.
        let isOver = isEndless && line.hasPrefix("quire pull") && run.status == 130
        return Run(status: isOver ? 0 : run.status, out: run.out, err: run.err)
    }

    // MARK: Files

    private static func page(_ number: Int) -> String {
        let first = 212 - (number - 1) * 10
        let items = (first - 9...first).reversed().map { id in
            let date = 1_700_000_000 + (id - 100) * 60
            return #"{"question_id": \#(id), "last_activity_date": \#(date), "title": "Question \#(id)"}"#
        }
        return #"{"items": [\#(items.joined(separator: ", "))], "has_more": true}"#
    }

    /// The first block of code of a document that begins with this text.
    private static func block(of document: String, beginning text: String) throws -> String {
        let path = DocumentedCommandsTests.top.appendingPathComponent(document).path
        let blocks = try String(contentsOfFile: path, encoding: .utf8).split(separator: "```")
        let found = blocks.first { $0.drop { $0 != "\n" }.dropFirst().hasPrefix(text) }
        return String(try #require(found).drop { $0 != "\n" })
    }

    private static let profile = #"""
        {"name": "mine", "items": "rows", "id": {"path": "id"}, "next": {"path": "next"}}
        """#

    private static let blog = """
        <rss version="2.0"><channel><title>Blog</title><item><guid>2</guid><title>Two</title></item>
        <item><guid>1</guid><title>One</title></item></channel></rss>
        """

    private static let dump = """
        <?xml version="1.0" encoding="utf-8"?>
        <posts>
        <row Id="1" PostTypeId="1" CreationDate="2014-01-21T20:26:05.383" Title="Which beer?" Body="" />
        <row Id="2" PostTypeId="2" CreationDate="2014-01-21T20:27:05.383" Body="This one." />
        </posts>
        """

    private static let statuses: String = {
        let ids = [
            117_020_581_331_681_768, 117_020_581_323_843_173, 117_020_581_315_995_409,
            117_020_581_300_000_000,
            117_020_581_290_000_000, 117_020_581_280_000_000, 117_020_581_270_000_000,
            117_020_581_265_000_000,
            117_020_581_260_000_000, 117_020_581_259_486_622,
        ]
        let items = ids.map {
            #"{"id": "\#($0)", "created_at": "2026-01-01T00:00:00.000Z", "content": "", "account": {}}"#
        }
        return "[\(items.joined(separator: ",\n"))]"
    }()

    private static let headers = """
        GET https://example.social/api/v1/timelines/tag/quire?max_id=117020581339834938
        Content-Type: application/json
        Link: <https://example.social/api/v1/timelines/tag/quire?max_id=117020581259486622>; rel="next"

        """
}

/// The servers that documents name, as one on loopback: what it answers depends on the path.
private enum DocumentedServers {
    static func start() async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            switch request.path {
            case "/2.3/questions": ListServer.page(of: QuestionList(95), for: request)
            case "/repos/o/r/issues" where request.headers[HTTPHeader("Authorization")] == "Bearer t":
                .json(
                    #"[{"id": 12, "number": 2, "url": "https://api.github.com/repos/o/r/issues/2"}, "#
                        + #"{"id": 11, "number": 1, "url": "https://api.github.com/repos/o/r/issues/1"}]"#)
            case "/list" where request.query["cursor"] != nil || request.query["n"] != nil:
                request.query["cursor"] == nil
                    ? .json(#"{"rows": [{"id": 4}, {"id": 3}], "next": "c2"}"#)
                    : .json(#"{"rows": [{"id": 2}, {"id": 1}], "next": null}"#)
            case "/list":
                .json(request.query["p"] ?? "1" == "1" ? #"[{"id": 4}, {"id": 3}]"# : "[]")
            case "/feed":
                .json(
                    #"<rss version="2.0"><channel><title>b</title><item><guid>1</guid></item></channel></rss>"#
                )
            case "/graphql" where request.method == .POST:
                .json(
                    #"{"data": {"rateLimit": {"remaining": 9}, "repository": {"issues": {"nodes": "#
                        + #"[{"id": "I2"}, {"id": "I1"}], "pageInfo": {"hasNextPage": false, "endCursor": "c"}}}}}"#
                )
            case "/v0/topstories.json": .json("[9, 8, 7]")
            case "/v0/item/9.json", "/v0/item/8.json", "/v0/item/7.json":
                .json(#"{"id": \#(request.path.dropFirst("/v0/item/".count).prefix(1))}"#)
            default: .json("{}", status: 404)
            }
        }
    }
}
