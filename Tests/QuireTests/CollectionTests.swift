import QuireSimulator
import Testing

@testable import Quire

/// Posts are shared within a collection, never across, whatever their ids are.
@Suite struct CollectionTests {
    private let storage: TemporaryCache
    private var cache: Cache { storage.cache }

    init() throws { storage = try TemporaryCache() }

    private func feed(_ name: String, of collection: String) throws -> Feed {
        try cache.feed(named: name, options: FeedOptions(collection: collection))
    }

    @discardableResult
    private func refresh(
        _ feed: Feed, _ ids: [PostID], _ text: String, version: Int64? = nil
    ) throws -> Outcome {
        var answer = Answer(next: .token("n"))
        for id in ids { answer.append(id: id, version: version, body: Array("\(text) \(id)".utf8)) }
        return try feed.ingest(answer, for: try #require(try feed.plan(.head).request).ticket)
    }

    private func body(_ id: PostID, in feed: Feed) throws -> String? {
        try feed.cache.withSnapshot { snapshot in
            guard let row = try snapshot.find(id, in: feed) else { return nil }
            return try snapshot.body(of: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func post(_ id: PostID, _ collection: String) throws -> PostInfo? {
        try cache.withSnapshot { try $0.post(id, in: collection) }
    }

    private static let long = PostID(String(repeating: "i", count: 300))!

    @Test(arguments: [1, "one", long] as [PostID])
    func oneIDIsTwoPostsInTwoCollections(_ id: PostID) throws {
        let (a, b) = (try feed("a", of: "A"), try feed("b", of: "B"))
        let (other, shared) = (try feed("a too", of: "A"), try cache.feed(named: "shared"))
        for (feed, text) in [(a, "a"), (b, "b"), (shared, "shared"), (other, "a")] {
            try refresh(feed, [id, 2], text)
        }
        #expect(try cache.update(id, body: Array("new".utf8), in: "A") == .changed)
        #expect(try cache.update(id, fields: ["f": [1]], version: 1, in: "B") == .changed)
        #expect(try cache.update(id, body: [1], in: "C") == .missing)
        #expect(try cache.update(id, fields: ["f": [9]], version: 1, in: "C") == .missing)
        try storage.reopen()
        for (name, text) in [("a", "new"), ("a too", "new"), ("b", "b \(id)"), ("shared", "shared \(id)")] {
            #expect(try body(id, in: try cache.feed(named: name)) == text)
        }
        #expect(try post(id, "A")?.feeds == 2)
        #expect(try post(id, "A")?.fields == [:])
        #expect(try post(id, "B")?.feeds == 1)
        #expect(try post(id, "B")?.fields == ["f": [1]])
        #expect(try cache.withSnapshot { try $0.post(id)?.feeds } == 1)
        #expect(try post(id, "C") == nil)
        #expect(try cache.withSnapshot { try $0.statistics().posts } == 6)
        #expect(try cache.check().isEmpty)
    }

    /// What leaves one collection stays in the other.
    @Test func leavingOneIsNotLeavingTheOther() throws {
        let (a, b) = (try feed("a", of: "A"), try feed("b", of: "B"))
        try refresh(a, [3, 2, 1], "a")
        try refresh(b, [1, 2, 3], "b")
        for feed in ["A", "B"] { _ = try cache.update(2, fields: ["f": [1]], version: 1, in: feed) }
        try a.delete(1)
        try a.evict([2])
        #expect(try cache.withSnapshot { try $0.contains([1, 2, 3], in: a) } == [false, false, true])
        #expect(try cache.withSnapshot { try $0.contains([1, 2, 3], in: b) } == [true, true, true])
        #expect(try post(2, "A") == nil)
        #expect(try post(2, "B")?.fields == ["f": [1]])
        try a.reset()
        #expect(try body(3, in: b) == "b 3")
        #expect(try cache.check().isEmpty)
    }

    @Test func anotherCollectionIsAClearError() throws {
        _ = try feed("a", of: "A")
        #expect(try feed("a", of: "A").options.collection == "A")
        #expect(try cache.feed(named: "a").options.collection == "A")
        do {
            _ = try feed("a", of: "B")
            Issue.record("a feed of two collections")
        } catch let error as QuireError {
            #expect(
                error.code == .optionsDiffer && error.message.contains("is of collection \"A\", not of \"B\"")
            )
        }
        let long = String(repeating: "c", count: 256)
        #expect(throws: QuireError.self) { try feed("b", of: long) }
        #expect(throws: QuireError.self) { try cache.update(1, body: [], in: long) }
        #expect(throws: QuireError.self) { _ = try post(1, long) }
        #expect(try cache.existingFeed(named: "b") == nil)
        #expect(try cache.check().isEmpty)
    }

    /// Bodies move together without a change of owner.
    @Test func reclaimKeepsThemApart() throws {
        let ids = (1...40).map { PostID(UInt64($0)) }
        let (a, b) = (try feed("a", of: "A"), try feed("b", of: "B"))
        try cache.batch { batch in  // their bodies share a record
            for (feed, text) in [(a, "a"), (b, "b")] {
                var answer = Answer(next: .token("n"))
                for id in ids { answer.append(id: id, body: Array("\(text) \(id)".utf8)) }
                let ticket = try batch[feed].plan(.head).request!.ticket
                _ = try batch[feed].ingest(answer, for: ticket)
            }
        }
        for feed in [a, b] { try feed.evict(Array(ids[3...])) }
        #expect(try cache.reclaim() > 0)
        for id in ids[..<3] {
            #expect(try body(id, in: a) == "a \(id)")
            #expect(try body(id, in: b) == "b \(id)")
        }
        #expect(try cache.check().isEmpty)
    }

    @Test func repairKeepsThemApart() throws {
        for (name, collection) in [("a", "A"), ("b", "B"), ("c", "")] {
            try refresh(try feed(name, of: collection), [1, "x"], name)
            _ = try cache.update("x", fields: ["of": Array(name.utf8)], version: 1, in: collection)
        }
        let path = storage.folder + "/copy.quire"
        try cache.copy(to: path)
        try storage.damage(path)
        #expect(try !Cache.repair(at: path).isSound)
        let repaired = try Cache(at: path)
        for (name, collection) in [("a", "A"), ("b", "B"), ("c", "")] {
            let feed = try repaired.feed(named: name)
            #expect(feed.options.collection == collection)
            #expect(try body("x", in: feed) == "\(name) x")
            let known = try repaired.withSnapshot { try $0.post("x", in: collection)?.fields }
            #expect(known == ["of": Array(name.utf8)])
        }
        #expect(try repaired.check().isEmpty)
    }

    /// An entry that shows the body of another collection's post is found, by its owner's name or by the
    /// bytes in use.
    @Test(arguments: [true, false]) func aSharedBodyIsFound(_ shareRecord: Bool) throws {
        let (a, b) = (try feed("a", of: "A"), try feed("b", of: "B"))
        func fill(_ feed: Feed, _ batch: borrowing Batch) throws {
            var answer = Answer(next: .token("n"))
            answer.append(id: 1, body: Array(String(repeating: feed.name, count: Int(feed.number)).utf8))
            _ = try batch[feed].ingest(answer, for: try batch[feed].plan(.head).request!.ticket)
        }
        if shareRecord {
            try cache.batch { batch in
                try fill(a, batch)
                try fill(b, batch)
            }
        } else {
            for feed in [a, b] { try cache.batch { try fill(feed, $0) } }
        }
        try cache.environment.write { transaction in
            func chunk(_ feed: Feed) throws -> (position: UInt64, record: ChunkRecord) {
                let reader = RowReader(transaction: transaction, feed: feed.number)
                let position = try reader.chunks.firstPosition()!
                return (position, try transaction.chunk(at: position, of: feed.number))
            }
            var (position, forged) = try chunk(b)
            forged.entries[0].body = try chunk(a).record.entries[0].body
            try transaction.put(.chunks(of: b.number), NumberKey(position), forged.encoded())
        }
        let codes = Set(try cache.check().map(\.code))
        #expect(codes.contains(shareRecord ? .count : .body), "\(codes)")
    }

    // MARK: At random

    /// What should be known of each post: one body, one map of fields for each collection and id.
    private struct Key: Hashable {
        let collection: String
        let id: PostID
    }

    @Test(arguments: 0..<12 as Range<UInt64>) func randomHistories(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let collections = ["", "A", "B"]
        let feeds = try (0..<6).map { try feed("\($0)", of: collections[$0 % 3]) }
        let ids: [PostID] = [1, 2, 3, "x", "y", Self.long]
        var bodies: [Key: String] = [:]
        var fields: [Key: [UInt8]] = [:]
        var held: [Set<PostID>] = Array(repeating: [], count: feeds.count)
        for step in 0..<80 {
            let at = random.below(feeds.count)
            let (feed, collection) = (feeds[at], feeds[at].options.collection)
            let id = random.pick(ids)
            let key = Key(collection: collection, id: id)
            switch random.below(6) {
            case 0, 1:
                let page = ids.filter { _ in random.chance(0.5) }
                guard try !page.isEmpty && !refresh(feed, page, "\(step)").isUnchanged else { continue }
                for id in page { bodies[Key(collection: collection, id: id)] = "\(step) \(id)" }
            case 2:
                if try cache.update(id, body: Array("u\(step)".utf8), in: collection) == .changed {
                    bodies[key] = "u\(step)"
                }
            case 3:
                let value = [UInt8(step)]
                let result = try cache.update(id, fields: ["f": value], version: 1, in: collection)
                if result == .changed { fields[key] = value }
            case 4: try feed.evict([id])
            default: if random.chance(0.2) { try feed.reset() } else { try feed.delete(id) }
            }
            try cache.withSnapshot { snapshot in
                for (at, feed) in feeds.enumerated() {
                    let flags = try snapshot.contains(ids, in: feed)
                    held[at] = Set(zip(ids, flags).filter(\.1).map(\.0))
                }
            }
            for (at, collection) in collections.enumerated() {
                for id in ids where !held[at].contains(id) && !held[at + 3].contains(id) {
                    bodies[Key(collection: collection, id: id)] = nil
                    fields[Key(collection: collection, id: id)] = nil
                }
            }
        }
        try storage.reopen()
        for (at, ids) in held.enumerated() {
            let feed = try cache.feed(named: "\(at)")
            for id in ids {
                let key = Key(collection: feed.options.collection, id: id)
                #expect(try body(id, in: feed) == bodies[key], "\(id) in \(at)")
                let known = try cache.withSnapshot { try $0.post(id, in: key.collection)?.fields["f"] }
                #expect(known == fields[key], "\(id) in \(at)")
            }
        }
        #expect(try cache.check().isEmpty)
    }
}
