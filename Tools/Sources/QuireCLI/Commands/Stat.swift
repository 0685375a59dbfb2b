import ArgumentParser
import Foundation
import Quire

struct Stat: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the totals of a cache.",
        discussion: """
            Examples:
              quire stat so.quire
              quire stat so.quire --json
            """)

    @OptionGroup var target: CacheArgument
    @OptionGroup var json: JSONOption

    private struct Line: Encodable {
        let againstOrder: Int
        let bodyBytes: UInt64
        let deadBodyBytes: UInt64
        let evictedPages: UInt64
        let evictedPosts: UInt64
        let feeds: Int
        let fileBytes: UInt64
        let freeBytes: UInt64
        let gaps: Int
        let generation: UInt64
        let hits: UInt64
        let interrupted: Int
        let misses: UInt64
        let oldestSnapshotAge: Int
        let openHeads: Int
        let pages: Int
        let pinnedBytes: UInt64
        let posts: Int
        let snapshots: Int
        let usedBytes: UInt64
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        let feeds = try cache.feeds()
        var continuity = Continuity()
        var sizes: [(feed: String, rows: Int)] = []
        let counts = try cache.withSnapshot { snapshot in
            for feed in feeds {
                let info = try snapshot.info(of: feed)
                try continuity.add(feed, snapshot)
                if let rows = info.rowsPerPage { sizes.append((info.name, rows)) }
            }
            return try snapshot.statistics()
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: target.cache)
        let fileBytes = attributes?[.size] as? UInt64 ?? 0
        if json.isOn {
            try JSONLines(output).print(
                Line(
                    againstOrder: continuity.againstOrder, bodyBytes: counts.bodyBytes,
                    deadBodyBytes: counts.deadBodyBytes, evictedPages: counts.evictions.all.pages,
                    evictedPosts: counts.evictions.all.posts,
                    feeds: counts.feeds, fileBytes: fileBytes, freeBytes: counts.freeBytes,
                    gaps: counts.gaps, generation: counts.generation, hits: counts.evictions.hits,
                    interrupted: continuity.interrupted.count,
                    misses: counts.evictions.misses,
                    oldestSnapshotAge: counts.oldestSnapshotAge, openHeads: continuity.openHeads,
                    pages: counts.pages,
                    pinnedBytes: counts.pinnedBytes, posts: counts.posts,
                    snapshots: counts.snapshots - 1, usedBytes: counts.usedBytes))
            return .ok
        }
        var table = Table("WHAT", " COUNT", "")
        table.add("feeds", grouped(counts.feeds), "")
        table.add("posts", grouped(counts.posts), "each stored once in its collection")
        table.add("pages", grouped(counts.pages), "")
        table.add("gaps", grouped(counts.gaps), "")
        if continuity.openHeads > 0 {
            table.add("open heads", grouped(continuity.openHeads), "posts may be missing above the first one")
        }
        for feed in continuity.interrupted {
            table.add("interrupted", "1", "ingest of \(shown(feed)); quire ingest … --resume goes on")
        }
        if continuity.againstOrder > 0 {
            table.add("answers", grouped(continuity.againstOrder), "against the order of their feed")
        }
        for (feed, rows) in sizes {
            table.add("page size", grouped(rows), "rows that the server of \(shown(feed)) sends")
        }
        table.add("commits", grouped(counts.generation), "since the cache was created")
        table.add("bodies", sized(counts.bodyBytes), "in use")
        table.add("", sized(counts.deadBodyBytes), "replaced or dropped, beside others in use")
        table.add("file", sized(fileBytes), "")
        table.add("", sized(counts.usedBytes), "in use")
        table.add("", sized(counts.freeBytes), "free for reuse")
        addEvictions(counts.evictions, to: &table)
        if counts.snapshots > 1 {
            table.add("snapshots", grouped(counts.snapshots - 1), "open in other programs")
            table.add(
                "", grouped(counts.oldestSnapshotAge),
                "commits since the oldest began, in process \(counts.oldestSnapshotProcess)")
            table.add("", sized(counts.pinnedBytes), "kept from reuse by it")
        }
        try table.print(to: output)
        return .ok
    }

    private func addEvictions(_ evictions: EvictionStatistics, to table: inout Table) {
        let limits = [
            (evictions.age, "too old"), (evictions.feed, "over the limit of a feed"),
            (evictions.collection, "over the limit of a collection"),
            (evictions.cache, "over the limit of posts or bodies"),
            (evictions.file, "over the size of the file"),
        ]
        for (amount, why) in limits where amount.posts > 0 {
            table.add(
                "evicted", grouped(amount.posts),
                "posts in \(grouped(amount.pages)) pages, \(why)")
        }
        if evictions.all.posts == 0 { return }
        table.add("reads", grouped(evictions.hits), "of feeds, with a budget")
        table.add("missed", grouped(evictions.misses), "requests for what had been evicted")
    }
}
