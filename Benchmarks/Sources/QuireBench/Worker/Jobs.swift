import Foundation

/// A thread that can be waited for.
final class RunningThread: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [done] in
            body()
            done.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    func wait() { done.wait() }
}

/// What a reading thread does. No other thread uses it.
final class ReaderJob: @unchecked Sendable {
    let reader: any Engine
    private let expected: [ReadTotal]
    private var random: SplitMix64
    private(set) var timings = Timings(expecting: 1 << 16)
    private(set) var failure: (any Error)?

    init(_ reader: any Engine, _ expected: [ReadTotal], seed: UInt64) {
        (self.reader, self.expected) = (reader, expected)
        random = SplitMix64(seed: seed)
    }

    func run(while goesOn: () -> Bool) {
        do {
            while goesOn() {
                let index = random.below(expected.count)
                let total = try timings.measure { try reader.readStaged(index) }
                guard total == expected[index] else {
                    throw EngineFailure("\(reader.name): a page changed beside a writer")
                }
            }
        } catch {
            failure = error
        }
    }
}

/// What a writing thread does. No other thread uses it.
final class WriterJob: @unchecked Sendable {
    private let writer: any Engine
    private let pages: [FeedPage]
    private(set) var timings: Timings
    private(set) var duplicates = 0
    private(set) var failure: (any Error)?

    init(_ writer: any Engine, _ pages: [FeedPage]) {
        (self.writer, self.pages) = (writer, pages)
        timings = Timings(expecting: pages.count)
    }

    func run() {
        do {
            for page in pages {
                try writer.stage([page])
                let found = try timings.measure { try writer.appendStaged() }
                guard found == page.duplicates else {
                    throw EngineFailure("\(writer.name): \(found) duplicates, not \(page.duplicates)")
                }
                duplicates += found
            }
        } catch {
            failure = error
        }
    }
}
