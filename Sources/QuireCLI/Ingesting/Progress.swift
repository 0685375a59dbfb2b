import ArgumentParser
import Foundation

/// How far a run has come, on one line of stderr that is drawn over itself.
final class Progress {
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    private let isShown: Bool
    private let hasColour: Bool
    /// What there is to read, as stored; nil if that is not known.
    private let total: Int?
    private let began = ContinuousClock.now
    private var first: Int?
    private var next: Duration
    private var width = 0

    private static let interval = Duration.milliseconds(200)

    init(_ mode: Mode, total: Int?) {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let environment = ProcessInfo.processInfo.environment
        isShown = mode == .always || mode == .auto && isTerminal
        hasColour =
            isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        self.total = total.flatMap { $0 > 0 ? $0 : nil }
        next = mode == .always ? .zero : .seconds(1)
    }

    /// Draws, if it is time: bytes read, as stored, and posts committed.
    func show(read: Int, posts: Int) {
        if !isShown { return }
        first = first ?? read
        let elapsed = began.duration(to: .now)
        if elapsed < next { return }
        next = elapsed + Self.interval
        draw(line(read: read, posts: posts, seconds: elapsed / .seconds(1)))
    }

    /// Takes the line away, for a message or the end.
    func clear() {
        if width > 0 { write("\r" + String(repeating: " ", count: width) + "\r") }
        width = 0
    }

    private func line(read: Int, posts: Int, seconds: Double) -> (text: String, bar: Int) {
        let rate = Double(read - (first ?? 0)) / max(seconds, 0.001)
        let speed = "\(sized(Int(rate)))/s  \(counted(posts, "post"))"
        guard let total else { return ("\(sized(read)) read  \(speed)", 0) }
        let part = min(1, Double(read) / Double(total))
        let percent = String(Int(part * 100))
        let filled = Int(part * 20)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled)
        let left = rate > 0 ? "  \(Self.clock(Double(max(0, total - read)) / rate)) left" : ""
        let padded = String(repeating: " ", count: 3 - percent.count) + percent
        return ("[\(bar)] \(padded) %  \(speed)\(left)", filled)
    }

    /// Minutes and seconds, or hours and minutes: `1:05`, `2 h 10`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        if whole >= 3_600 { return "\(whole / 3_600) h \(whole / 60 % 60)" }
        return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
    }

    private func draw(_ line: (text: String, bar: Int)) {
        let text = String(line.text.prefix(columns - 1))
        let padding = String(repeating: " ", count: max(0, width - text.count))
        width = text.count
        if hasColour && line.bar > 0 {
            let bar = text.prefix(1 + line.bar)
            write("\r\u{1B}[32m\(bar)\u{1B}[0m\(text.dropFirst(bar.count))\(padding)")
        } else {
            write("\r\(text)\(padding)")
        }
    }

    private var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
