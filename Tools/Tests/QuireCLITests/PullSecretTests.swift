import FlyingFox
import Foundation
import LoopbackServers
import Testing

@Suite("quire pull and secrets", .timeLimit(.minutes(10)), .serialized)
struct PullSecretTests {
    private static let secret = "s3cr3t/+&key"

    /// A list behind a key, whose links and errors repeat the key, as those of some servers do.
    private func server(refusesAt last: Int = .max) async throws -> LoopbackServer {
        try await LoopbackServer.start { request in
            guard request.query["key"] == Self.secret,
                request.headers[.authorization] == "Bearer \(Self.secret)"
            else { return .json(#"{"message": "Bad credentials"}"#, status: 401) }
            let page = request.query["page"].flatMap { Int($0) } ?? 1
            if page >= last {
                return .json(#"{"message": "the key \#(Self.secret) is spent"}"#, status: 403)
            }
            let items = (0..<10).map { row in
                let id = 1_000 - (page - 1) * 10 - row
                return #"{"id": \#(id), "created_at": "2024-01-01T00:\#(10 + (id - 960)):00Z", "title": "x"}"#
            }
            let next = "http://\(request.headers[.host] ?? "")/issues?key=s3cr3t%2F%2B%26key&page=\(page + 1)"
            return .json(
                "[\(items.joined(separator: ","))]",
                headers: page < 4 ? ["Link": "<\(next)>; rel=\"next\""] : [:])
        }
    }

    private func holdsNoSecret(_ box: Sandbox, _ runs: Run...) throws {
        for run in runs {
            #expect(!(run.out + run.err).contains("s3cr3t"))
        }
        for file in try FileManager.default.contentsOfDirectory(atPath: box.folder) where file != "key" {
            let bytes = FileManager.default.contents(atPath: box.path(file)) ?? Data()
            #expect(bytes.range(of: Data("s3cr3t".utf8)) == nil, "\(file)")
        }
    }

    @Test("they go out from the environment and a file, and nothing repeats them")
    func kept() async throws {
        let (box, server) = (try Sandbox(), try await server())
        try box.write("key", Self.secret + "\n")
        chmod(box.path("key"), 0o600)
        let arguments = ["--header", "Authorization: Bearer {env:QUIRE_TEST_SECRET}"]
        let url = "\(server.address)/issues?key={file:\(box.path("key"))}"
        let environment = ["QUIRE_TEST_SECRET": Self.secret]
        func pull(_ more: String...) async throws -> Run {
            try await PullProcess(
                box, ["gh", url, "--pause", "0s", "--progress", "always"] + arguments + more,
                environment: environment
            ).end()
        }
        let cut = try await pull("--pages", "2")
        let plan = try await pull("--plan")
        #expect(plan.out.contains("{env:QUIRE_TEST_SECRET}") && plan.out.contains("&key={file:"))
        let rest = try await pull("--json")
        #expect(try rest.objects().last?["whole"] as? Bool == true, "\(rest.out)\(rest.err)")
        #expect(try await box.rows(of: "gh").count == 40)
        try holdsNoSecret(box, cut, plan, rest, await box.other("show", box.cache, "gh", "--json"))
    }

    @Test("a server that repeats them in an error is not repeated")
    func refused() async throws {
        let (box, server) = (try Sandbox(), try await server(refusesAt: 3))
        let run = try await box.pull(
            "gh", "\(server.address)/issues?key={env:QUIRE_TEST_SECRET}", "--header",
            "Authorization: Bearer {env:QUIRE_TEST_SECRET}", environment: ["QUIRE_TEST_SECRET": Self.secret])
        #expect(run.status == 65 && run.out.contains("is spent"), "\(run)")
        try holdsNoSecret(box, run)
    }

    @Test("a header that a redirection takes to another server cannot hold a secret")
    func redirected() async throws {
        for header in ["User-Agent", "accept"] {
            let box = try Sandbox()
            let run = try await box.pull(
                "gh", "http://127.0.0.1:1/x", "--header", "\(header): {env:QUIRE_TEST_SECRET}",
                environment: ["QUIRE_TEST_SECRET": Self.secret])
            #expect(run.status == 64 && run.err.contains("takes it to other servers"), "\(run)")
        }
    }

    @Test("files that others may read, and secrets in arguments, are refused")
    func files() async throws {
        let box = try Sandbox()
        try box.write("key", Self.secret)
        chmod(box.path("key"), 0o640)
        let url = "http://127.0.0.1:1/issues"
        let cases: [(arguments: [String], words: String)] = [
            (["--header", "Authorization: {file:\(box.path("key"))}"], "chmod 600"),
            (["--header", "Authorization: {file:\(box.folder)}"], "is not a file"),
            (["--header", "Authorization: {file:\(box.path("none"))}"], "cannot be read"),
            (["--header", "Authorization: {env:QUIRE_TEST_NOTHING}"], "no such variable"),
            (["--header", "Authorization: Bearer abc"], "{env:VARIABLE}"),
            (["--header", "If-None-Match: x"], "itself"), (["--header", "nothing"], "NAME: VALUE"),
        ]
        for (arguments, words) in cases {
            let run = try await PullProcess(box, ["gh", url] + arguments).end()
            #expect([64, 66].contains(run.status) && run.err.contains(words), "\(run.err)")
            #expect(!run.err.contains("s3cr3t"))
        }
        let run = try await box.pull("gh", url + "?access_token=abc")
        #expect(run.status == 64 && run.err.contains("access_token={env:VARIABLE}"))
        #expect(!FileManager.default.fileExists(atPath: box.cache))
    }
}
