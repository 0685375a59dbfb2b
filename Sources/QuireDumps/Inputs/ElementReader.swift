/// Finds the elements of a list of JSON values, one after the other.
final class ElementReader {
    enum Layout {
        /// One value on each line.
        case lines
        /// The values of one array.
        case array
        /// One value after the other, with or without white space between them.
        case values

        var noun: String {
            switch self {
            case .lines: "line"
            case .array: "item"
            case .values: "value"
            }
        }
    }

    struct Element {
        /// The range of the element in the window.
        let range: Range<Int>
        /// Where to look for the next one.
        let next: Int
        /// The number of its line, or of the element, from 1.
        let number: Int
    }

    let layout: Layout
    /// False to read only what has arrived already.
    var waits = true
    /// Why the list ended too early, or the next line cannot be read.
    private(set) var failure: (kind: DumpError.Kind, message: String)?
    /// Where a line in the document begins that is above the limit. ``skipLine()`` goes on after it.
    private var longLine: Int?
    private let window: ByteWindow
    private let limit: Int
    private var count = 0
    private var isInArray = false

    init(_ window: ByteWindow, _ layout: Layout, limit: Int) {
        (self.window, self.layout, self.limit) = (window, layout, limit)
    }

    /// Returns the next element, from this place in the window on. Returns nil at the end; ``failure`` tells
    /// if it came too early.
    func next(from start: Int) -> Element? {
        switch layout {
        case .lines: line(from: start)
        case .array: element(from: start)
        case .values: value(from: start)
        }
    }

    /// True if the next line is above the limit.
    var isAtLongLine: Bool { longLine != nil }

    /// Removes the line that is above the limit, and what is before it, from the window.
    func skipLine() {
        guard let start = longLine else { return }
        window.drop(start - window.offset)
        var end = window.index(of: UInt8(ascii: "\n"), from: 0)
        while end == nil {
            window.drop(window.count)
            if !window.extend() { break }
            end = window.index(of: UInt8(ascii: "\n"), from: 0)
        }
        if let end { window.drop(end + 1) }
        count += 1
        (failure, longLine) = (nil, nil)
    }

    /// Starts again at the first element, if nothing has been dropped since.
    func rewind() { (count, isInArray, failure, longLine) = (0, false, nil, nil) }

    private func line(from start: Int) -> Element? {
        var (start, at) = (start, start)
        while true {
            let newline = window.index(of: UInt8(ascii: "\n"), from: at)
            guard let end = newline ?? (window.isAtEnd ? window.count : nil) else {
                at = window.count
                if !goOn(from: start) && !window.isAtEnd {
                    if failure != nil { longLine = window.offset + start }
                    return nil
                }
                continue
            }
            if newline == nil && window.failure != nil { return nil }  // the line may be incomplete
            count += 1
            if let token = window.token(from: start), token < end {
                return Element(range: start..<end, next: min(end + 1, window.count), number: count)
            }
            if newline == nil { return nil }
            (start, at) = (end + 1, end + 1)
        }
    }

    private func value(from start: Int) -> Element? {
        guard let at = token(from: start) else { return nil }
        return scanned(from: at)
    }

    private func element(from start: Int) -> Element? {
        guard var at = token(from: start) else { return cut() }
        if !isInArray {
            isInArray = true  // this is the opening bracket
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
        return scanned(from: at)
    }

    private func scanned(from at: Int) -> Element? {
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

    /// Ends the array, which only white space may follow.
    private func endArray(_ at: Int) -> Element? {
        while true {
            if let more = window.token(from: at + 1) {
                return broken("something follows the array", more)
            }
            if !goOn(from: at) { return nil }
        }
    }

    private func cut() -> Element? {
        failure == nil
            ? broken("it ends within the \(layout == .array ? "array" : "value")", window.count) : nil
    }

    private func broken(_ reason: String, _ at: Int) -> Element? {
        failure = (.data, "not JSON: \(reason) at byte \(window.offset + at)")
        return nil
    }

    /// Reads more if the element that starts here is not above the limit yet.
    private func goOn(from start: Int) -> Bool {
        if !waits { return false }
        if window.count - start > limit {
            let rest = layout == .lines ? "" : ", so the rest was not read"
            let name = "\(layout.noun) \(count + 1)"
            failure = (.limit, "\(name) is above the limit of \(megabytes(limit)) MB\(rest)")
            return false
        }
        return window.extend()
    }
}
