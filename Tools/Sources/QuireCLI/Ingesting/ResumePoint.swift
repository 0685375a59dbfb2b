import Foundation
import Quire
import QuireDumps

/// The progress of a crawl. It is written in the same commit as the pages it counts, so it is always right.
struct ResumePoint: Codable {
    /// Identifies these inputs and this place of the feed.
    var inputs: UInt64
    var position = InputPage.Position()
    var numbering: Numbering
    /// The difference between the page numbers of the crawl and of the files, once a request told where a
    /// page lies.
    var shift: Int?
    var totals = IngestTotals()
    /// Nil in runs of earlier versions.
    var documents: DocumentChain? = DocumentChain()
    var isDone = false
    /// True if a table or another list ended before its end: the file is cut, or broken.
    var isCut: Bool? = nil
    /// True if the run has not read all, or not all of a list.
    var isInterrupted: Bool { !isDone || isCut == true }
    /// The options that say how the inputs are read: `--format items`.
    var reading: [String]? = nil

    /// The attributes of the feed: this as JSON, and the checkpoint of the crawl.
    private static let attribute = "quire.resume"
    private static let crawlAttribute = "quire.resume.run"

    static func read(of feed: Feed) throws -> (point: ResumePoint, crawl: Crawl)? {
        let (point, crawl) = try feed.cache.withSnapshot { snapshot in
            (
                try snapshot.attribute(attribute, of: feed),
                try snapshot.attribute(crawlAttribute, of: feed)
            )
        }
        guard let point, let crawl,
            let decoded = try? JSONDecoder().decode(ResumePoint.self, from: Data(point))
        else { return nil }
        return (decoded, try Crawl(checkpoint: crawl))
    }

    /// Returns true if the last run of a feed has not read all, or not all of a list. What a feed lacks that
    /// is pulled, it knows by its links.
    static func isInterrupted(_ feed: Feed, _ snapshot: borrowing Snapshot) throws -> Bool {
        guard let stored = try snapshot.attribute(attribute, of: feed),
            let point = try? JSONDecoder().decode(ResumePoint.self, from: Data(stored)),
            point.isInterrupted
        else { return false }
        return try !PullMemory.isKept(of: feed, snapshot)
    }

    func write(_ crawl: Crawl, to feed: Feed, _ batch: borrowing Batch) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try batch[feed].setAttribute(Self.attribute, to: Array(encoder.encode(self)))
        try batch[feed].setAttribute(Self.crawlAttribute, to: crawl.checkpoint)
    }

    /// Returns a number that differs for other files or changed ones.
    static func identity(of inputs: [Input], _ start: Crawl.Start) -> UInt64 {
        let text = inputs.map(\.identity).joined(separator: "\n") + "\n\(start)"
        // FNV-1a
        return text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
