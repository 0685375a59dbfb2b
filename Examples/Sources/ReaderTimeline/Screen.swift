import Foundation
import Quire
import QuirePaging

/// A few lines of a terminal that show a timeline. One post keeps its line, whatever comes above or below it.
@MainActor final class Screen {
    let model: FeedModel<Status>
    private let height = 5
    /// The post that keeps its line.
    private var anchor: PostID?
    private var line = 0

    init(_ model: FeedModel<Status>) {
        self.model = model
        if case .post(let id)? = model.anchor { anchor = id }
    }

    /// The index of the topmost line among the rows.
    private var start: Int {
        guard let anchor, let at = model.rows.firstIndex(where: { $0.id == .post(anchor) }) else { return 0 }
        return max(0, min(at - line, model.rows.count - height))
    }

    private var visible: ArraySlice<FeedModel<Status>.Row> { model.rows[start...].prefix(height) }

    var lines: [String] {
        visible.map { row in
            switch row {
            case .post(let post): (try? post.decoded().content) ?? "post \(post.id), which cannot be read"
            case .gap(let gap): "~ posts may be missing, \(model.state(at: .gap(gap.id)))"
            case .more(let place): "… \(model.state(at: place))"
            }
        }
    }

    /// The number of rows above the topmost line, of all that are cached.
    var above: Int {
        model.extent.above + visible.startIndex - (model.rows.first?.missing == .openHead ? 1 : 0)
    }

    /// Scrolls; a negative number scrolls up.
    func scroll(by rows: Int) {
        let top = max(0, min(start + rows, model.rows.count - height))
        let shown = model.rows[top...].prefix(height)
        guard let at = shown.firstIndex(where: { $0.post != nil }) else { return }
        (anchor, line) = (model.rows[at].post?.id, at - top)
    }

    /// Lets the model fetch what is missing near the lines.
    func look() async { await model.see(visible.map(\.id)) }

    /// The reader leaves: the next run opens here.
    func save() async throws {
        if let anchor = visible.first(where: { $0.post != nil })?.post?.id ?? anchor {
            try await model.pager.feed.reading.setPosition(anchor)
        }
    }

    func draw(_ title: String) {
        print(title)
        for line in lines { print("  |", line) }
    }
}
