/// How inputs are read. By default their formats are recognised by content.
public struct InputOptions: Sendable {
    /// The format of a document.
    public enum Format: String, Sendable, CaseIterable {
        /// Recognised by its content.
        case auto
        /// One response of an API, as JSON.
        case response
        /// Responses, one on each line or in one JSON array.
        case responses
        /// Items, one on each line or in one JSON array.
        case items
        /// A table of the Stack Exchange data dump, in XML.
        case rows
        /// RSS, Atom or JSON Feed.
        case syndication
    }

    /// The compression or archive format of a file.
    public enum Packing: String, Sendable, CaseIterable {
        /// Recognised by its content.
        case auto
        /// Not compressed.
        case none
        /// One file, compressed by gzip.
        case gzip
        /// One file, compressed by Zstandard.
        case zstd
        /// One file, compressed by bzip2.
        case bzip2
        /// One file, compressed by xz.
        case xz
        /// A tar archive, compressed or not.
        case tar
        /// A 7-Zip archive.
        case sevenZip = "7z"
    }

    /// The profile for reading responses.
    public var profile: Profile
    /// What is known before the profile is found from the first response. Nil if ``profile`` is used as it
    /// is.
    public var wishes: Recognition.Wishes?
    /// The format of a document.
    public var format = Format.auto
    /// The compression or archive format of a file.
    public var packing = Packing.auto
    /// A shell pattern for the files of an archive to read. Nil means those with a suffix that is also read
    /// in a folder and, of the Stack Exchange tables, only the posts.
    public var entries: String?
    /// True to recognise JSON Feed. Otherwise the profile decides how to read a JSON document.
    public var recognisesJSONFeed = true
    /// True if the sort key of a post is also its version.
    public var keyIsVersion = false
    /// The maximum size of a response or an item in bytes.
    public var recordLimit = PageParser.defaultLimit
    /// The number of bytes of items that make a page.
    public var pageBytes = 1 << 20
    /// The number of items that make a page.
    public var pageItems = 1_000
    /// The maximum ratio of a file's unpacked size to its stored size. It does not apply to the first 16 MiB.
    public var ratioLimit = 250

    /// Creates options that recognise formats by content and read responses with this profile.
    public init(profile: Profile) { self.profile = profile }
}
