import Quire

/// A server's list of posts, to page through without a network.
///
/// Every post has a position, larger is nearer to the top, and the time at which it arrived there. A
/// position is never used twice, so "what lay at this place at that time" has one answer, and a cursor
/// made from a position keeps its meaning when the list changes. Time counts the changes.
///
///     var server = SimulatedServer()
///     for _ in 1...100 { server.insertOnTop() }
///     let page = server.answer(to: .link(.head), limit: 20, options: FeedOptions())
public struct SimulatedServer: Sendable {
    /// The distance between neighbours when the list grows at the top. About 30 posts can be back-dated
    /// into one place before it is full.
    public static let stride: Int64 = 1 << 32

    struct Record: Sendable {
        var position: Int64
        var arrival: Int
        var version: Int64
        var isAlive: Bool
    }

    /// What it makes of requests that name a position.
    public var kind: ServerKind
    /// Bounded answers end with the post at which they stop, where the server still shows it, not above it.
    public var showsBounds = false
    /// How many changes there have been.
    public private(set) var now = 0
    /// The rows of the list, top first: the posts that the server shows, unless ``hides(_:)``.
    public private(set) var ids: [PostID] = []
    /// Deleted posts keep their record: clients go on asking for what lies below them.
    var records: [PostID: Record] = [:]
    private var occupied: Set<Int64> = []
    private var highest: Int64 = 0
    private var count = 0
    private let prefix: String

    /// An empty server. Its posts are called "1", "2", …, each with the prefix in front.
    public init(prefix: String = "", kind: ServerKind = ServerKind()) {
        (self.prefix, self.kind) = (prefix, kind)
    }

    /// True if the server shows no post.
    public var isEmpty: Bool { ids.isEmpty }

    /// True if the server shows the post now.
    public func shows(_ id: PostID) -> Bool { (records[id]?.isAlive ?? false) && !hides(id) }

    /// True if the post is a row that no answer shows (``ServerKind/Filter``).
    public func hides(_ id: PostID) -> Bool {
        guard kind.filter.percent > 0 else { return false }
        let seed = id.description.utf8.reduce(UInt64(7)) { ($0 &* 31) &+ UInt64($1) }
        var random = SplitMix64(seed: seed)
        return random.below(100) < kind.filter.percent
    }

    /// Where the post is, or was when it was deleted; nil if there never was such a post.
    public func position(of id: PostID) -> Int64? { records[id]?.position }

    /// When the post arrived at its position; nil if there never was such a post.
    public func arrival(of id: PostID) -> Int? { records[id]?.arrival }

    /// Which state of its body the post has: 1 at first, one more with every bump and edit.
    public func version(of id: PostID) -> Int64? { records[id]?.version }
}

// MARK: Changes

extension SimulatedServer {
    /// A new post appears above all others.
    @discardableResult
    public mutating func insertOnTop() -> PostID {
        let id = newID()
        place(id, at: top(), index: 0)
        return id
    }

    /// A new, back-dated post appears at an index of ``ids``; nil if there is no room left between the
    /// two that are there.
    @discardableResult
    public mutating func insert(at index: Int) -> PostID? {
        precondition((0...ids.count).contains(index), "no place \(index) among \(ids.count) posts")
        guard index > 0 else { return insertOnTop() }
        now += 1
        guard let position = roomAbove(index) else { return nil }
        now -= 1
        let id = newID()
        place(id, at: position, index: index)
        return id
    }

    /// The post disappears. Does nothing if the server does not show it.
    public mutating func delete(_ id: PostID) {
        guard let index = ids.firstIndex(of: id) else { return }
        now += 1
        ids.remove(at: index)
        records[id]?.isAlive = false
    }

    /// The post rises to the top, with a new body. Does nothing if the server does not show it.
    public mutating func bump(_ id: PostID) {
        guard let index = ids.firstIndex(of: id) else { return }
        ids.remove(at: index)
        place(id, at: top(), index: 0)
    }

    /// The post gets a new body and stays where it is. Does nothing if the server does not show it.
    public mutating func edit(_ id: PostID) {
        guard shows(id) else { return }
        now += 1
        records[id]?.version += 1
    }

    /// The server ranks its posts anew.
    public mutating func shuffle(using random: inout SplitMix64) {
        random.shuffle(&ids)
        now += 1
        let first = top() + Self.stride * Int64(ids.count)
        for (index, id) in ids.enumerated() {
            put(id, at: first - Self.stride * Int64(index))
        }
    }

    private mutating func newID() -> PostID {
        count += 1
        return PostID("\(prefix)\(count)") ?? PostID(UInt64(count))
    }

    private func top() -> Int64 { highest + Self.stride }

    private mutating func place(_ id: PostID, at position: Int64, index: Int) {
        now += 1
        ids.insert(id, at: index)
        put(id, at: position)
    }

    private mutating func put(_ id: PostID, at position: Int64) {
        let version = (records[id]?.version ?? 0) + 1
        records[id] = Record(position: position, arrival: now, version: version, isAlive: true)
        occupied.insert(position)
        highest = max(highest, position)
    }

    /// A free position directly above the post at an index. It is not always the middle, so that
    /// deleted neighbours end up on either side of it.
    private func roomAbove(_ index: Int) -> Int64? {
        guard let above = position(of: ids[index - 1]) else { return nil }
        let below = index < ids.count ? position(of: ids[index]) : above - Self.stride
        guard let below, above - below >= 2 else { return nil }
        let share = Int64(30 + (now * 7919) % 41)
        let position = below + max(1, (above - below) / 100 * share)
        return occupied.contains(position) ? nil : position
    }
}

// MARK: Bodies

extension SimulatedServer {
    /// The JSON of a post in its present state; nil if there never was such a post. Bodies differ in
    /// length, and every version differs from the one before.
    public func body(of id: PostID) -> [UInt8]? {
        guard let version = version(of: id) else { return nil }
        let name = id.description
        let seed = name.utf8.reduce(UInt64(version)) { ($0 &* 31) &+ UInt64($1) }
        var random = SplitMix64(seed: seed)
        let title = (0...random.below(6)).map { _ in random.pick(Self.words) }.joined(separator: " ")
        let quoted = UInt64(name) == nil ? "\"\(name)\"" : name
        let score = random.below(1_000)
        return Array(#"{"id":\#(quoted),"title":"\#(title) v\#(version)","score":\#(score)}"#.utf8)
    }

    private static let words = [
        "a", "gap", "in", "the", "feed", "that", "nobody", "noticed", "closed", "überraschend", "今日",
        "🪶",
    ]
}
