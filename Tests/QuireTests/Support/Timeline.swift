import Foundation
import Synchronization
import Testing

@testable import Quire

/// Writers on several threads, drawn as columns; time runs down.
///
///     A      | B    | C
///     begin  |      |            A opens a batch, which leads the commit
///     +9     |      |            A inserts post 9 in it
///            | +1 … |            B writes, and waits for A
///            |      | +2 stop …  C inserts, then throws; it waits as well
///     commit | yes  | stop       how each ended
///
/// What a writer does: `+7` inserts a local post into feed f, `g+7` ingests one into feed g, `stop` throws,
/// `missing` throws `.notFound`, `outside` writes without the batch that is open; any other word is one of
/// `actions`. How it ended: `yes` or `no`, as the last insertion returned, or the error; `x2` if it ran
/// twice.
struct Timeline {
    let cache: Cache
    let f: Feed
    let g: Feed
    /// Words of the test.
    var actions: [String: @Sendable () -> Void] = [:]

    private struct Stop: Error {}

    init(_ cache: Cache) throws {
        self.cache = cache
        f = try cache.feed(named: "f")
        g = try cache.feed(named: "g")
    }

    /// How one writer fares.
    private final class Writer: Sendable {
        private let state = Mutex((runs: 0, result: "", outside: String?.none))
        let done = DispatchGroup()

        func begin() { state.withLock { $0.runs += 1 } }
        func refused(_ code: QuireError.Code) { state.withLock { $0.outside = code.rawValue } }
        var runs: Int { state.withLock { $0.runs } }

        func end(_ result: Result<Bool, any Error>) {
            state.withLock {
                $0.result =
                    switch result {
                    case .success(let isNew): $0.outside ?? (isNew ? "yes" : "no")
                    case .failure(let error as QuireError): error.code.rawValue
                    case .failure: "stop"
                    }
                if $0.runs > 1 { $0.result += " x\($0.runs)" }
            }
        }

        var result: String { state.withLock { $0.result } }
    }

    /// Plays the rows and compares the last one with how the writers ended.
    func play(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let rows = text.split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        let (steps, expected) = (rows.dropFirst(2).dropLast(), rows.last!)
        let writers = expected.map { _ in Writer() }
        let leader = writers[0]
        let end = expected[0].split(separator: " ").map(String.init)
        leader.end(
            Result {
                try cache.batch { batch in
                    leader.begin()
                    var isNew = false
                    for row in steps {
                        isNew = try perform(row[0], in: batch, leader) ?? isNew
                        if leader.runs == 1 { start(row, writers) }
                    }
                    if end[0] == "stop" { throw Stop() }
                    return isNew
                }
            })
        for writer in writers { writer.done.wait() }
        var actual = writers.map(\.result)
        actual[0] =
            end[0]
            + (actual[0].hasPrefix("yes") ? actual[0].dropFirst(3) : end[0] == "stop" ? "" : " " + actual[0])
        #expect(actual == expected, sourceLocation: sourceLocation)
    }

    /// The writers that begin in this row; returns when all of them wait.
    private func start(_ row: [String], _ writers: [Writer]) {
        for (cell, writer) in zip(row, writers).dropFirst() where cell.hasSuffix("…") {
            let (words, count) = (String(cell.dropLast()), cache.environment.queue.waitingCount)
            writer.done.enter()
            Thread.detachNewThread {
                writer.end(
                    Result {
                        try cache.batch { batch in
                            writer.begin()
                            return try perform(words, in: batch, writer) ?? true
                        }
                    })
                if writer.result.hasPrefix("yes") { requireCommitted(words) }
                writer.done.leave()
            }
            while cache.environment.queue.waitingCount == count { sched_yield() }
        }
    }

    /// A write that has returned is seen by all.
    private func requireCommitted(_ words: String) {
        let ids = words.split(separator: " ").compactMap { $0.hasPrefix("+") ? UInt64($0.dropFirst()) : nil }
        let isThere = try? cache.withSnapshot { try $0.contains(ids.map { PostID($0) }, in: f) }
        #expect(isThere?.allSatisfy(\.self) == true)
    }

    /// What the words say; returns what the last insertion did.
    private func perform(_ words: String, in batch: borrowing Batch, _ writer: Writer) throws -> Bool? {
        var isNew: Bool?
        for word in words.split(separator: " ") {
            switch word {
            case "stop": throw Stop()
            case "missing": throw QuireError(.notFound, "missing")
            case "outside":
                do {
                    try f.insertLocal(1, body: [])
                } catch let error as QuireError {
                    writer.refused(error.code)
                }
            case _ where word.hasPrefix("g+"):
                var answer = Answer(next: .end)
                answer.append(id: PostID(UInt64(word.dropFirst(2))!), body: [7])
                isNew = try !batch[g].ingest(answer, for: batch[g].plan(.head).request!.ticket).new.isEmpty
            case _ where word.hasPrefix("+"):
                isNew = try batch[f].insertLocal(PostID(UInt64(word.dropFirst())!), body: [])
            default: actions[String(word)]!()
            }
        }
        return isNew
    }
}
