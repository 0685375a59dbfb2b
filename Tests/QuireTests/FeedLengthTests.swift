import Testing

@_spi(Unstable) @testable import Quire
@_spi(Unstable) @testable import TestSupport

/// In feeds of all kinds, a write loads no more of a long feed than of a short one. Counted in chunks and
/// gaps that it loads; what it reads in place is not among them.
@Suite struct FeedLengthTests {
    private static let kinds = OrderClass.allCases.flatMap { order in
        Paging.allCases.map { FeedOptions(order: order, paging: $0) }
    }

    @Test(arguments: kinds) func aWriteLoadsLittleOfALongFeed(_ options: FeedOptions) throws {
        let (short, long) = (try mean(of: options, pages: 30), try mean(of: options, pages: 300))
        #expect(long < 12 && long < short + 5, "\(short) and \(long)")
    }

    /// The mean number of chunks and gaps that are loaded after a write, except where the answer is a list of
    /// the whole feed.
    private func mean(of options: FeedOptions, pages: Int) throws -> Double {
        let storage = try TemporaryCache()
        var writes = try AppWrites(in: storage.cache, options, pages: pages, seed: 5)
        var (sum, count) = (0, 0)
        for _ in 0..<200 {
            let (kind, write) = try writes.next()
            try storage.cache.batch { batch in
                try write(batch[writes.feed])
                if options.paging == .ids && kind.isRefresh { return }
                guard let loaded = batch.session.loaded.recent else { return }
                sum += loaded.chunks.all.count + loaded.gaps.all.count
                count += 1
            }
        }
        #expect(try storage.cache.check().isEmpty)
        return Double(sum) / Double(count)
    }
}
