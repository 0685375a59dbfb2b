import Foundation
import Quire
import Testing

@testable import QuireDumps

/// Every set of recorded JSON responses goes into a cache with the counts of MANIFEST.tsv, or is refused
/// with a reason. What a file should give is found out again here, with Foundation's parser and the paths
/// of the table; nothing is taken from the parser under test.
@Suite(.enabled(if: Fixtures.areThere, "needs ../shared/fixtures"))
struct FixtureTableTests {
    @Test func everySetHasTheCountsOfTheManifest() throws {
        let manifest = try Manifest()
        var rest = manifest.files.filter(\.isJSONPage)
        var table: [[String]] = [
            [
                "SET", "PROFILE", "FILES", "PAGES", "COUNTED", "ITEMS", "POSTS", "AGAIN", "GAPS", "BREAKS",
                "REFUSED", "WHY",
            ]
        ]
        var totals = SetTotals()
        for set in FixtureSet.all {
            let files = rest.filter { set.has($0) }
            #expect(!files.isEmpty, "\(set.name) has no files")
            rest.removeAll { set.has($0) }
            let ordered = files.sorted { set.precedes($0.path, $1.path) }
            let result = try ingest(ordered, set)
            table.append(result.row(set))
            totals.add(result)
        }
        table.append(totals.row(FixtureSet(name: "all", paths: [], profile: "")))
        #expect(totals.counted > 450, "most files have a count in the manifest")
        #expect(rest.isEmpty, "in no set: \(rest.map(\.path))")
        print(aligned(table))
    }

    private func ingest(_ files: [Manifest.File], _ set: FixtureSet) throws -> SetTotals {
        let profile = try set.loadProfile()
        let folder = NSTemporaryDirectory() + "/quire-table-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let cache = try Cache(at: folder + "/t.quire", options: CacheOptions(durability: .relaxed))
        var totals = SetTotals()
        var run: Crawl?
        var expected: [String: Set<String>] = [:]
        for (index, file) in files.enumerated() {
            let bytes = try Fixtures.bytes(file.path)
            let ids = independentIDs(bytes, profile)
            totals.files += 1
            let response: Response
            do {
                response = try PageParser(profile: profile).read(bytes, name: file.path)
            } catch {
                #expect(ids == nil, "\(file.path): \(ids?.count ?? 0) items, but \(error)")
                totals.refuse(error.message, file.path)
                continue
            }
            guard let ids else {
                Issue.record("\(file.path) is no page, but was read")
                continue
            }
            let answer = response.answer
            #expect(answer.posts.map(\.id.description) == ids, "\(file.path)")
            if file.counts(itemsOf: profile) {
                #expect(answer.posts.count + answer.opaqueRows == file.items, "\(file.path)")
                totals.counted += 1
            }
            totals.items += answer.posts.count
            totals.breaks += breaks(answer)
            let name = set.arrangement == .chain ? set.name : file.path
            var options = profile.options
            options.order = set.order.flatMap(OrderClass.init) ?? options.order
            let feed = try cache.feed(named: name, options: options)
            let started = set.arrangement == .chain ? run : nil
            var current = started ?? Crawl(startingAt: .head(page: index))
            let outcome = try feed.take(response, page: index, of: &current)
            run = current
            if outcome.isUnchanged {
                #expect(answer.posts.isEmpty, "\(file.path): \(outcome.verdict)")
                totals.refuse("\(outcome.verdict)", file.path)
                continue
            }
            totals.pages += 1
            totals.again += outcome.duplicates.count + outcome.duplicatesInPage
            expected[name, default: []].formUnion(ids)
        }
        for name in expected.keys.sorted() {
            let feed = try #require(try cache.existingFeed(named: name))
            let rows = try cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
            let posts = rows.compactMap { row in row.post?.id.description }
            #expect(posts.count == expected[name]?.count && Set(posts) == expected[name], "\(name)")
            totals.gaps += rows.count - posts.count
            totals.posts += posts.count
        }
        #expect(try cache.check().isEmpty, "\(set.name)")
        return totals
    }

    /// `quire profiles --explain` puts the right profile first. An array with nothing around it may be
    /// that of several APIs: then the right one is among those that fit.
    @Test func theRightProfileFitsBest() throws {
        var rest = try Manifest().files.filter(\.isJSONPage)
        var counts = (best: 0, among: 0)
        for set in FixtureSet.all {
            let files = rest.filter { set.has($0) }
            rest.removeAll { set.has($0) }
            guard set.items == nil && set.id == nil, let profile = Profile.named(set.profile) else {
                continue
            }
            for file in files.prefix(12) {
                let bytes = try Fixtures.bytes(file.path)
                guard let ids = independentIDs(bytes, profile), !ids.isEmpty else { continue }
                let fits = ProfileFit.of(Profile.builtIn, to: bytes, envelope: nil)
                if fits[0].profile.name == set.profile {
                    counts.best += 1
                } else {
                    let names = fits.filter { $0.fits && $0.posts > 0 }.map(\.profile.name)
                    #expect(
                        names.contains(set.profile) && profile.items.keys.isEmpty, "\(file.path): \(names)")
                    counts.among += 1
                }
            }
        }
        print("explained: \(counts.best) best, \(counts.among) among others")
        #expect(counts.best > 100)
    }

    /// The numbers of expected-stackexchange.tsv.
    @Test(arguments: [("so-activity 1-60", 1727), ("so-activity 900-929", 900), ("so-python-tags", 700)])
    func stackOverflow(name: String, unique: Int) throws {
        let rest = FixtureSet.all.prefix { $0.name != name }
        let set = try #require(FixtureSet.all.first { $0.name == name })
        let files = try Manifest().files
            .filter { file in file.isJSONPage && set.has(file) && !rest.contains { $0.has(file) } }
            .sorted { set.precedes($0.path, $1.path) }
        let totals = try ingest(files, set)
        #expect(totals.posts == unique && totals.pages == files.count)
    }
}

