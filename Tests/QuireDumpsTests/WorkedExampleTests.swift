import Foundation
import Quire
import Testing

@testable import QuireDumps

/// The worked examples of Docs/profiles.md do what the document says.
@Suite struct WorkedExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var title: String
        var profile = ""
        var pages: [String] = []
        var picture = ""
        var testDescription: String { title }
    }

    static let examples: [Example] = {
        var root = URL(filePath: #filePath)
        while root.lastPathComponent != "Tests" { root.deleteLastPathComponent() }
        let path = root.deletingLastPathComponent().appending(path: "Docs/profiles.md")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return read(String(text.split(separator: "\n## Worked examples\n").last ?? ""))
    }()

    private static func read(_ text: String) -> [Example] {
        var examples: [Example] = []
        var block: (kind: String, lines: [String])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let open = block {
                guard line == "```" else {
                    block!.lines.append(line)
                    continue
                }
                let content = open.lines.joined(separator: "\n")
                switch open.kind {
                case "json profile": examples[examples.count - 1].profile = content
                case "text": examples[examples.count - 1].picture = content
                default: examples[examples.count - 1].pages.append(content)
                }
                block = nil
            } else if line.hasPrefix("### ") {
                examples.append(Example(title: String(line.dropFirst(4))))
            } else if line.hasPrefix("```") {
                block = (String(line.dropFirst(3)), [])
            } else if line.hasPrefix("Profile: `") {
                examples[examples.count - 1].profile = String(line.split(separator: "`")[1])
            }
        }
        return examples
    }

    @Test(arguments: examples)
    func endsAsItsPictureShows(example: Example) throws {
        let profile =
            try Profile.named(example.profile)
            ?? Profile(json: Array(example.profile.utf8), name: example.title)
        let folder = NSTemporaryDirectory() + "/quire-example-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/e.quire", options: CacheOptions(durability: .relaxed))
        let feed = try cache.feed(named: "example", options: profile.options)
        let parser = PageParser(profile: profile)
        let first = profile.firstPage
        var crawl = Crawl(startingAt: .head(page: first))
        for (index, page) in example.pages.enumerated() {
            let read = try parser.read(Array(page.utf8), name: "page \(index + 1)")
            let response = try #require(try cache.withSnapshot { try read.attached(to: feed, $0) })
            let outcome = try feed.take(response, page: first + index, of: &crawl)
            #expect(!outcome.isUnchanged, "\(outcome.verdict)")
        }
        #expect(try picture(of: feed) == example.picture)
    }

    private func picture(of feed: Feed) throws -> String {
        try feed.cache.withSnapshot { snapshot in
            let gaps = try snapshot.gaps(of: feed)
            var text = ""
            for row in try snapshot.rows(of: feed, limit: .max) {
                switch row {
                case .post(let post):
                    text += (text.isEmpty || text.hasSuffix(" ") ? "[" : " ") + post.id.description
                case .gap(let gap): text += "] ~\(gaps.first { $0.id == gap.id }!.down)~ "
                }
            }
            return text + "] |\(try snapshot.info(of: feed).tail)"
        }
    }

    /// Every way a link can come about, and every built-in profile that pages in a way of its own.
    @Test func everyWayHasAnExample() {
        let profiles = Self.examples.compactMap { Profile.named($0.profile) }
        #expect(Self.examples.count >= 22 && Self.examples.allSatisfy { !$0.pages.isEmpty })
        let ways = Set(
            profiles.compactMap { profile in
                profile.next.map { String(describing: $0.way).prefix { $0 != "(" } }
            })
        #expect(ways == ["token", "relation", "template", "counted", "flag"])
        #expect(Set(profiles.map(\.paging)) == [.cursor, .pages, .keyset, .page, .ids])
    }
}
