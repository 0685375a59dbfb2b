import Foundation
import QuireDumps

/// Passes pages from the parsing thread to the committing one. The faster thread waits: the queue never holds
/// more than its limit, or one page.
final class PageQueue: @unchecked Sendable {
    // Everything below is accessed only while the condition is locked.
    private let condition = NSCondition()
    /// What was pushed since the last one of `next` was taken, and what is taken next, backwards.
    private var pushed: [InputPage] = []
    private var next: [InputPage] = []
    private var isEmpty: Bool { pushed.isEmpty && next.isEmpty }
    private var bytes = 0
    private var found: Recognition?
    private var hasEnded = false
    private var isCancelled = false
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    enum Arrival {
        case page(InputPage)
        case nothingYet
        case end
    }

    /// Reads all pages of these inputs on a thread of its own.
    static func reading(
        _ inputs: [Input], _ options: InputOptions, from start: InputPage.Position, limit: Int
    ) -> PageQueue {
        let queue = PageQueue(limit: limit)
        let thread = Thread {
            let reader = PageReader(inputs, options, from: start)
            while let page = reader.next(), queue.push(page, reader.recognition) {}
            queue.end()
        }
        thread.name = "parsing"
        thread.start()
        return queue
    }

    /// What the first response was found to be, once it has been read.
    var recognition: Recognition? { condition.withLock { found } }

    /// Adds a page. Returns false if no more pages are wanted.
    private func push(_ page: InputPage, _ recognition: Recognition?) -> Bool {
        condition.withLock {
            found = recognition
            while !isCancelled && !isEmpty && bytes + page.size > limit { condition.wait() }
            if isCancelled { return false }
            pushed.append(page)
            bytes += page.size
            condition.signal()
            return true
        }
    }

    private func end() {
        condition.withLock {
            hasEnded = true
            condition.signal()
        }
    }

    /// Returns the next page, waiting up to `patience` for it.
    func pop(patience: TimeInterval) -> Arrival {
        condition.withLock {
            let deadline = Date(timeIntervalSinceNow: patience)
            while isEmpty && !hasEnded {
                if !condition.wait(until: deadline) { return .nothingYet }
            }
            if next.isEmpty { (next, pushed) = (pushed.reversed(), []) }
            guard let page = next.popLast() else { return .end }
            bytes -= page.size
            condition.signal()
            return .page(page)
        }
    }

    /// Stops the parsing thread after its current page.
    func cancel() {
        condition.withLock {
            isCancelled = true
            (pushed, next, bytes) = ([], [], 0)
            condition.signal()
        }
    }
}
