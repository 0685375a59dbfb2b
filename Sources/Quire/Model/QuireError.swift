/// The one error type of Quire: what happened (`code`), and a sentence that names the place.
public struct QuireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for programs. The raw values are stable.
    public enum Code: String, Sendable, CaseIterable {
        /// An argument is outside its documented range.
        case badArgument = "bad-argument"
        /// The named feed, page or post does not exist.
        case notFound = "not-found"
        /// The feed was created with other options than the given ones.
        case optionsDiffer = "options-differ"
        /// The file is not a Quire cache.
        case notACache = "not-a-cache"
        /// A newer version of Quire wrote the cache. The file is unchanged.
        case newerFormat = "newer-format"
        /// The bytes of a record are not as they were written.
        case corrupt
        /// The machine stopped before the cache was closed, and its commits were not flushed
        /// (``CacheOptions/Durability-swift.enum/deferred``): remove the file, and build it anew.
        case unclean
        /// The disk, or the quota, is full.
        case diskFull = "disk-full"
        /// The process has no permission to read or write the file.
        case noPermission = "no-permission"
        /// The operating system reported an error.
        case io
        /// The call would wait for itself: it writes inside another write of the same thread.
        case wouldDeadlock = "would-deadlock"
        /// Another process, or another copy of this library, used the cache and did not release it in time.
        case busy
        /// The file became larger than this process has mapped it, or must be opened again after a failure.
        /// That waits for the snapshots of this process, and one stayed open for 5 seconds. Close them, and
        /// call again. A new snapshot can fail so, too.
        case snapshotsOpen = "snapshots-open"
        /// Too many commits were made since the snapshot began; see ``CacheOptions/maximumSnapshotAge``.
        case snapshotExpired = "snapshot-expired"
        /// The cache was closed, or it was opened before a `fork()` and this is the child.
        case closed
    }

    /// The kind of the error.
    public let code: Code
    /// A sentence for people that names the place.
    public let message: String
    /// The operating system's error number, or 0 if there is none.
    public let osError: Int32
    /// The number of the feed that does not exist, if that is the error. ``Feed/naming(_:)`` tells its name.
    private(set) var missingFeed: UInt32?

    /// Creates an error with this code and sentence.
    public init(_ code: Code, _ message: String, osError: Int32 = 0) {
        self.code = code
        self.message = message
        self.osError = osError
    }

    public var description: String { message }

    /// True if the error is of the call, not of this machine: caches that apply the same operations
    /// (``Batch/apply(_:issuer:)``) all throw it.
    public var isDeterministic: Bool {
        switch code {
        case .badArgument, .notFound, .optionsDiffer: true
        default: false
        }
    }

    /// The error that there is no feed of this number: it was dropped, and its name with it.
    static func noFeed(_ number: UInt32, in path: String) -> QuireError {
        var error = QuireError(.notFound, "\(path): there is no feed number \(number)")
        error.missingFeed = number
        return error
    }

    static func corrupt(_ what: String) -> QuireError {
        QuireError(.corrupt, "\(what) does not read back as it was written")
    }
}
