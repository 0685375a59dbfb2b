/// How inputs are read: by default, all that matters is recognised by content.
public struct InputOptions: Sendable {
    /// What a document holds.
    public enum Format: String, Sendable, CaseIterable {
        /// Recognised by its content.
        case auto
        /// One response of an API, as JSON.
        case response
        /// Responses, one a line or in one JSON array.
        case responses
        /// Items, one a line or in one JSON array.
        case items
        /// A table of the Stack Exchange data dump: XML.
        case rows
        /// RSS, Atom or JSON Feed.
        case syndication
    }

    /// How a file is packed.
    public enum Packing: String, Sendable, CaseIterable {
        /// Recognised by its content.
        case auto
        /// Not packed.
        case none
        /// One file, by gzip.
        case gzip
        /// One file, by Zstandard.
        case zstd
        /// One file, by bzip2.
        case bzip2
        /// One file, by xz.
        case xz
        /// An archive, itself packed or not.
        case tar
        /// An archive, by 7-Zip.
        case sevenZip = "7z"
    }

    /// How a response of the API is read.
    public var profile: Profile
    /// What a document holds.
    public var format = Format.auto
    /// How a file is packed.
    public var packing = Packing.auto
    /// Which files of an archive are read, as a pattern of the shell; nil means those that end as files in
    /// a folder must, and of the tables of Stack Exchange only the posts.
    public var entries: String?
    /// JSON Feed is recognised; otherwise the profile says what a JSON document is.
    public var recognisesJSONFeed = true
    /// The sort key of a post is its version too.
    public var keyIsVersion = false
    /// The most bytes that a response or an item may have.
    public var recordLimit = PageParser.defaultLimit
    /// How many bytes of items make a page.
    public var pageBytes = 1 << 20
    /// How many items make a page.
    public var pageItems = 1_000
    /// How many times its stored size a file may have when unpacked; the first 16 MiB are free.
    public var ratioLimit = 250

    /// All that matters is recognised by content; responses are read with this profile.
    public init(profile: Profile) { self.profile = profile }
}
