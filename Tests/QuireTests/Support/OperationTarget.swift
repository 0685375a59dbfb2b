import QuireSimulator

@_spi(Unstable) @testable import Quire

/// What operations are given to.
protocol OperationTarget: AnyObject {
    /// The rows as the operations so far have left them.
    func read<R>(_ body: (Transaction) throws -> R) throws -> R
    func apply(_ operation: CacheOperation, issuer: UInt64) throws -> CacheReply
}

/// The batch of a write session.
final class BatchTarget: OperationTarget {
    private let session: WriteSession
    private let cache: Cache

    init(_ session: WriteSession, _ cache: Cache) { (self.session, self.cache) = (session, cache) }

    func read<R>(_ body: (Transaction) throws -> R) throws -> R { try body(session.transaction) }

    func apply(_ operation: CacheOperation, issuer: UInt64) throws -> CacheReply {
        try Batch(session, cache).apply(operation, issuer: issuer)
    }
}

/// What a cache answered to an operation.
enum OperationResult: Hashable, CustomStringConvertible {
    case reply(CacheReply)
    case refused(QuireError.Code)

    /// The same in every process: a crawl is described by its checkpoint, which has an order.
    var description: String {
        switch self {
        case .reply(.crawled(let outcome, let crawl)): "\(outcome) \(crawl.checkpoint)"
        case .reply(let reply): "\(reply)"
        case .refused(let code): "refused: \(code)"
        }
    }
}

/// Operations in their order, encoded, and what a cache that is written by the API's own methods answers to
/// them.
final class OperationLog: OperationTarget {
    typealias LogEntry = (bytes: [UInt8], issuer: UInt64)

    private let writer: APIWriter
    private(set) var entries: [LogEntry] = []
    private(set) var results: [OperationResult] = []

    init(_ cache: Cache) throws { writer = try APIWriter(cache) }

    func read<R>(_ body: (Transaction) throws -> R) throws -> R { try writer.cache.environment.read(body) }

    func apply(_ operation: CacheOperation, issuer: UInt64) throws -> CacheReply {
        entries.append((operation.encoded, issuer))
        do {
            let reply = try writer.call(operation, issuer)
            results.append(.reply(reply))
            return reply
        } catch let error as QuireError where error.isDeterministic {
            results.append(.refused(error.code))
            throw error
        }
    }

    /// The operations that open the feeds which a cache has: what a log of it begins with elsewhere.
    static func openings(of cache: Cache) throws -> [LogEntry] {
        try cache.feeds().map { (CacheOperation.open(name: $0.name, options: $0.options).encoded, 0) }
    }

    /// Applies all to another cache, `most` or fewer in one commit, and returns what it answers. What is
    /// refused undoes its commit, which is made again without it.
    static func replay(
        _ entries: [LogEntry], into cache: Cache, most: Int, seed: UInt64
    ) throws -> [OperationResult] {
        var random = SplitMix64(seed: seed)
        var results: [OperationResult] = []
        while results.count < entries.count {
            let start = results.count
            let count = random.number(in: 1...min(most, entries.count - start))
            var refused: [Int: QuireError.Code] = [:]
            var done: [OperationResult]?
            while done == nil {
                var at = start
                do {
                    done = try cache.batch { batch in
                        var replies: [OperationResult] = []
                        for i in start..<start + count {
                            at = i
                            if let code = refused[i] {
                                replies.append(.refused(code))
                                continue
                            }
                            let (bytes, issuer) = entries[i]
                            replies.append(
                                .reply(try batch.apply(CacheOperation(encoded: bytes), issuer: issuer)))
                        }
                        return replies
                    }
                } catch let error as QuireError where error.isDeterministic {
                    refused[at] = error.code
                }
            }
            results += done!
        }
        return results
    }
}
