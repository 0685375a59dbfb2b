import ArgumentParser
import Foundation
@_spi(Unstable) import Quire

struct Watch: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow the commits of a cache, of all processes, as they are made.",
        discussion: """
            Each line is a JSON object, with and without --json: what one commit changed in one feed, in the \
            order in which the changes apply to the rows of quire show.

            inserted: the row is now directly below another one; below is null at the top. removed: the row is \
            no longer in the feed. updated: the body changed. reset: the feed was begun anew or dropped, or \
            more has changed than the log of the cache holds; read it again. A feed that is named and was \
            dropped is followed again as soon as there is a feed of its name.

            Ctrl-C ends it, with exit code 0. Writers never wait for it. It cannot follow a cache that it may \
            not lock, because it has no right to write to the companions: it prints what --since asks for, \
            says so, and ends with exit code 66.

            Examples:
              quire watch so.quire
              quire watch so.quire so/active --since 0 -n 1
            """)

    @OptionGroup var target: CacheArgument

    @Argument(help: "The feeds to follow; all if none is named.", completion: .feeds)
    var feeds: [String] = []

    @Option(
        help: ArgumentHelp(
            "Begin with what came after this commit (default: with the next one).", valueName: "commit"))
    var since: UInt64?

    @OptionGroup var json: JSONOption

    @Option(name: .short, help: ArgumentHelp("End after this many lines.", valueName: "number"))
    var number: Int?

    func validate() throws {
        if number ?? 0 < 0 { throw ValidationError("-n must not be negative.") }
    }

    /// A row by its name; the other one is absent.
    private struct Row: Encodable {
        let gap: String?
        let post: String?

        init(_ id: RowID) {
            switch id {
            case .post(let id): (gap, post) = (nil, id.description)
            case .gap(let id): (gap, post) = (id.description, nil)
            }
        }
    }

    private struct Step: Encodable {
        let change: String
        let row: Row?
        @OrNull var below: Row?

        private enum CodingKeys: String, CodingKey { case change, row, below }

        init(_ change: Change) {
            switch change {
            case .inserted(let row, let below):
                (self.change, self.row, self.below) = ("inserted", Row(row), below.map { Row($0) })
            case .removed(let row): (self.change, self.row, below) = ("removed", Row(row), nil)
            case .updated(let id): (self.change, row, below) = ("updated", Row(.post(id)), nil)
            case .reset: (self.change, row, below) = ("reset", nil, nil)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(change, forKey: .change)
            try container.encodeIfPresent(row, forKey: .row)
            if change == "inserted" { try container.encode(_below, forKey: .below) }
        }
    }

    private struct Line: Encodable {
        var changes: [Step]
        let commit: UInt64
        /// Null if the feed no longer exists.
        @OrNull var feed: String?
        let feedNumber: UInt32
    }

    func run(_ output: Output) throws -> ExitStatus {
        let cache = try target.openToRead()
        var seen = try cache.withSnapshot { try $0.generation }
        var followed = Followed(try feeds.map { try openFeed($0, in: cache) }, of: try cache.feeds())
        Interruption.watch()
        if let since {
            if since > seen { throw Failure(.data, "\(cache.path): the latest commit is \(seen)") }
            seen = since
        }
        var left = number ?? .max
        while Interruption.received == 0 && left > 0 {
            for line in try lines(of: cache, &followed, after: &seen).prefix(left) {
                try JSONLines(output).print(line)
                left -= 1
            }
            try output.flush()
            if left > 0 && !cache.seesLaterCommits {
                throw Failure(
                    .noInput,
                    "\(cache.path): cannot be followed: it may not be locked, and is read as it is now")
            }
            if left > 0 { try output.pause(milliseconds: 50) }
        }
        return .ok
    }

    /// The feeds whose changes are printed.
    private struct Followed {
        /// The feed that each name stands for. A feed keeps its number when it is renamed.
        private var numbers: [String: UInt32]
        /// All that `numbers` has ever held: what a feed did before it was dropped may not be printed yet.
        private var wanted: Set<UInt32>
        /// The feeds of the last commit that was looked at, and their names.
        private(set) var names: [UInt32: String]

        init(_ feeds: [Feed], of all: [Feed]) {
            numbers = Dictionary(feeds.map { ($0.name, $0.number) }) { first, _ in first }
            wanted = Set(numbers.values)
            names = Dictionary(uniqueKeysWithValues: all.map { ($0.number, $0.name) })
        }

        func contains(_ feed: UInt32) -> Bool { wanted.isEmpty || wanted.contains(feed) }

        /// Takes the feeds that took the names of dropped ones. Returns those that have rows from before.
        mutating func update(_ all: [Feed]) -> Set<UInt32> {
            let before = names
            names = Dictionary(uniqueKeysWithValues: all.map { ($0.number, $0.name) })
            var unread: Set<UInt32> = []
            for (name, number) in numbers where names[number] == nil {
                guard let heir = all.first(where: { $0.name == name })?.number else { continue }
                numbers[name] = heir
                if wanted.insert(heir).inserted && before[heir] != nil { unread.insert(heir) }
            }
            return unread
        }
    }

    /// What has changed since a commit, which becomes the latest one.
    private func lines(
        of cache: Cache, _ followed: inout Followed, after seen: inout UInt64
    ) throws -> [Line] {
        let last = seen
        let (now, commits) = try cache.withSnapshot { snapshot in
            let now = try snapshot.generation
            return (now, now == last ? [] : try snapshot.changes(since: last))
        }
        seen = now
        if now == last { return [] }
        let unread = followed.update(try cache.feeds())
        let names = followed.names
        func resets(of isMeant: (UInt32) -> Bool) -> [Line] {
            names.sorted { $0.value < $1.value }.filter { isMeant($0.key) }.map {
                Line(changes: [Step(.reset)], commit: now, feed: $0.value, feedNumber: $0.key)
            }
        }
        guard let commits else { return resets(of: followed.contains) }
        // The log has an entry for each page of a commit.
        var lines: [Line] = []
        var places: [UInt32: Int] = [:]
        for (commit, feed, changes) in commits where followed.contains(feed) && !unread.contains(feed) {
            let steps = changes.map { Step($0) }
            if let place = places[feed], lines[place].commit == commit {
                lines[place].changes += steps
            } else {
                places[feed] = lines.count
                lines.append(Line(changes: steps, commit: commit, feed: names[feed], feedNumber: feed))
            }
        }
        return lines + resets(of: unread.contains)
    }
}
