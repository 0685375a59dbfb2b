import ArgumentParser
import Foundation
import Quire

/// Shows a feed on a terminal and scrolls it by keys, live while other programs write. Each picture is of one
/// snapshot, which ends before the next key is awaited: looking keeps no space from reuse.
struct FeedView {
    private let terminal: Terminal
    private var screen: FeedScreen
    private let hasColour: Bool
    /// The item at the top of the screen.
    private var top: Int
    /// The gap to which `n` or `N` went last.
    private var marked: Int?
    private var message: String?
    private var frame = FeedScreen.Frame()
    private var generation: UInt64 = 0
    /// The size of the picture that stands on the screen.
    private var drawn = (height: 0, columns: 0)
    /// The first post on the screen, how many items below the top: it stays where it is when others come in
    /// above it.
    private var anchor: (id: PostID, offset: Int)?

    /// - Parameter rank: the row to begin with.
    init(_ feed: Feed, from rank: Int) throws {
        terminal = try Terminal()
        screen = FeedScreen(feed)
        hasColour = mayColour(STDOUT_FILENO)
        let isOpen = try feed.cache.withSnapshot { try $0.info(of: feed).isHeadOpen }
        top = rank == 0 ? 0 : rank + (isOpen ? 1 : 0)
    }

    /// Runs until a key or a signal ends it.
    mutating func run() throws {
        try terminal.enter()
        defer { terminal.leave() }
        var typed: [UInt8] = []
        try draw(true)
        while true {
            switch Terminal.takeSignal() {
            case 0: break
            case SIGTSTP:
                try terminal.suspend()
                try draw(true)
            case let signal: throw ExitCode(128 + signal)
            }
            try draw(false)
            // An Escape that is no start of a sequence is nothing.
            guard let bytes = terminal.read(milliseconds: typed.isEmpty ? 250 : 50) else { return }
            if bytes.isEmpty { typed = [] }
            let (keys, rest) = Key.read(typed + bytes)
            typed = rest
            for key in keys {
                if key == .quit { return }
                if key == .suspend { try terminal.suspend() } else { try move(key) }
                try draw(true)  // the next key begins with what is shown now
            }
        }
    }

    /// The lines of the screen for rows: without the heading and the status.
    private var size: (height: Int, columns: Int) {
        let size = terminalSize(STDOUT_FILENO) ?? (rows: 24, columns: 80)
        return (max(1, size.rows - 2), max(20, size.columns))
    }

    private mutating func move(_ key: Key) throws {
        let height = size.height
        let (screen, top, marked, frame) = (screen, top, marked, frame)
        message = nil
        let wanted: Int = try screen.feed.cache.withSnapshot { snapshot in
            switch key {
            case .down: return top + 1
            case .up: return top - 1
            case .pageDown: return max(top + 1, frame.last + 1)
            case .pageUp: return try screen.top(showing: max(0, top - 1), height: height, snapshot)
            case .halfDown: return top + max(1, height / 2)
            case .halfUp: return top - max(1, height / 2)
            case .top: return 0
            case .bottom: return frame.count
            case .nextGap: return try screen.gap(from: marked ?? top - 1, isDown: true, snapshot) ?? -1
            case .previousGap: return try screen.gap(from: marked ?? top, isDown: false, snapshot) ?? -1
            case .quit, .suspend, .redraw: return top
            }
        }
        (self.marked, anchor) = (nil, nil)
        guard key == .nextGap || key == .previousGap else { return self.top = max(0, wanted) }
        if wanted < 0 {
            self.marked = marked
            message = key == .nextGap ? "no gap below" : "no gap above"
        } else {
            // with what lies above it in sight
            (self.marked, self.top) = (wanted, max(0, wanted - min(3, height / 2)))
        }
    }

    // MARK: Drawing

    /// Draws the screen if something has changed: the view, the cache or the size.
    private mutating func draw(_ isMoved: Bool) throws {
        let size = size
        let (seen, anchor) = (generation, anchor)
        if !isMoved && size == drawn {
            let now = try screen.feed.cache.withSnapshot { try $0.generation }
            if now == seen { return }
        }
        var (screen, top, marked) = (screen, top, marked)
        let result: (FeedScreen.Frame, Continuity, UInt64, (id: PostID, offset: Int)?)
        result = try screen.feed.cache.withSnapshot { snapshot in
            let now = try snapshot.generation
            let feed = screen.feed
            let info = try snapshot.info(of: feed)
            let first = info.isHeadOpen ? 1 : 0
            if now != seen, let anchor, let rank = try snapshot.rank(of: anchor.id, in: feed) {
                let moved = max(0, rank + first - anchor.offset) - top
                (top, marked) = (top + moved, marked.map { $0 + moved })
            }
            let frame = try screen.frame(
                top: top, height: size.height, columns: size.columns, marked: marked, snapshot)
            var next: (id: PostID, offset: Int)?
            // A feed that is seen from its start shows what comes in there.
            if frame.top > 0 {
                let rows = try snapshot.rows(of: feed, from: frame.top - first, limit: size.height)
                if let offset = rows.firstIndex(where: { $0.post != nil }), let post = rows[offset].post {
                    next = (post.id, offset)
                }
            }
            return (frame, try Continuity(of: feed, snapshot), now, next)
        }
        let (frame, state, now, next) = result
        (self.screen, self.top, self.marked) = (screen, frame.top, marked)
        (self.frame, generation, self.anchor) = (frame, now, next)
        drawn = size
        try terminal.write(picture(frame, state, size.columns))
    }

    private func picture(_ frame: FeedScreen.Frame, _ state: Continuity, _ columns: Int) -> String {
        var text = "\u{1B}[H"
        for line in frame.lines { text += coloured(line) + "\u{1B}[K\r\n" }
        let status = FeedScreen.Line(text: status(frame, state, columns), style: .status)
        return text + coloured(status) + "\u{1B}[K\u{1B}[J"
    }

    private func status(_ frame: FeedScreen.Frame, _ state: Continuity, _ columns: Int) -> String {
        let place = "\(grouped(frame.top + 1))-\(grouped(frame.last + 1)) of \(grouped(frame.count))"
        let state = message ?? state.sentence
        let left = "\(shown(screen.feed.name, limit: 40))  \(place)  \(state)"
        let keys = "space b n N g G q"
        let room = columns - ScreenText.width(of: left) - keys.count
        return ScreenText.fitted(
            room < 2 ? left : left + String(repeating: " ", count: room) + keys, to: columns)
    }

    private func coloured(_ line: FeedScreen.Line) -> String {
        if !hasColour { return line.text }
        let code: String
        switch line.style {
        case .plain: return line.text
        case .heading: code = "1"
        case .gap: code = "31"
        case .join: code = "33"
        case .note: code = "2"
        case .status: code = "7"
        }
        return "\u{1B}[\(code)m\(line.text)\u{1B}[0m"
    }
}