/// How many neighbours of a page have keys that ascend.
private func breaks(_ answer: Answer) -> Int {
    let keys = answer.posts.compactMap(\.key)
    return zip(keys, keys.dropFirst()).count { $0 < $1 }
}

/// The ids of a response by the paths of a profile, nil if it is no page: read with Foundation.
func independentIDs(_ bytes: [UInt8], _ profile: Profile) -> [String]? {
    if profile.isLines {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return lines.reduce([] as [String]?) { ids, line in
            guard let value = parsed(Array(line)), let id = idText(follow(profile.id.path.keys, value))
            else { return nil }
            return ids.map { $0 + [id] }
        }
    }
    guard let root = parsed(bytes) else { return nil }
    if let path = profile.error?.path.keys, let error = follow(path, root), !(error is NSNull),
        (error as? Bool) != false
    {
        return nil
    }
    if let mark = profile.mark, !mark.texts.isEmpty || follow(profile.items.keys, root) == nil {
        guard let value = follow(mark.path.keys, root), !(value is NSNull) else { return nil }
        let text = value as? String ?? ""
        if !mark.texts.isEmpty, !mark.texts.contains(where: text.contains) { return nil }
    }
    let items = follow(profile.items.keys, root)
    if let order = profile.sequence.flatMap({ follow($0.keys, root) as? [String] }) {
        return items is [String: Any] ? order : nil
    }
    guard let items = items as? [Any] else { return nil }
    let ids = items.map { idText(follow(profile.id.path.keys, $0)) }
    let found = ids.compactMap(\.self)
    guard found.count == ids.count || profile.hasOpaqueRows else { return nil }
    if let key = profile.key?.path.keys, items.contains(where: { follow(key, $0) == nil }) { return nil }
    return found
}

private func parsed(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
}

private func follow(_ keys: [String], _ value: Any) -> Any? {
    keys.reduce(value as Any?) { value, key in
        if let object = value as? [String: Any] { return object[key] }
        guard let array = value as? [Any], let index = Int(key), array.indices ~= index else { return nil }
        return array[index]
    }
}

private func idText(_ value: Any?) -> String? {
    (value as? String) ?? (value as? NSNumber).map(\.stringValue)
}

/// What became of a set.
private struct SetTotals {
    var files = 0
    var pages = 0
    /// Files whose items the manifest counts too.
    var counted = 0
    var items = 0
    var posts = 0
    var again = 0
    var gaps = 0
    var breaks = 0
    var refused = 0
    var reason = ""

    mutating func refuse(_ message: String, _ path: String) {
        refused += 1
        if reason.isEmpty { reason = message.replacingOccurrences(of: path + ": ", with: "") }
    }

    mutating func add(_ other: SetTotals) {
        files += other.files
        pages += other.pages
        counted += other.counted
        items += other.items
        posts += other.posts
        again += other.again
        gaps += other.gaps
        breaks += other.breaks
        refused += other.refused
    }

    func row(_ set: FixtureSet) -> [String] {
        let profile = set.profile.hasPrefix("{") ? "(own)" : set.profile
        return [set.name, profile]
            + [files, pages, counted, items, posts, again, gaps, breaks, refused].map(String.init) + [reason]
    }
}

func aligned(_ rows: [[String]]) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        row.enumerated().map { column, cell in
            let space = String(repeating: " ", count: widths[column] - cell.count)
            return (2..<11).contains(column) ? space + cell : cell + space
        }.joined(separator: "  ")
    }.joined(separator: "\n")
}

extension FixtureSet {
    func has(_ file: Manifest.File) -> Bool {
        paths.contains { path in
            let parts = path.split(separator: "?")
            let isBelow = file.path == parts[0] || file.path.hasPrefix(parts[0] + "/")
            return isBelow && (parts.count < 2 || file.counted == parts[1])
        }
    }

    /// In the order of the table, files of a folder in natural order.
    fileprivate func precedes(_ first: String, _ second: String) -> Bool {
        let places = [first, second].map { path in paths.firstIndex { $0 == path } ?? paths.count }
        return places[0] == places[1] ? precedesNaturally(first, second) : places[0] < places[1]
    }

    func loadProfile() throws -> Profile {
        var profile = try Profile.named(profile) ?? Profile(json: Array(profile.utf8), name: name)
        if let items { try profile.setItems(path: items) }
        if let id { try profile.setID(path: id) }
        if let key { try profile.setKey(path: key) }
        return profile
    }
}

/// MANIFEST.tsv: what each file is, and how many items another program counted in it.
struct Manifest {
    struct File {
        let path: String
        let items: Int?
        let counted: String
        let format: String

        /// Not XML, not compressed, not a recording in YAML or plain text, not meant to be broken.
        var isJSONPage: Bool {
            format.contains("JSON") && !path.hasPrefix("torture/") && !path.hasSuffix(".gz")
                && ![".xml", ".rss", ".atom", ".rdf", ".opml"].contains { path.hasSuffix($0) }
        }

        /// False if the manifest counts something else than the items that a profile names.
        func counts(itemsOf profile: Profile) -> Bool {
            let name = counted.split(separator: ".").last.map(String.init)
            let items = profile.isLines ? "lines" : profile.items.keys.last ?? "list"
            return name == items && self.items != nil
        }
    }

    let files: [File]

    init() throws {
        let text = String(decoding: try Fixtures.bytes("MANIFEST.tsv"), as: UTF8.self)
        files = text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return File(path: cells[0], items: Int(cells[8]), counted: cells[9], format: cells[10])
        }
    }
}
