import ArgumentParser
import Foundation
import Quire

struct Stat: ToolCommand {
    static let configuration = CommandConfiguration(abstract: "Count what a cache holds.")

    @OptionGroup var target: CacheArgument
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let bodyBytes: UInt64
        let deadBodyBytes: UInt64
        let feeds: Int
        let fileBytes: UInt64
        let freeBytes: UInt64
        let gaps: Int
        let generation: UInt64
        let pages: Int
        let posts: Int
        let usedBytes: UInt64
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.open()
        let counts = try cache.withSnapshot { try $0.statistics() }
        let attributes = try? FileManager.default.attributesOfItem(atPath: target.cache)
        let fileBytes = attributes?[.size] as? UInt64 ?? 0
        if json.isOn {
            try JSONLines(output).print(
                Line(
                    bodyBytes: counts.bodyBytes, deadBodyBytes: counts.deadBodyBytes,
                    feeds: counts.feeds, fileBytes: fileBytes, freeBytes: counts.freeBytes,
                    gaps: counts.gaps, generation: counts.generation, pages: counts.pages,
                    posts: counts.posts, usedBytes: counts.usedBytes))
            return .ok
        }
        var table = Table("WHAT", " COUNT", "")
        table.add("feeds", grouped(counts.feeds), "")
        table.add("posts", grouped(counts.posts), "each stored once, however many feeds show it")
        table.add("pages", grouped(counts.pages), "")
        table.add("gaps", grouped(counts.gaps), "")
        table.add("commits", grouped(counts.generation), "since the cache was created")
        table.add("bodies", sized(counts.bodyBytes), "in use")
        table.add("", sized(counts.deadBodyBytes), "replaced or dropped, beside others in use")
        table.add("file", sized(fileBytes), "")
        table.add("", sized(counts.usedBytes), "in use")
        table.add("", sized(counts.freeBytes), "free for reuse")
        try table.print(to: output)
        return .ok
    }
}
