import CQuire
import Quire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Conversions between the engine's cases and the numbers of quire.h.

extension OrderClass {
    init(number: Int32) throws(Failure) {
        switch Int(number) {
        case QUIRE_ORDER_STABLE: self = .stable
        case QUIRE_ORDER_KEYLESS: self = .keyless
        case QUIRE_ORDER_BUMP: self = .bump
        case QUIRE_ORDER_APPEND_ONLY: self = .appendOnly
        case QUIRE_ORDER_RANKED: self = .ranked
        default: throw Arguments.bad("unknown order \(number)")
        }
    }

    package var number: Int32 {
        switch self {
        case .stable: Int32(QUIRE_ORDER_STABLE)
        case .keyless: Int32(QUIRE_ORDER_KEYLESS)
        case .bump: Int32(QUIRE_ORDER_BUMP)
        case .appendOnly: Int32(QUIRE_ORDER_APPEND_ONLY)
        case .ranked: Int32(QUIRE_ORDER_RANKED)
        }
    }
}

extension Paging {
    init(number: Int32) throws(Failure) {
        switch Int(number) {
        case QUIRE_PAGING_CURSOR: self = .cursor
        case QUIRE_PAGING_KEYSET: self = .keyset
        case QUIRE_PAGING_OFFSET: self = .offset
        case QUIRE_PAGING_PAGE: self = .page
        case QUIRE_PAGING_IDS: self = .ids
        case QUIRE_PAGING_PAGES: self = .pages
        default: throw Arguments.bad("unknown paging \(number)")
        }
    }

    package var number: Int32 {
        switch self {
        case .cursor: Int32(QUIRE_PAGING_CURSOR)
        case .keyset: Int32(QUIRE_PAGING_KEYSET)
        case .offset: Int32(QUIRE_PAGING_OFFSET)
        case .page: Int32(QUIRE_PAGING_PAGE)
        case .ids: Int32(QUIRE_PAGING_IDS)
        case .pages: Int32(QUIRE_PAGING_PAGES)
        }
    }
}

extension SizePolicy {
    init(number: Int32, rows: UInt32) throws(Failure) {
        switch Int(number) {
        case QUIRE_SIZES_FIXED where rows > 0 && rows <= QUIRE_COUNT_LIMIT: self = .fixed(Int(rows))
        case QUIRE_SIZES_UNKNOWN where rows == 0: self = .unknown
        case QUIRE_SIZES_FREE where rows == 0: self = .free
        default: throw Arguments.bad("the feed options: sizes \(number) with \(rows) rows_per_page")
        }
    }

    package var numbers: (kind: Int32, rows: UInt32) {
        switch self {
        case .unknown: (Int32(QUIRE_SIZES_UNKNOWN), 0)
        case .free: (Int32(QUIRE_SIZES_FREE), 0)
        case .fixed(let rows): (Int32(QUIRE_SIZES_FIXED), UInt32(clamping: rows))
        }
    }
}

extension Help {
    var number: Int32 {
        switch self {
        case .retry: Int32(QUIRE_HELP_RETRY)
        case .planAgain: Int32(QUIRE_HELP_PLAN_AGAIN)
        case .refresh: Int32(QUIRE_HELP_REFRESH)
        case .fillFirst: Int32(QUIRE_HELP_FILL_FIRST)
        case .reset: Int32(QUIRE_HELP_RESET)
        case .checkOptions: Int32(QUIRE_HELP_CHECK_OPTIONS)
        case .lookAgain: Int32(QUIRE_HELP_LOOK_AGAIN)
        }
    }
}

extension Doubt {
    var number: Int32 {
        switch self {
        case .unfetched: Int32(QUIRE_DOUBT_UNFETCHED)
        case .evicted: Int32(QUIRE_DOUBT_EVICTED)
        case .endInDoubt: Int32(QUIRE_DOUBT_END_IN_DOUBT)
        case .jump: Int32(QUIRE_DOUBT_JUMP)
        case .missingPage: Int32(QUIRE_DOUBT_MISSING_PAGE)
        case .contradiction: Int32(QUIRE_DOUBT_CONTRADICTION)
        case .drift: Int32(QUIRE_DOUBT_DRIFT)
        case .numbering: Int32(QUIRE_DOUBT_NUMBERING)
        case .disorder: Int32(QUIRE_DOUBT_DISORDER)
        case .unplaced: Int32(QUIRE_DOUBT_UNPLACED)
        case .missed: Int32(QUIRE_DOUBT_MISSED)
        case .damage: Int32(QUIRE_DOUBT_DAMAGE)
        }
    }
}

extension Refusal {
    var number: Int32 {
        switch self {
        case .empty: Int32(QUIRE_REFUSAL_EMPTY)
        case .end: Int32(QUIRE_REFUSAL_END)
        case .closed: Int32(QUIRE_REFUSAL_CLOSED)
        case .noLink: Int32(QUIRE_REFUSAL_NO_LINK)
        case .noSuchGap: Int32(QUIRE_REFUSAL_NO_SUCH_GAP)
        case .noSuchJoin: Int32(QUIRE_REFUSAL_NO_SUCH_JOIN)
        case .fillFirst: Int32(QUIRE_REFUSAL_FILL_FIRST)
        case .unsupported: Int32(QUIRE_REFUSAL_UNSUPPORTED)
        }
    }
}

