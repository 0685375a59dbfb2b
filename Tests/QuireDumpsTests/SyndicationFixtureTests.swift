import Foundation
import Quire
import Testing

@testable import QuireDumps

/// Real RSS, Atom and RDF documents: each gives as many posts as its manifest counts, or says why not.
@Suite("RSS and Atom as found")
struct SyndicationFixtureTests {
    /// What a file is refused for, and items that are missing for a reason.
    private static let refusals = [
        "rss/rsparser/kc0011.rss": "the encoding is",
        "rss/rsparser/Subs.opml": "neither a data dump nor RSS nor Atom",
        "rss/rsparser/SubsNoTitleAttributes.opml": "neither a data dump nor RSS nor Atom",
    ]

    @Test(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
    func everyDocument() throws {
        let manifest = try String(contentsOfFile: Fixtures.path("MANIFEST.tsv"), encoding: .utf8)
        var (files, posts) = (0, 0)
        for line in manifest.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let (name, counted) = (fields[0], Int(fields[8]) ?? 0)
            guard name.hasPrefix("rss/"), !name.hasSuffix(".json") else { continue }
            files += 1
            let reading = try Reading(Fixtures.path(name))
            if let reason = Self.refusals[name] {
                #expect(reading.ids.isEmpty && reading.messages.first?.contains(reason) == true, "\(name)")
                continue
            }
            #expect(reading.messages.isEmpty, "\(name): \(reading.messages)")
            #expect(reading.ids.count == counted, "\(name)")
            posts += reading.ids.count
        }
        print("RSS and Atom: \(files) files, \(posts) posts, \(Self.refusals.count) refused")
        #expect(files > 25)
    }
}
