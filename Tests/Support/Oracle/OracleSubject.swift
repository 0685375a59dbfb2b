import Foundation
@_spi(Unstable) import Quire

/// One row read back from the engine.
enum OracleRow: Equatable {
    /// `isUnverified`: only the server's numbering joins the post to the row above (R25).
    case post(
        PostID, isDetached: Bool, isPinned: Bool, isPlaceholder: Bool, page: UInt64?,
        isUnverified: Bool = false)
    case gap(GapID)
}

/// The engine under test: a cache in a directory of its own with one feed. Everything the oracle does to
/// the engine goes through here; what it reads goes through OracleSubject+Connection.swift.
final class OracleSubject {
    /// A feed keeps its cache open, so there is one reference and no other.
    private var opened: Feed?
    private let folder: String
    private let options: FeedOptions
    private let tuning: Tuning

    var feed: Feed {
        guard let opened else { preconditionFailure("the cache is closed") }
        return opened
    }

    init(options: FeedOptions, tuning: Tuning = Tuning()) throws {
        folder = try TestFolder.make()
        self.options = options
        self.tuning = tuning
        try reopen()
    }

    deinit {
        opened = nil
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Closes the cache, if it is open, and opens it again: nothing but the file is left of it.
    func reopen() throws {
        opened = nil
        var options = CacheOptions(durability: .relaxed, mapSize: 64 << 20)
        options.tuning = tuning
        let cache = try Cache(at: folder + "/cache.quire", options: options)
        opened = try cache.feed(named: "main", options: self.options)
    }
}
