import Foundation

@_spi(Unstable) @testable import Quire
@testable import TestSupport

/// A cache in a folder of its own, removed with the object.
final class TemporaryCache {
    let folder: String
    let options: CacheOptions
    private(set) var cache: Cache

    var path: String { folder + "/test.quire" }

    init(_ tuning: Tuning = Tuning()) throws {
        folder = try TestFolder.make()
        var options = CacheOptions(durability: .relaxed, mapSize: 1 << 28)
        options.tuning = tuning
        self.options = options
        cache = try Cache(at: folder + "/test.quire", options: options)
    }

    /// Closes the file and opens it again.
    func reopen() throws { try reopen(with: options) }

    /// The same with other options. No other variable may hold the cache or a feed of it.
    func reopen(with options: CacheOptions) throws {
        // the old environment goes with its last reference, before the new one is opened
        cache = try placeholder()
        cache = try Cache(at: path, options: options)
    }

    /// Another cache, to be held in place of one that is to close.
    func placeholder() throws -> Cache { try Cache(at: folder + "/other.quire", options: options) }

    /// Takes a record away from a copy that has nothing but copies of what is in others: a repair builds all
    /// anew.
    func damage(_ path: String) throws {
        try Cache(at: path).environment.write { try $0.delete(.counters, NoKey()) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}

extension Transaction {
    /// Number of records of a table.
    func count(_ table: Table) throws -> Int {
        try withCursor(table) { cursor in
            var count = 0
            var found = try cursor.first()
            while found != nil {
                count += 1
                found = try cursor.next()
            }
            return count
        }
    }
}
