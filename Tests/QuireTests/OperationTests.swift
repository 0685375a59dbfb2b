import QuireSimulator
import Testing

@_spi(Unstable) @testable import Quire

/// Operations as values and as bytes.
@Suite struct OperationTests {
    static func answer(_ ids: [UInt64], next: Link = .unknown) -> Answer {
        var answer = Answer(next: next, fetchedAt: 1_700_000_000_000)
        for id in ids {
            answer.append(
                id: PostID(id), key: Int64(id), version: -3, detail: .summary, body: [1, UInt8(id)])
        }
        return answer
    }

    /// One of each, with arguments that are not the defaults.
    static let all: [CacheOperation] = {
        var (crawl, policy, full) = (
            Crawl(startingAt: .gap(GapID(7))), PrunePolicy(), answer([3, 2], next: .end)
        )
        crawl.follow(.token("p"), to: 4)
        policy.dropsOutOfSequence = true
        (policy.maximumAge, policy.now) = (-1, 5)
        (policy.maximumPosts, policy.maximumPages, policy.maximumBytes) = (1, 2, 3)
        (policy.visible, policy.budget) = ([1, 2, "c"], 9)
        (full.total, full.since, full.deleted, full.opaqueRows) = (99, "s", [8, "x"], 2)
        full.previous = .above(5)
        let options = FeedOptions(
            order: .bump, paging: .offset, trustsEnd: true, pageSize: 7, minimumRun: 3, sticky: [4, "s"],
            firstPage: -2, isStrict: true, sizes: .fixed(30), collection: "c")
        let note = PageNote("n", [1, 2])
        let page = EmbeddedPage(of: "child", options: options, answer([1]), note: note)
        let places: [Place] = [
            .head, .tail, .gap(GapID(1)), .aboveGap(GapID(2)), .openHead, .around(9), .page(-4),
            .join(above: "j"), .bodies([1, "b"]), .delta,
        ]
        let ofFeed: [FeedOperation] =
            places.map { .plan($0, limit: 3, isBounded: true, link: .below(4)) } + [
                .plan(.head), .ingest(full, for: Ticket(3), issuer: .max, embedded: [page], note: note),
                .ingest(answer([1]), for: Ticket(1)), .push(full, number: 4, follows: "f"), .push(full),
                .beginLive(after: 3), .beginLive(), .endLive, .crawl(full, page: -3, of: crawl),
                .crawl(full, page: nil, of: Crawl(startingAt: .tail)), .cancel(Ticket(5)),
                .dropLink(of: Ticket(6), issuer: 7), .delete(1),
                .evict([1, "e"]), .evictPage(at: 3), .prune(policy), .prune(PrunePolicy()), .reset, .drop,
                .rename(to: "é"), .setOptions(options), .pin(1), .unpin(2), .insertLocal("l", body: [0]),
                .removeLocal("l"), .confirmLocal("l", as: 3), .setAttribute("a", to: [1]),
                .setAttribute("a", to: nil), .exchangeAttribute("a", from: nil, to: [1]),
                .exchangeAttribute("a", from: [1], to: nil),
            ]
        return ofFeed.map { .feed(.max, $0) } + [
            .open(name: "f"), .open(name: "f", options: options),
            .updateBody("u", [1], version: .min, detail: .summary, collection: "c"), .updateBody(1, []),
            .updateFields(1, ["b": [1], "a": []], version: 3, collection: "c"),
            .addAlias("a", of: 1, collection: "c"), .embed(page), .setAttribute("x", to: [1]),
            .setAttribute("x", to: nil),
        ]
    }()

    @Test func everyOperationReadsBackAsItWasWritten() throws {
        for operation in Self.all {
            #expect(try CacheOperation(encoded: operation.encoded) == operation)
        }
    }

    @Test func theOrderOfSetsAndDictionariesIsNotInTheBytes() {
        let fields = (0..<64).map { ("f\($0)", [UInt8($0)]) }
        let ids = (0..<64).map { PostID(UInt64($0)) }
        func both(_ fields: [(String, [UInt8])], _ ids: [PostID]) -> [[UInt8]] {
            var policy = PrunePolicy()
            for id in ids { policy.visible.insert(id) }
            return [
                CacheOperation.updateFields(1, Dictionary(fields) { $1 }, version: 1).encoded,
                CacheOperation.feed(1, .prune(policy)).encoded,
            ]
        }
        #expect(both(fields, ids) == both(fields.reversed(), ids.reversed()))
    }

    @Test func otherBytesAreRefused() throws {
        for operation in Self.all {
            let bytes = operation.encoded
            for count in 0..<bytes.count {
                #expect(throws: QuireError.self) { try CacheOperation(encoded: Array(bytes[..<count])) }
            }
            var random = SplitMix64(seed: UInt64(bytes.count))
            for _ in 0..<200 {
                var damaged = bytes
                for _ in 0...random.next() % 3 {
                    damaged[3 + Int(random.next() % UInt64(bytes.count - 7))] = UInt8.random(
                        in: 0...255, using: &random)
                }
                damaged.withUnsafeMutableBytes { Checksum.seal($0) }
                // whatever it reads as, it is written as it was understood
                if let other = try? CacheOperation(encoded: damaged) {
                    #expect(try CacheOperation(encoded: other.encoded) == other)
                }
            }
        }
    }

    @Test func otherVersionsAreRefused() throws {
        var bytes = CacheOperation.feed(1, .reset).encoded
        bytes[1] &+= 1
        bytes.withUnsafeMutableBytes { Checksum.seal($0) }
        let error = #expect(throws: QuireError.self) { try CacheOperation(encoded: bytes) }
        #expect(error?.code == .newerFormat)
    }
}
