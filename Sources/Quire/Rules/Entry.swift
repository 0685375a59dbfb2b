/// Why an entry is not proven to follow the one above it, and the clock since when.
struct Claim: Hashable {
    var why = Doubt.numbering
    var since: UInt64 = 0
}

/// The location of a body's bytes. The rules do not interpret it.
struct BodyReference: Hashable {
    /// The number of the record with the bodies of one response; 0 if there is no body.
    var record: UInt64 = 0
    var offset: UInt32 = 0
    var length: UInt32 = 0
}

/// The state of a post in one feed, in 104 bytes. The post's id is stored beside it, so an entry contains no
/// references, and the entries of a state are copied by one `memcpy`.
struct Entry {
    // A value that is missing is 0, with its flag cleared.
    private var keyValue: Int64 = 0
    private var versionValue: Int64 = 0
    private var newestValue: Int64 = 0
    private var claimSince: UInt64 = 0
    /// The number of the page that last delivered it; 0 if none did.
    var page: UInt64 = 0
    /// The clock when an answer last wrote or confirmed it.
    var confirmed: UInt64 = 0
    /// The clock when that answer was requested.
    var asked: UInt64 = 0
    /// The clock when the server pushed it; 0 if it did not (R27).
    var pushed: UInt64 = 0
    /// The chunk from which this entry was read, for storage only; 0 if it is not stored yet.
    var chunk: UInt64 = 0
    var body = BodyReference()
    private var spotNumber: Int32 = 0
    private var spotRow: Int32 = 0
    private var flags: Flags = .cached
    /// How much of the post its body contains.
    var detail = Detail.full
    private var claimWhy = Doubt.numbering

    private struct Flags: OptionSet {
        let rawValue: UInt16
        static let detached = Flags(rawValue: 1)
        static let pinned = Flags(rawValue: 2)
        static let placeholder = Flags(rawValue: 4)
        static let cached = Flags(rawValue: 8)
        static let checked = Flags(rawValue: 16)
        static let key = Flags(rawValue: 32)
        static let version = Flags(rawValue: 64)
        static let newest = Flags(rawValue: 128)
        static let spot = Flags(rawValue: 256)
        static let lastSpot = Flags(rawValue: 512)
        static let claim = Flags(rawValue: 1024)

        subscript(flag: Flags) -> Bool {
            get { !isDisjoint(with: flag) }
            set { if newValue { formUnion(flag) } else { subtract(flag) } }
        }
    }

    init(
        key: Int64? = nil, isDetached: Bool = false, isCached: Bool = true, page: UInt64 = 0,
        confirmed: UInt64 = 0
    ) {
        (self.page, self.confirmed) = (page, confirmed)
        self.key = key
        self.isDetached = isDetached
        self.isCached = isCached
    }

    var key: Int64? {
        get { flags[.key] ? keyValue : nil }
        set { (keyValue, flags[.key]) = (newValue ?? 0, newValue != nil) }
    }

    /// The version of its body; nil if the server does not say.
    var version: Int64? {
        get { flags[.version] ? versionValue : nil }
        set { (versionValue, flags[.version]) = (newValue ?? 0, newValue != nil) }
    }

    /// A newer version that was seen only with less detail; if set, the body is outdated.
    var newest: Int64? {
        get { flags[.newest] ? newestValue : nil }
        set { (newestValue, flags[.newest]) = (newValue ?? 0, newValue != nil) }
    }

    /// Where the server last showed it, in feeds paged by position (R26.1).
    var spot: Spot? {
        get { flags[.spot] ? Spot(number: spotNumber, row: spotRow, isLast: flags[.lastSpot]) : nil }
        set {
            (spotNumber, spotRow) = (newValue?.number ?? 0, newValue?.row ?? 0)
            (flags[.spot], flags[.lastSpot]) = (newValue != nil, newValue?.isLast ?? false)
        }
    }

    /// Why it is joined to the entry above although no answer showed both; nil for a proven join (R25).
    var claim: Claim? {
        get { flags[.claim] ? Claim(why: claimWhy, since: claimSince) : nil }
        set {
            (claimWhy, claimSince) = (newValue?.why ?? .numbering, newValue?.since ?? 0)
            flags[.claim] = newValue != nil
        }
    }

    var isUnverified: Bool { flags[.claim] }

    /// True if it says something about positions in the server's list.
    var isPlaced: Bool { !flags.isDisjoint(with: [.spot, .checked]) }

    /// R26.1. True if its estimated position moves with the rows. That of a detached entry stays.
    var movesWithRows: Bool { flags[.spot] && !isDetached }

    /// True for an entry of the server's sequence with nothing else to it that the totals of a feed count.
    var isPlain: Bool { flags.isDisjoint(with: [.detached, .pinned, .placeholder, .claim]) }

    /// True if it is outside the server's sequence: a local, a sticky, or a pinned post that left (R13).
    var isDetached: Bool {
        get { flags[.detached] }
        set { flags[.detached] = newValue }
    }

    var isPinned: Bool {
        get { flags[.pinned] }
        set { flags[.pinned] = newValue }
    }

    /// True if the place is known, but the body is missing.
    var isPlaceholder: Bool {
        get { flags[.placeholder] }
        set { flags[.placeholder] = newValue }
    }

    /// False for a post of an answer that the feed does not hold, or does not hold any more.
    var isCached: Bool {
        get { flags[.cached] }
        set { flags[.cached] = newValue }
    }

    /// True if the page above its unproven join was requested again and ended there as before (R26.8).
    var isChecked: Bool {
        get { flags[.checked] }
        set { flags[.checked] = newValue }
    }

    /// Puts it into the server's sequence.
    mutating func place(at clock: UInt64, isPlaceholder: Bool) {
        if !isCached { (isCached, self.isPlaceholder, confirmed) = (true, isPlaceholder, clock) }
        isDetached = false
    }

    /// Notes that an answer that was requested then showed it, with this key.
    mutating func confirm(at clock: UInt64, asked: UInt64, key: Int64? = nil) {
        (confirmed, self.asked) = (clock, asked)
        if let key { self.key = key }
    }

    /// Returns true if the entry is the same in two states, in every field.
    func isSame(as other: Entry) -> Bool {
        flags == other.flags && confirmed == other.confirmed && page == other.page && asked == other.asked
            && keyValue == other.keyValue && pushed == other.pushed && spotNumber == other.spotNumber
            && spotRow == other.spotRow && claimSince == other.claimSince && claimWhy == other.claimWhy
            && chunk == other.chunk && hasSameBody(as: other)
    }
}

extension Entry {
    /// Returns true if both have the same body, version and detail.
    func hasSameBody(as other: Entry) -> Bool {
        body == other.body && version == other.version && detail == other.detail && newest == other.newest
    }

    /// Returns true if a reader would see another body, or that the body has become outdated.
    func showsOther(than other: Entry) -> Bool {
        body != other.body || (newest == nil) != (other.newest == nil)
    }

    /// Takes the body that another entry of the post shows.
    mutating func takeBody(of other: Entry) {
        (body, version, detail, newest) = (other.body, other.version, other.detail, other.newest)
    }

    /// True if a request for bodies is useful: the body is missing, incomplete or outdated.
    var wantsBody: Bool { isPlaceholder || detail < .full || newest != nil }
}
