import CQuire
import Quire

// Operations on a cache that no process has open.

@_cdecl("quire_verify") @implementation
public func quire_verify(
    _ path: UnsafePointer<CChar>?, _ limit: Int, _ found: quire_finding_callback?,
    _ progress: quire_progress_callback?, _ context: UnsafeMutableRawPointer?,
    _ out: UnsafeMutablePointer<Int>?
) -> quire_status {
    attempt(clear(out)) {
        let path = try Arguments.path(path)
        let limit = try Arguments.findingLimit(limit)
        let listener = Listener(found: found, progress: progress, context: context)
        out!.pointee = try listener.search { try Cache.verify(at: path, limit: limit, progress: $0) }
    }
}

/// The progress callback from C.
struct Listener {
    var found: quire_finding_callback?
    let progress: quire_progress_callback?
    let context: UnsafeMutableRawPointer?

    /// Reports progress. Throws if the callback returns anything but QUIRE_OK.
    func tell(_ done: Double) throws {
        guard let status = progress?(context, done), status != QUIRE_OK else { return }
        throw Abandoned(status: status)
    }

    /// Passes each finding of a check to C, even if C stopped the check. Returns their number.
    func search(_ search: ((CheckProgress) -> Bool) throws -> CheckReport) throws -> Int {
        var reason: (any Error)?
        let report = try search {
            do { try tell($0.fraction) } catch { reason = error }
            return reason == nil
        }
        for finding in report.findings {
            let arena = Arena()
            var lent = quire_finding(
                code: finding.code.number, reserved: 0, location: arena.text(finding.location),
                message: arena.text(finding.message))
            found?(context, &lent)
            withExtendedLifetime(arena) {}
        }
        if let reason { throw reason }
        return report.findings.count
    }
}

extension Arguments {
    static func findingLimit(_ limit: Int) throws(Failure) -> Int {
        if limit < 0 { throw bad("a limit of \(UInt(bitPattern: limit)) findings") }
        return limit == 0 ? 100 : limit
    }
}

@_cdecl("quire_repair") @implementation
public func quire_repair(
    _ path: UnsafePointer<CChar>?, _ flags: UInt32, _ progress: quire_progress_callback?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<quire_repair_report>?
) -> quire_status {
    attempt(filling: out) { out in
        let path = try Arguments.path(path)
        let flags = try Arguments.flags(flags, QUIRE_REPAIR_DRY_RUN, "quire_repair")
        let listener = Listener(progress: progress, context: context)
        let report = try Cache.repair(at: path, dryRun: flags & UInt32(QUIRE_REPAIR_DRY_RUN) != 0) {
            try listener.tell($0)
        }
        let arena = Arena()
        let feeds = arena.array(report.feeds.count, of: quire_repaired_feed.self)
        for (at, feed) in report.feeds.enumerated() {
            (feeds + at).initialize(
                to: quire_repaired_feed(
                    name: arena.text(feed.name), posts: count(feed.posts), lost_posts: count(feed.lostPosts),
                    lost_bodies: count(feed.lostBodies), gaps: count(feed.gaps),
                    new_gaps: count(feed.newGaps),
                    is_lost: feed.isLost ? 1 : 0, reserved: 0))
        }
        out.is_sound = report.isSound ? 1 : 0
        out.damaged_records = count(report.damagedRecords)
        out.kept_file = arena.text(report.keptFile ?? "")
        (out.feeds, out.count) = (UnsafePointer(feeds), report.feeds.count)
        out.owner = try arena.owner()
    }
}

@_cdecl("quire_repair_report_free") @implementation
public func quire_repair_report_free(_ report: UnsafeMutablePointer<quire_repair_report>?) {
    if let report = take(report) { Arena.free(report.owner) }
}

@_cdecl("quire_compact") @implementation
public func quire_compact(
    _ path: UnsafePointer<CChar>?, _ progress: quire_progress_callback?,
    _ context: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<UInt64>?
) -> quire_status {
    attempt(clear(out)) {
        let listener = Listener(progress: progress, context: context)
        let freed = try Cache.compact(at: try Arguments.path(path)) { try listener.tell($0) }
        out!.pointee = UInt64(max(0, freed))
    }
}
