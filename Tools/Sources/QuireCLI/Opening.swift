import ArgumentParser
import Foundation
import Quire

/// The argument of commands for a whole cache.
struct CacheArgument: ParsableArguments {
    @Argument(help: "The file of the cache.", completion: .file())
    var cache: String

    /// Opens the cache, which must exist.
    func open() throws -> Cache { try openCache(cache) }

    /// Opens the cache for a command that only reads: it needs no right to write.
    func openToRead() throws -> Cache { try openCache(cache, isReadOnly: true) }
}

/// The arguments of commands for one feed.
struct FeedArguments: ParsableArguments {
    @Argument(help: "The file of the cache.", completion: .file())
    var cache: String

    @Argument(help: "The name of the feed.", completion: .feeds)
    var feed: String

    /// Opens the feed, which must exist.
    func open(budget: CacheBudget? = nil) throws -> Feed {
        try openFeed(feed, in: openCache(cache, budget: budget))
    }

    /// Opens the feed for a command that only reads: it needs no right to write.
    func openToRead() throws -> Feed { try openFeed(feed, in: openCache(cache, isReadOnly: true)) }
}

extension CompletionKind {
    /// The feeds of the cache that stands on the command line.
    static let feeds = CompletionKind.custom { words, _, _ in
        let path = words.dropFirst(2).first { !$0.hasPrefix("-") && exists($0) }
        guard let path, let cache = try? openCache(path, isReadOnly: true) else { return [] }
        // A shell would carry out what a name contains. The cache may be a stranger's.
        let harmless = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:=")
        return ((try? cache.feeds()) ?? []).map(\.name).filter { $0.allSatisfy(harmless.contains) }
    }
}

struct JSONOption: ParsableArguments {
    @Flag(name: .customLong("json"), help: "One JSON object per line.")
    var isOn = false
}

/// Opens a cache that must exist. Without this check, opening would create it.
func openCache(_ path: String, isReadOnly: Bool = false, budget: CacheBudget? = nil) throws -> Cache {
    guard FileManager.default.fileExists(atPath: path) else {
        throw Failure(.noInput, "\(path): no such cache")
    }
    return try Cache(at: path, options: CacheOptions(isReadOnly: isReadOnly, budget: budget))
}

func openFeed(_ name: String, in cache: Cache) throws -> Feed {
    if let feed = try cache.existingFeed(named: name) { return feed }
    let hint = Suggestion.words(for: name, in: try cache.feeds().map(\.name))
    throw Failure(.data, "\(cache.path): no feed \(name)\(hint)")
}

/// Creates a cache at a path where there is none.
func createCache(_ path: String, budget: CacheBudget? = nil) throws -> Cache {
    do throws(QuireError) {
        return try Cache(at: path, options: CacheOptions(budget: budget))
    } catch {
        guard error.code == .noPermission || error.code == .io else { throw error }
        // The engine's message names the temporary file, which would confuse the user.
        let reason = error.osError == 0 ? error.message : String(cString: strerror(error.osError))
        throw Failure(.cannotCreate, "\(path): the cache cannot be created: \(reason)")
    }
}

/// Returns true if there is anything at the path, even a dangling link.
func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
}
