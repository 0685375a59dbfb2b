/// Everything that can go wrong, as one type: what happened (`code`) and a sentence that names the place.
public struct QuireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for programs; its raw value is stable.
    public enum Code: String, Sendable, CaseIterable {
        /// An argument is outside its documented range.
        case badArgument = "bad-argument"
        /// The named feed, page or post does not exist.
        case notFound = "not-found"
        /// The feed exists with other options than those asked for.
        case optionsDiffer = "options-differ"
        /// The file is not a Quire cache.
        case notACache = "not-a-cache"
        /// The cache was written by a newer version of Quire; it was left untouched.
        case newerFormat = "newer-format"
        /// A record does not read back as it was written.
        case corrupt
        /// The disk, or the quota, is full.
        case diskFull = "disk-full"
        /// Permission to read or write the file is missing.
        case noPermission = "no-permission"
        /// The operating system refused.
        case io
        /// The call would wait for itself: a write inside a write of the same thread.
        case wouldDeadlock = "would-deadlock"
        /// Another process, or another copy of this library, has the cache and did not let go of it in time.
        case busy
        /// Too many commits were made since the snapshot began; see ``CacheOptions/maximumSnapshotAge``.
        case snapshotExpired = "snapshot-expired"
        /// The cache has been closed, or belongs to the process that forked this one.
        case closed
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for people that names the place.
    public let message: String
    /// The operating system's error number, 0 if it had none.
    public let osError: Int32

    /// An error with this code and sentence.
    public init(_ code: Code, _ message: String, osError: Int32 = 0) {
        self.code = code
        self.message = message
        self.osError = osError
    }

    public var description: String { message }

    static func corrupt(_ what: String) -> QuireError {
        QuireError(.corrupt, "\(what) does not read back as it was written")
    }
}
