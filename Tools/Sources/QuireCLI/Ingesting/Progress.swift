/// The progress of an ingest.
final class Progress {
    private let line: ProgressLine
    /// The stored size of everything to read; nil if it is not known.
    private let total: Int?
    private var first: Int?

    init(_ mode: ProgressLine.Mode, total: Int?) {
        line = ProgressLine(mode)
        self.total = total.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Draws the progress if it is time: stored bytes read, and posts committed.
    func show(read: Int, posts: Int) {
        let first = first ?? read
        self.first = first
        line.draw { seconds in
            let rate = Double(read - first) / max(seconds, 0.001)
            let words = "\(sized(Int(rate)))/s  \(counted(posts, "post"))"
            guard let total else { return ProgressLine.Text("\(sized(read)) read  \(words)") }
            return ProgressLine.Text(
                Double(read) / Double(total), words,
                secondsLeft: rate > 0 ? Double(max(0, total - read)) / rate : nil)
        }
    }

    func clear() { line.clear() }
}
