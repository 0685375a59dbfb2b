/// Runs work on a whole cache, draws its progress, and stops it after Ctrl-C.
final class LongWork {
    private let line: ProgressLine
    /// True once it was told to stop.
    private(set) var isStopped = false

    init(_ option: ProgressOption) {
        line = ProgressLine(option.mode)
        Interruption.watch()
    }

    /// Draws the completed part, from 0 to 1, if it is time. Returns false after Ctrl-C.
    func goesOn(_ part: Double) -> Bool {
        line.draw { seconds in
            ProgressLine.Text(part, "", secondsLeft: part > 0 ? seconds * (1 - part) / part : nil)
        }
        isStopped = Interruption.received != 0
        return !isStopped
    }

    func clear() { line.clear() }

    /// Runs work that changes nothing before its end, and stops it by an error.
    func run<R>(_ work: ((Double) throws -> Void) throws -> R) throws -> R {
        defer { clear() }
        return try work { part in
            if !goesOn(part) { throw Failure(.interrupted, "stopped; nothing was changed") }
        }
    }
}
