import CQuire
import Quire

// What quire.h does with a cache that nobody has open.

@_cdecl("quire_verify") @implementation
public func quire_verify(
    _ path: UnsafePointer<CChar>?, _ limit: Int, _ callback: quire_check_callback?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let findings = try Cache.verify(
            at: try Arguments.path(path), limit: try Arguments.findingLimit(limit))
        report(findings, to: callback, context)
        out!.pointee = findings.count
    }
}

/// Lends each finding to the callback.
func report(
    _ findings: [Finding], to callback: quire_check_callback?, _ context: UnsafeMutableRawPointer?
) {
    for finding in findings {
        let arena = Arena()
        var reported = quire_finding(
            code: finding.code.number, reserved: 0, place: arena.text(finding.place),
            message: arena.text(finding.message))
        callback?(context, &reported)
        withExtendedLifetime(arena) {}
    }
}

extension Arguments {
    static func findingLimit(_ limit: Int) throws(Failure) -> Int {
        if limit < 0 { throw bad("a limit of \(UInt(bitPattern: limit)) findings") }
        return limit == 0 ? 100 : limit
    }
}

/// Calls what C gave; anything but QUIRE_OK ends the operation.
private func tell(
    _ progress: quire_progress_callback?, _ context: UnsafeMutableRawPointer?, _ done: Double
) throws {
    guard let status = progress?(context, done), status != QUIRE_OK else { return }
    throw Abandoned(status: status)
}

@_cdecl("quire_repair") @implementation
public func quire_repair(
    _ path: UnsafePointer<CChar>?, _ flags: UInt32, _ progress: quire_progress_callback?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<quire_repair_report>?
) -> quire_status {
    attempt(clearStructure(out)) {
        let path = try Arguments.path(path)
        let flags = try Arguments.flags(flags, QUIRE_REPAIR_DRY_RUN, "quire_repair")
        let report = try Cache.repair(at: path, dryRun: flags & UInt32(QUIRE_REPAIR_DRY_RUN) != 0) {
            try tell(progress, context, $0)
        }
        let arena = Arena()
        let feeds = arena.array(report.feeds.count, of: quire_repaired_feed.self)
        for (at, feed) in report.feeds.enumerated() {
            (feeds + at).initialize(
                to: quire_repaired_feed(
                    name: arena.text(feed.name), posts: count(feed.posts), lost_posts: count(feed.lostPosts),
                    lost_bodies: count(feed.lostBodies), gaps: count(feed.gaps), new_gaps: count(feed.newGaps),
                    is_lost: feed.isLost ? 1 : 0, reserved: 0))
        }
        out!.pointee.is_sound = report.isSound ? 1 : 0
        out!.pointee.damaged_records = count(report.damagedRecords)
        out!.pointee.kept_file = arena.text(report.keptFile ?? "")
        (out!.pointee.feeds, out!.pointee.count) = (UnsafePointer(feeds), report.feeds.count)
        out!.pointee.owner = try arena.owner()
    }
}

@_cdecl("quire_repair_report_free") @implementation
public func quire_repair_report_free(_ report: UnsafeMutablePointer<quire_repair_report>?) {
    let owner = report?.pointee.owner
    if clearStructure(report) { Arena.free(owner) }
}

@_cdecl("quire_compact") @implementation
public func quire_compact(
    _ path: UnsafePointer<CChar>?, _ progress: quire_progress_callback?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let freed = try Cache.compact(at: try Arguments.path(path)) { try tell(progress, context, $0) }
        out!.pointee = UInt64(max(0, freed))
    }
}
