import Quire

/// The feed as it was read at one moment.
struct OracleView: Equatable {
    struct Entry: Equatable {
        let id: PostID
        let isPinned: Bool
        let isPlaceholder: Bool
        let page: UInt64?
        let isUnverified: Bool
    }

    /// A row of the server's sequence. Detached entries are not among them.
    enum Line: Equatable {
        case entry(Entry)
        case gap(GapID)

        var entry: Entry? { if case .entry(let entry) = self { entry } else { nil } }
    }

    let rows: [OracleRow]
    let headIsClosed: Bool
    let tailIsEnd: Bool
    /// No answer said that end: it was concluded (R26.7).
    let tailIsAssumed: Bool

    let lines: [Line]
    /// Every post of the feed, detached entries included, top first.
    let posts: [PostID]
    let detached: [PostID]
    let pinned: Set<PostID>
    /// The page that delivered each post, detached entries included.
    let pages: [PostID: UInt64]
    /// Position of each post of the server's sequence in `lines`.
    let places: [PostID: Int]

    init(of subject: OracleSubject) throws {
        self.init(
            rows: try subject.rows(), headIsClosed: try subject.headIsClosed(),
            tailIsEnd: try subject.tailIsEnd(), tailIsAssumed: try subject.tailIsAssumed())
    }

    private init(rows: [OracleRow], headIsClosed: Bool, tailIsEnd: Bool, tailIsAssumed: Bool) {
        self.rows = rows
        self.headIsClosed = headIsClosed
        self.tailIsEnd = tailIsEnd
        self.tailIsAssumed = tailIsAssumed
        var (lines, posts, detached): ([Line], [PostID], [PostID]) = ([], [], [])
        var (pinned, pages): (Set<PostID>, [PostID: UInt64]) = ([], [:])
        for row in rows {
            switch row {
            case .gap(let id):
                lines.append(.gap(id))
            case .post(let id, let isDetached, let isPinned, let isPlaceholder, let page, let isUnverified):
                posts.append(id)
                if isPinned { pinned.insert(id) }
                if let page { pages[id] = page }
                guard !isDetached else {
                    detached.append(id)
                    continue
                }
                lines.append(
                    .entry(
                        Entry(
                            id: id, isPinned: isPinned, isPlaceholder: isPlaceholder, page: page,
                            isUnverified: isUnverified)))
            }
        }
        self.lines = lines
        self.posts = posts
        self.detached = detached
        self.pinned = pinned
        self.pages = pages
        places = Dictionary(
            lines.enumerated().compactMap { at, line in line.entry.map { ($0.id, at) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The posts of the server's sequence, top first.
    var entries: [PostID] { lines.compactMap { $0.entry?.id } }

    var gaps: [GapID] {
        lines.compactMap { if case .gap(let id) = $0 { id } else { nil } }
    }

    /// Runs of neighbours, top first.
    var segments: [[PostID]] {
        lines.split { $0.entry == nil }.map { $0.compactMap { $0.entry?.id } }
    }

    /// Segments, cut where only the server's numbering joins two entries: a claim proves nothing (R26).
    var provenRuns: [[PostID]] {
        var runs: [[PostID]] = []
        for part in lines.split(whereSeparator: { $0.entry == nil }) {
            runs.append([])
            for entry in part.compactMap(\.entry) {
                if entry.isUnverified && !runs[runs.count - 1].isEmpty { runs.append([]) }
                runs[runs.count - 1].append(entry.id)
            }
        }
        return runs
    }

    /// The entries that only the numbering joins to the one above.
    var unverified: Set<PostID> { Set(lines.compactMap(\.entry).filter(\.isUnverified).map(\.id)) }

    /// An answer that is not placed changes nothing. It may show that two neighbours are none: then their
    /// join is unverified (R25.3).
    func isUnchanged(in after: OracleView) -> Bool {
        posts == after.posts && detached == after.detached && pinned == after.pinned && pages == after.pages
            && places == after.places && gaps == after.gaps && headIsClosed == after.headIsClosed
            && tailIsEnd == after.tailIsEnd && unverified.isSubset(of: after.unverified)
    }

    /// The first entry that only the numbering joins to the next one, of those shown.
    func unverifiedUpper(above border: PostID, shown: [PostID]) -> PostID? {
        let entries = lines.compactMap(\.entry)
        return zip(entries, entries.dropFirst()).prefix { $0.0.id != border }
            .first { $1.isUnverified && shown.contains($0.id) }?.0.id
    }

    var hasPlaceholders: Bool { lines.contains { $0.entry?.isPlaceholder ?? false } }

    var pageCount: Int { Set(pages.values).count }

    func page(of id: PostID) -> UInt64? { places[id].flatMap { lines[$0].entry?.page } }

    /// The last entry above a line, or the first below it.
    func entry(above line: Int) -> PostID? { lines[..<line].last { $0.entry != nil }?.entry?.id }
    func entry(below line: Int) -> PostID? { lines[(line + 1)...].first { $0.entry != nil }?.entry?.id }

    /// The segment in which an entry stands.
    func segment(of id: PostID) -> [PostID] { segments.first { $0.contains(id) } ?? [] }

    /// I1, I2.
    func requireSoundStructure() throws {
        guard Set(posts).count == posts.count else {
            throw OracleFailure(.internal, "an id twice in \(self)")
        }
        let isGap = lines.map { $0.entry == nil }
        if zip(isGap, isGap.dropFirst()).contains(where: { $0 && $1 }) {
            throw OracleFailure(.internal, "neighbouring gaps in \(self)")
        }
        if isGap.first ?? false || isGap.last ?? false {
            throw OracleFailure(.internal, "a gap at an edge of \(self)")
        }
    }
}

extension OracleView: CustomStringConvertible {
    /// Like the pictures of the scenarios, without links: `[a +L b] ~ [c ?d] |…`.
    var description: String {
        var text = headIsClosed ? "[" : "…| ["
        for row in rows {
            switch row {
            case .gap: text += "] ~ ["
            case .post(let id, let isDetached, _, let isPlaceholder, _, let isUnverified):
                if !text.hasSuffix("[") { text += " " }
                text +=
                    (isDetached ? "+" : "") + (isPlaceholder ? "?" : "") + (isUnverified ? "=" : "") + "\(id)"
            }
        }
        return text + (tailIsEnd ? "] |end" : "] |…")
    }
}