extension Outcome.Verdict {
    var number: Int32 {
        switch self {
        case .ok: Int32(QUIRE_VERDICT_OK)
        case .joined: Int32(QUIRE_VERDICT_JOINED)
        case .gap: Int32(QUIRE_VERDICT_GAP)
        case .confirmEnd: Int32(QUIRE_VERDICT_CONFIRM_END)
        case .drift: Int32(QUIRE_VERDICT_DRIFT)
        case .replan: Int32(QUIRE_VERDICT_REPLAN)
        case .error: Int32(QUIRE_VERDICT_ERROR)
        case .stale: Int32(QUIRE_VERDICT_STALE)
        case .contradiction: Int32(QUIRE_VERDICT_CONTRADICTION)
        case .discontinuity: Int32(QUIRE_VERDICT_DISCONTINUITY)
        case .noProgress: Int32(QUIRE_VERDICT_NO_PROGRESS)
        case .empty: Int32(QUIRE_VERDICT_EMPTY)
        case .emptyConfirm: Int32(QUIRE_VERDICT_EMPTY_CONFIRM)
        case .island: Int32(QUIRE_VERDICT_ISLAND)
        }
    }
}

extension AliasResult {
    var number: Int32 {
        switch self {
        case .united: Int32(QUIRE_ALIAS_UNITED)
        case .noted: Int32(QUIRE_ALIAS_NOTED)
        case .same: Int32(QUIRE_ALIAS_SAME)
        case .missing: Int32(QUIRE_ALIAS_MISSING)
        }
    }
}

extension UpdateResult {
    var number: Int32 {
        switch self {
        case .changed: Int32(QUIRE_UPDATE_CHANGED)
        case .same: Int32(QUIRE_UPDATE_SAME)
        case .stale: Int32(QUIRE_UPDATE_STALE)
        case .missing: Int32(QUIRE_UPDATE_MISSING)
        }
    }
}

extension Finding.Code {
    var number: Int32 {
        switch self {
        case .checksum: Int32(QUIRE_FINDING_CHECKSUM)
        case .unreadable: Int32(QUIRE_FINDING_UNREADABLE)
        case .missing: Int32(QUIRE_FINDING_MISSING)
        case .orphan: Int32(QUIRE_FINDING_ORPHAN)
        case .count: Int32(QUIRE_FINDING_COUNT)
        case .index: Int32(QUIRE_FINDING_INDEX)
        case .gap: Int32(QUIRE_FINDING_GAP)
        case .order: Int32(QUIRE_FINDING_ORDER)
        case .body: Int32(QUIRE_FINDING_BODY)
        case .page: Int32(QUIRE_FINDING_PAGE)
        case .space: Int32(QUIRE_FINDING_SPACE)
        case .header: Int32(QUIRE_FINDING_HEADER)
        case .ahead: Int32(QUIRE_FINDING_AHEAD)
        }
    }
}

/// Texts for C by number, which are never freed.
struct Names: @unchecked Sendable {  // created once, never changed
    private let texts: [Int32: UnsafePointer<CChar>]
    private let unknown = UnsafePointer(strdup("unknown")!)

    init(_ texts: [(Int32, String)]) {
        self.texts = Dictionary(
            texts.map { ($0, UnsafePointer(strdup($1)!)) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(number: Int32) -> UnsafePointer<CChar> { texts[number] ?? unknown }

    static let verdicts = Names(Outcome.Verdict.allCases.map { ($0.number, $0.rawValue) })
    static let findings = Names(Finding.Code.allCases.map { ($0.number, $0.rawValue) })
    static let refusals = Names(
        [.empty, .end, .closed, .noLink, .noSuchGap, .noSuchJoin, .fillFirst, .unsupported]
            .map { (refusal: Refusal) in (refusal.number, refusal.rawValue) })
    static let helps = Names(Help.allCases.map { ($0.number, $0.rawValue) })
    static let doubts = Names(Doubt.allCases.map { ($0.number, $0.rawValue) })
    static let statuses = Names(
        [
            (QUIRE_OK, "ok"), (QUIRE_BAD_ARGUMENT, "bad-argument"),
            (QUIRE_BAD_HANDLE, "bad-handle"), (QUIRE_FORKED, "forked"),
            (QUIRE_NOT_FOUND, "not-found"), (QUIRE_OPTIONS_DIFFER, "options-differ"),
            (QUIRE_NOT_A_CACHE, "not-a-cache"), (QUIRE_NEWER_FORMAT, "newer-format"),
            (QUIRE_CORRUPT, "corrupt"), (QUIRE_DISK_FULL, "disk-full"),
            (QUIRE_NO_PERMISSION, "no-permission"), (QUIRE_IO, "io"),
            (QUIRE_WOULD_DEADLOCK, "would-deadlock"), (QUIRE_TIMEOUT, "timeout"),
            (QUIRE_RESYNC, "resync"), (QUIRE_AGAIN, "again"),
            (QUIRE_WRONG_THREAD, "wrong-thread"), (QUIRE_BUSY, "busy"),
            (QUIRE_SNAPSHOT_EXPIRED, "snapshot-expired"), (QUIRE_BAD_RESPONSE, "bad-response"),
            (QUIRE_UNCLEAN, "unclean"), (QUIRE_UNAVAILABLE, "unavailable"),
            (QUIRE_IN_DOUBT, "in-doubt"), (QUIRE_MISCONFIGURED, "misconfigured"),
            (QUIRE_SNAPSHOTS_OPEN, "snapshots-open"),
        ].map { (Int32($0), $1) })
    static let version = Names([(0, QUIRE_VERSION_STRING)])
}
