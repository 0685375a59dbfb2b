import Quire
import QuireSimulator
import Testing

@Suite("Simulated server")
struct SimulatorTests {
    private static let keyed = FeedOptions(order: .stable)

    private static func server(_ count: Int, prefix: String = "") -> SimulatedServer {
        var server = SimulatedServer(prefix: prefix)
        for _ in 0..<count { server.insertOnTop() }
        return server
    }

    private static func ids(_ answer: Answer) -> [PostID] { answer.posts.map(\.id) }

    // MARK: The generator

    @Test("the published numbers of SplitMix64")
    func generator() {
        var random = SplitMix64(seed: 1_234_567)
        let numbers = (0..<3).map { _ in random.next() }
        #expect(numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    @Test("draws stay within their bounds")
    func draws() {
        var random = SplitMix64(seed: 3)
        let numbers = (0..<500).map { _ in random.number(in: 2...5) }
        #expect(Set(numbers) == [2, 3, 4, 5])
        #expect(!(0..<100).contains { _ in random.chance(0) })
        #expect((0..<100).allSatisfy { _ in random.chance(1) })
        var elements = Array(0..<20)
        random.shuffle(&elements)
        #expect(elements != Array(0..<20) && elements.sorted() == Array(0..<20))
    }

    // MARK: The list

    @Test("posts are counted, with a prefix")
    func names() {
        #expect(Self.server(3).ids == [3, 2, 1])
        #expect(Self.server(2, prefix: "p").ids == ["p2", "p1"])
    }

    @Test("positions descend after every change, and no place is used twice")
    func positions() {
        var random = SplitMix64(seed: 5)
        var server = Self.server(5)
        var places: [Int64: PostID] = [:]
        for _ in 0..<600 {
            switch random.below(6) {
            case 0, 1: server.insertOnTop()
            case 2: server.insert(at: random.number(in: 0...server.ids.count))
            case 3: if !server.isEmpty { server.delete(random.pick(server.ids)) }
            case 4: if !server.isEmpty { server.bump(random.pick(server.ids)) }
            default: if random.chance(0.1) { server.shuffle(using: &random) }
            }
            let positions = server.ids.compactMap { server.position(of: $0) }
            #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 > $1 })
            for id in server.ids {
                guard let position = server.position(of: id) else { continue }
                #expect(places[position, default: id] == id)
                places[position] = id
            }
        }
    }

    @Test("a place that is full takes no more posts")
    func fullPlace() {
        var server = Self.server(2)
        var count = 0
        while server.insert(at: 1) != nil { count += 1 }
        #expect(count >= 20)
        #expect(server.ids.count == count + 2)
    }

    @Test("time counts the changes, and posts know when they arrived")
    func time() {
        var server = Self.server(3)
        #expect(server.now == 3)
        server.delete(1)
        server.bump(2)
        #expect(server.now == 5)
        #expect(server.arrival(of: 2) == 5)
        #expect(server.arrival(of: 3) == 3)
        #expect(!server.shows(1) && server.position(of: 1) != nil)
        server.delete(99)
        server.bump(1)
        #expect(server.now == 5)
    }

    @Test("equal histories give equal servers")
    func determinism() {
        func list() -> ([PostID], [[UInt8]]) {
            var random = SplitMix64(seed: 8)
            var server = Self.server(30)
            server.shuffle(using: &random)
            server.insert(at: 4)
            return (server.ids, server.ids.compactMap { server.body(of: $0) })
        }
        #expect(list() == list())
    }

    @Test("bodies change with their version")
    func bodies() throws {
        var server = Self.server(1, prefix: "p")
        let first = try #require(server.body(of: "p1"))
        #expect(String(decoding: first, as: UTF8.self).hasPrefix(#"{"id":"p1","title":""#))
        server.bump("p1")
        let second = try #require(server.body(of: "p1"))
        server.edit("p1")
        let third = try #require(server.body(of: "p1"))
        #expect(Set([first, second, third]).count == 3)
        #expect(server.version(of: "p1") == 3)
        #expect(server.body(of: "p2") == nil)
        let lengths = Set(Self.server(50).ids.compactMap { Self.server(50).body(of: $0)?.count })
        #expect(lengths.count > 10)
    }

    // MARK: Replies

    @Test("cursor links walk down and back up")
    func cursors() throws {
        let server = Self.server(7)
        let top = try #require(server.reply(to: .link(.head), limit: 3, options: Self.keyed))
        #expect(top.shown == [7, 6, 5] && top.answer.previous == .end)
        #expect(top.covered?.upperBound == .max && top.covered?.lowerBound == server.position(of: 5))
        let next = try #require(server.reply(to: .link(top.answer.next), limit: 3, options: Self.keyed))
        #expect(next.shown == [4, 3, 2])
        let last = try #require(server.reply(to: .link(next.answer.next), limit: 3, options: Self.keyed))
        #expect(last.shown == [1] && last.answer.next == .end && last.covered?.lowerBound == .min)
        let up = try #require(server.reply(to: .link(last.answer.previous), limit: 9, options: Self.keyed))
        #expect(up.shown == [7, 6, 5, 4, 3, 2] && up.answer.previous == .end)
        #expect(up.covered?.lowerBound == server.position(of: 1) && up.covered?.upperBound == .max)
    }

    @Test("a cursor keeps its place when the list changes")
    func cursorsAreStable() {
        var server = Self.server(6)
        let link = server.answer(to: .link(.head), limit: 3, options: Self.keyed).next
        server.delete(4)
        server.insertOnTop()
        let next = server.answer(to: .link(link), limit: 2, options: Self.keyed)
        #expect(Self.ids(next) == [3, 2])
    }

    @Test("keys and versions are sent where the order class promises keys")
    func keys() {
        let server = Self.server(2)
        let keyed = server.answer(to: .link(.head), limit: 2, options: Self.keyed)
        #expect(keyed.posts.map(\.key) == server.ids.map { server.position(of: $0) })
        let plain = server.answer(to: .link(.head), limit: 2, options: FeedOptions())
        #expect(plain.posts.allSatisfy { $0.key == nil && $0.version == 1 })
        let bodies = plain.posts.map { Array(plain.bytes[$0.body]) }
        #expect(bodies == server.ids.map { server.body(of: $0) })
    }

    @Test("keyset requests use the place the client knows")
    func keyset() {
        var server = Self.server(6)
        let old = server.position(of: 3)
        server.bump(3)
        let here = server.answer(to: .link(.below(3)), limit: 2, options: Self.keyed)
        #expect(Self.ids(here) == [6, 5])
        let there = server.answer(to: .link(.below(3)), limit: 2, options: Self.keyed) { _ in old }
        #expect(Self.ids(there) == [2, 1])
        let above = server.answer(to: .link(.above(3)), limit: 2, options: Self.keyed) { _ in old }
        #expect(Self.ids(above) == [5, 4])
        #expect(server.reply(to: .link(.below(99)), limit: 2, options: Self.keyed) == nil)
        #expect(server.reply(to: .link(.unknown), limit: 2, options: Self.keyed) == nil)
    }

    @Test("a bounded answer stops above its post and says so")
    func bounded() throws {
        let server = Self.server(8)
        let whole = try #require(server.reply(to: .link(.below(7)), until: 4, limit: 5, options: Self.keyed))
        #expect(whole.shown == [6, 5] && whole.answer.next == .end)
        #expect(whole.covered?.lowerBound == server.position(of: 4))
        let part = try #require(server.reply(to: .link(.below(7)), until: 2, limit: 2, options: Self.keyed))
        #expect(part.shown == [6, 5] && part.answer.next != .end)
        var other = server
        other.showsBounds = true
        let inclusive = try #require(
            other.reply(to: .link(.below(7)), until: 4, limit: 5, options: Self.keyed))
        #expect(inclusive.shown == [6, 5, 4] && inclusive.answer.next == .end)
    }

