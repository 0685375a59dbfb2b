import Foundation
import Quire
import QuireDumps

/// Pages in memory, and the ways to take them: parse them, commit what is parsed, or both.
struct JSONWay {
    private struct Source {
        var name: String
        var pages: [(bytes: [UInt8], answer: Answer)]
    }

    private let sources: [Source]
    private let profile: Profile
    private let options: FeedOptions
    private let scratch: String
    /// Files that are no page of questions.
    let skipped: Int

    /// Pages to a commit. The tool takes up to 32, so it waits for fewer flushes.
    private static let batch = 16

    init(folders: [String], key: String?, scratch: String) throws {
        guard var profile = Profile.named("stackexchange") else {
            throw RunFailure("no profile stackexchange")
        }
        if let key { try profile.setKey(path: key) }
        var options = profile.options
        if key != nil { options.order = .bump }
        var skipped = 0
        let parser = PageParser(profile: profile)
        sources = try folders.map { folder in
            var source = Source(name: folder, pages: [])
            for file in try PageFile.list([folder]) {
                let bytes = try file.read()
                if let answer = try? parser.parse(bytes, name: file.path), !answer.posts.isEmpty {
                    source.pages.append((bytes, answer))
                } else {
                    skipped += 1
                }
            }
            return source
        }.filter { !$0.pages.isEmpty }
        if sources.isEmpty { throw RunFailure("no page of questions in these folders") }
        (self.profile, self.options, self.scratch, self.skipped) = (profile, options, scratch, skipped)
    }

    var pageCount: Int { sources.reduce(0) { $0 + $1.pages.count } }
    var byteCount: Int {
        sources.reduce(0) { $0 + $1.pages.reduce(0) { $0 + $1.bytes.count } }
    }

    /// Seconds to parse all pages.
    func parse() throws -> Double {
        let parser = PageParser(profile: profile)
        let start = nanoseconds()
        var posts = 0
        for source in sources {
            for page in source.pages { posts += try parser.parse(page.bytes, name: "page").posts.count }
        }
        if posts == 0 { throw RunFailure("no posts") }
        return Double(nanoseconds() - start) / 1e9
    }

    /// Seconds to commit answers that are parsed already, and the posts that are new.
    func commit() throws -> (seconds: Double, posts: Int) {
        try record { $0.answer }
    }

    /// Seconds to parse and commit all pages, and the posts that are new.
    func parseAndCommit() throws -> (seconds: Double, posts: Int) {
        let parser = PageParser(profile: profile)
        return try record { try parser.parse($0.bytes, name: "page") }
    }

    private func record(
        _ answer: ((bytes: [UInt8], answer: Answer)) throws -> Answer
    ) throws -> (seconds: Double, posts: Int) {
        let folder = scratch + "/cache"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/feeds.quire")
        let start = nanoseconds()
        var posts = 0
        for source in sources {
            let feed = try cache.feed(named: String(source.name.suffix(255)), options: options)
            var run = Crawl(startingAt: .head(page: 1))
            for first in stride(from: 0, to: source.pages.count, by: Self.batch) {
                let pages = source.pages[first..<min(source.pages.count, first + Self.batch)]
                // The tool also parses the pages of a commit first: no other writer waits meanwhile.
                let answers = try pages.map(answer)
                try cache.batch { batch in
                    for (i, answer) in answers.enumerated() {
                        let outcome = try batch[feed].ingest(answer, page: first + i + 1, of: &run)
                        posts += outcome.new.count
                    }
                }
            }
        }
        return (Double(nanoseconds() - start) / 1e9, posts)
    }
}
