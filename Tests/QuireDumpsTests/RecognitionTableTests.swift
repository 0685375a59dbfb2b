import Foundation
import Quire
import Testing

@testable import QuireDumps

/// Every recorded JSON response is recognised without a word about it. What it should give is what the
/// profile of the table gives, by Foundation's parser. Where a response does not say what it is, the error
/// has to name the option that settles it.
@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct RecognitionTableTests {
    /// How many responses of an API were read as the table reads them, read as another list, and refused.
    private struct Count {
        var right = 0
        var other = 0
        var refused = 0
    }

    /// Lists that the table reads, but that a response does not tell from others in it, or whose ids repeat,
    /// also those of other items.
    private static let unclear: Set<String> = [
        "discourse/discourse_api/latest.json", "discourse/discourse_api/top.json",
        "stackexchange/ruby-stackoverflow/questions_timeline.json",
        "stackexchange/stackapi/test_users_associated",
        "graphql/cli/pr/list/fixtures/prListWithDuplicates.json",
        "mediawiki/perceval/mediawiki_pages_recent_changes.json",
    ]

    @Test func everyAPIIsRecognised() throws {
        var rest = try Manifest().files.filter(\.isJSONPage)
        var counts: [String: Count] = [:]
        var lost: [String] = []
        for set in FixtureSet.all {
            let profile = try set.loadProfile()
            let files = rest.filter { set.has($0) }
            rest.removeAll { set.has($0) }
            for file in files.prefix(80) {
                let bytes = try Fixtures.bytes(file.path)
                let expected = independentIDs(bytes, profile) ?? []
                let api = String(file.path.prefix { $0 != "/" })
                let posts: [String]
                do {
                    posts = try Self.ids(bytes, file.path)
                } catch {
                    counts[api, default: Count()].refused += 1
                    if !expected.isEmpty { lost.append(file.path) }
                    let helps = ["--", "error document", "not JSON", "list", "single object", "nothing"]
                    #expect(helps.contains { "\(error)".contains($0) }, "\(error)")
                    continue
                }
                if posts.count == expected.count || profile.isLines {
                    counts[api, default: Count()].right += 1
                } else {
                    counts[api, default: Count()].other += 1
                    if !expected.isEmpty { lost.append("\(file.path): \(posts.count) of \(expected.count)") }
                }
            }
        }
        let unexpected = lost.filter { !Self.unclear.contains($0) }
        #expect(unexpected.isEmpty)
        #expect(counts.count == 20 && counts.values.allSatisfy { $0.right > 0 })
        var table = [["API", "", "RECOGNISED", "ANOTHER LIST", "REFUSED"]]
        for (api, count) in counts.sorted(by: { $0.key < $1.key }) {
            table.append([api, ""] + [count.right, count.other, count.refused].map(String.init))
        }
        print(aligned(table))
    }

    /// The ids that a reader finds which is told nothing.
    private static func ids(_ bytes: [UInt8], _ path: String) throws -> [String] {
        var options = InputOptions(profile: Profile.named("stackexchange")!)
        options.wishes = Recognition.Wishes()
        let reader = PageReader(Input.list([Fixtures.path(path)]), options)
        var ids: [String] = []
        if let found = try? Recognition(of: bytes, name: "r") {
            try RecognitionPartsTests.expectSame(found.profile)
        }
        while let page = reader.next() {
            switch page.content {
            case .failure(let error): throw error
            case .passedOver: break
            case .response(let response):
                ids += response.answer.posts.dropFirst(page.repeated).map(\.id.description)
            }
        }
        return ids
    }
}