    @Test("offsets and page numbers count from the top")
    func positional() throws {
        let server = Self.server(7)
        let options = FeedOptions(paging: .page, firstPage: 0)
        let offset = try #require(
            server.reply(to: .position(offset: 2, limit: 3), limit: 1, options: options))
        #expect(offset.shown == [5, 4, 3] && offset.answer.next == .more)
        #expect(offset.covered?.upperBound == server.position(of: 5))
        let page = try #require(server.reply(to: .page(number: 0, limit: 4), limit: 1, options: options))
        #expect(page.shown == [7, 6, 5, 4] && page.covered?.upperBound == .max)
        let last = try #require(server.reply(to: .page(number: 1, limit: 4), limit: 1, options: options))
        #expect(last.shown == [3, 2, 1] && last.answer.next == .end)
        let beyond = try #require(
            server.reply(to: .position(offset: 9, limit: 3), limit: 1, options: options))
        #expect(beyond.shown.isEmpty && beyond.covered == nil)
    }

    @Test("jumps, snapshots and bodies")
    func special() throws {
        var server = Self.server(9)
        server.delete(5)
        let around = try #require(server.reply(to: .around(5), limit: 4, options: Self.keyed))
        #expect(around.shown == [7, 6, 4, 3, 2])
        let snapshot = try #require(server.reply(to: .snapshot, limit: 1, options: FeedOptions()))
        #expect(snapshot.shown == server.ids && snapshot.answer.bytes.isEmpty)
        let bodies = server.answer(to: .bodies([8, 5, 1]), limit: 1, options: FeedOptions())
        #expect(Self.ids(bodies) == [8, 1] && !bodies.bytes.isEmpty)
    }

    // MARK: Faults

    @Test("faults happen as often as asked, and do what they say")
    func faults() throws {
        var random = SplitMix64(seed: 11)
        var counts: [SimulatedFault: Int] = [:]
        for _ in 0..<10_000 {
            guard let fault = SimulatedFaults.frequent.draw(using: &random) else { continue }
            counts[fault, default: 0] += 1
        }
        #expect((300...500).contains(counts[.error] ?? 0))
        #expect((1_000...1_200).contains(counts[.repeatedID] ?? 0))
        #expect(SimulatedFaults().draw(using: &random) == nil)

        let reply = try #require(Self.server(4).reply(to: .link(.head), limit: 3, options: Self.keyed))
        #expect(reply.damaged(by: .error, using: &random) == nil)
        let empty = try #require(reply.damaged(by: .emptyAnswer, using: &random))
        #expect(empty.answer.posts.isEmpty && empty.answer.next == .unknown && empty.covered == nil)
        #expect(reply.damaged(by: .falseEnd, using: &random)?.answer.next == .end)
        let doubled = try #require(reply.damaged(by: .repeatedID, using: &random))
        #expect(doubled.answer.posts.count == 4 && Set(Self.ids(doubled.answer)).count == 3)
        #expect(doubled.shown == reply.shown)
    }
}
