import ArgumentParser
import Foundation

struct ProgressOption: ParsableArguments {
    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            "Draw a progress line: auto (on a terminal, after a second), always, never.",
            valueName: "when"))
    var mode = ProgressLine.Mode.auto
}

/// A line of stderr that is drawn over itself.
final class ProgressLine {
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    private let isShown: Bool
    private let hasColour: Bool
    private let began = ContinuousClock.now
    private var next: Duration
    private var width = 0

    private static let interval = Duration.milliseconds(200)

    init(_ mode: Mode) {
        let isTerminal = isatty(STDERR_FILENO) == 1
        isShown = mode == .always || mode == .auto && isTerminal
        hasColour = mayColour(STDERR_FILENO)
        next = mode == .always ? .zero : .seconds(1)
    }

    /// Draws what `text` says for the seconds that have passed, if it is time.
    func draw(_ text: (_ seconds: Double) -> Text) {
        if !isShown { return }
        let elapsed = began.duration(to: .now)
        if elapsed < next { return }
        next = elapsed + Self.interval
        draw(text(elapsed / .seconds(1)))
    }

    /// Takes the line away, for a message or the end.
    func clear() {
        if width > 0 { write("\r" + String(repeating: " ", count: width) + "\r") }
        width = 0
    }

    struct Text {
        let text: String
        /// How many characters of the bar are filled.
        let filled: Int

        init(_ text: String) { (self.text, filled) = (text, 0) }

        /// A bar for the part that is done, what is said beside it, and how long the rest takes.
        init(_ part: Double, _ words: String, secondsLeft: Double?) {
            let part = min(1, max(0, part))
            filled = Int(part * 20)
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
            let percent = String(Int(part * 100))
            let padded = String(repeating: " ", count: 3 - percent.count) + percent
            let left = secondsLeft.map { "\(ProgressLine.clock($0)) left" }
            let rest = [words.isEmpty ? nil : words, left].compactMap(\.self)
            text = (["[\(bar)] \(padded) %"] + rest).joined(separator: "  ")
        }
    }

    /// Minutes and seconds, or hours and minutes: `1:05`, `2 h 10`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        if whole >= 3_600 { return "\(whole / 3_600) h \(whole / 60 % 60)" }
        return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
    }

    private func draw(_ line: Text) {
        let text = String(line.text.prefix(columns - 1))
        let padding = String(repeating: " ", count: max(0, width - text.count))
        width = text.count
        if hasColour && line.filled > 0 {
            let bar = text.prefix(1 + line.filled)
            write("\r\u{1B}[32m\(bar)\u{1B}[0m\(text.dropFirst(bar.count))\(padding)")
        } else {
            write("\r\(text)\(padding)")
        }
    }

    private var columns: Int { terminalSize(STDERR_FILENO)?.columns ?? 80 }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
