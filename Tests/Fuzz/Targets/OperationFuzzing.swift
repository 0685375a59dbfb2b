import Glibc

@_spi(Unstable) @testable import Quire

/// Operations of a log that is not trusted. Each has two bytes for its length before it, and comes without
/// the versions at its beginning and the checksum at its end, which are added. Those of one input are one
/// batch that is undone, or, if its first byte is 1 modulo 16, commits of their own in a fresh cache.
enum OperationFuzzing {
    private static let mostOperations = 16
    private static let versions = CacheOperation.feed(1, .reset).encoded.prefix(3)
    nonisolated(unsafe) private static var shared: Cache?

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        _ = try? CacheOperation(encoded: input)
        let operations = operations(input.dropFirst())
        if operations.isEmpty { return }
        if first % 16 == 1 { return commit(operations) }
        let cache = shared ?? open(Scratch.folder + "/operations.quire")
        shared = cache
        tolerate {
            try cache.dryRun { batch in
                for operation in operations { _ = try batch.apply(operation, issuer: UInt64(first) % 3) }
            }
        }
    }

    private static func operations(_ bytes: ArraySlice<UInt8>) -> [CacheOperation] {
        var (rest, operations) = (bytes, [CacheOperation]())
        while rest.count > 2 && operations.count < mostOperations {
            let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            var bytes = versions + rest.dropFirst(2).prefix(length) + [0, 0, 0, 0]
            rest = rest.dropFirst(2 + length)
            bytes.withUnsafeMutableBytes { Checksum.seal($0) }
            guard let operation = try? CacheOperation(encoded: Array(bytes)) else { continue }
            let once = operation.encoded
            guard let again = try? CacheOperation(encoded: once) else {
                preconditionFailure("an operation is not read as it was written")
            }
            precondition(again == operation && again.encoded == once, "another operation the second time")
            operations.append(operation)
        }
        return operations
    }

    private static func commit(_ operations: [CacheOperation]) {
        let path = Scratch.folder + "/operation.quire"
        do {
            let cache = open(path)
            for operation in operations {
                tolerate { _ = try cache.batch { try $0.apply(operation, issuer: 2) } }
            }
            precondition((try? cache.check()) == [], "check finds damage")
        }
        for end in ["", "-lock"] { unlink(path + end) }
    }

    /// Only errors that every cache would throw: what strangers wrote harms no replica alone.
    private static func tolerate(_ body: () throws -> Void) {
        do { try body() } catch {
            precondition((error as? QuireError)?.isDeterministic == true, "\(error)")
        }
    }

    /// Three feeds: of keys with a gap, of ids, and one that shares the posts of the first.
    private static func open(_ path: String) -> Cache {
        let cache = try! Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 22))
        try! cache.batch { batch in
            let feed = batch[try batch.feed(named: "a", options: FeedOptions(order: .stable))]
            let ids = batch[try batch.feed(named: "b", options: FeedOptions(paging: .ids))]
            let other = batch[try batch.feed(named: "c", options: FeedOptions(paging: .page))]
            for (feed, first) in [(feed, 20), (feed, 40), (ids, 30), (other, 40)] as [(Feed, UInt64)] {
                var answer = Answer(next: .token("n"), fetchedAt: 5)
                for id in (first - 3...first).reversed() {
                    answer.append(id: PostID(id), key: Int64(id), body: [UInt8(id)])
                }
                if let request = try feed.plan(.head).request {
                    _ = try feed.ingest(answer, for: request.ticket)
                }
            }
            _ = try feed.plan(.tail)
        }
        return cache
    }
}
