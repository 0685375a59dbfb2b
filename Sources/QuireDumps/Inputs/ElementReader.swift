/// Where the elements of a list of JSON values are, one after the other.
final class ElementReader {
    enum Layout {
        /// A value a line.
        case lines
        /// The values of one array.
        case array

        var noun: String { self == .lines ? "line" : "item" }
    }

    struct Element {
        /// In the window, counted from its first byte.
        let range: Range<Int>
        /// Where to look for the one after it.
        let next: Int
        /// The line it is on, or the how manieth it is, from 1.
        let number: Int
    }

    let layout: Layout
    /// Why the list broke off.
    private(set) var failure: (kind: DumpError.Kind, message: String)?
    private let window: ByteWindow
    private let limit: Int
    private var count = 0
    private var isInArray = false

    init(_ window: ByteWindow, _ layout: Layout, limit: Int) {
        (self.window, self.layout, self.limit) = (window, layout, limit)
    }

    /// The next element, from this place of the window on; nil at the end, which ``failure`` explains if
    /// it came too early.
    func next(from start: Int) -> Element? {
        layout == .lines ? line(from: start) : element(from: start)
    }

    /// Starts anew at the first element, from which nothing has been dropped.
    func rewind() { (count, isInArray) = (0, false) }

    private func line(from start: Int) -> Element? {
        var (start, at) = (start, start)
        while true {
            let newline = window.index(of: UInt8(ascii: "\n"), from: at)
            guard let end = newline ?? (window.isAtEnd ? window.count : nil) else {
                at = window.count
                if !goOn(from: start) && !window.isAtEnd { return nil }
                continue
            }
            if newline == nil && window.failure != nil { return nil }  // it may be a part of a line
            count += 1
            if let token = window.token(from: start), token < end {
                return Element(range: start..<end, next: min(end + 1, window.count), number: count)
            }
            if newline == nil { return nil }
            (start, at) = (end + 1, end + 1)
        }
    }

    private func element(from start: Int) -> Element? {
        guard var at = token(from: start) else { return cut() }
        if !isInArray {
            isInArray = true  // the opening bracket
            guard let first = token(from: at + 1) else { return cut() }
            at = first
            if window.bytes[at] == UInt8(ascii: "]") { return endArray(at) }
        } else {
            if window.bytes[at] == UInt8(ascii: "]") { return endArray(at) }
            guard window.bytes[at] == UInt8(ascii: ",") else {
                return broken("no comma after item \(count)", at)
            }
            guard let next = token(from: at + 1) else { return cut() }
            at = next
        }
        var scanner = ElementScanner(at: at)
        while true {
            if let end = scanner.end(in: window.bytes) {
                if end == at { return broken("no value", at) }
                count += 1
                return Element(range: at..<end, next: end, number: count)
            }
            if !goOn(from: at) { return cut() }
        }
    }

    private func token(from start: Int) -> Int? {
        var at = start
        while true {
            if let found = window.token(from: at) { return found }
            at = max(at, window.count)
            if !goOn(from: start) { return nil }
        }
    }

    /// The end of the array, behind which only white space may follow.
    private func endArray(_ at: Int) -> Element? {
        while true {
            if let more = window.token(from: at + 1) {
                return broken("something follows the array", more)
            }
            if !goOn(from: at) { return nil }
        }
    }

    private func cut() -> Element? {
        failure == nil ? broken("it ends within the array", window.count) : nil
    }

    private func broken(_ reason: String, _ at: Int) -> Element? {
        failure = (.data, "not JSON: \(reason) at byte \(window.offset + at)")
        return nil
    }

    /// Reads on, if what starts here may become larger.
    private func goOn(from start: Int) -> Bool {
        if window.count - start > limit {
            failure = (.limit, "\(layout.noun) \(count + 1) is above the limit of \(megabytes(limit)) MB")
            return false
        }
        return window.extend()
    }
}
