import Foundation
import Quire
import QuireHTTP

/// What a pull would ask, found without asking and without changing the cache.
struct PullPlan {
    private struct Line: Encodable {
        let address: String
        let place: String
        let type = "plan"
    }

    private struct Limits: Encodable {
        let headers: [String]
        let pages: Int
        let pauseMs: Int64
        let type = "limits"
    }

    private let lines: [Line]
    private let limits: Limits
    private let notes: [String]

    init(_ work: PullWork) throws {
        limits = Limits(
            headers: ["User-Agent: \(PullDiscretion.agent)"]
                + work.headers.map { "\($0.name): \($0.text.text)" },
            pages: work.limits.pages, pauseMs: work.limits.pause.milliseconds)
        let path = work.cache
        let destination =
            exists(path) ? try Destination(cache: path, feed: work.feed, work.options) : nil
        let memory = try destination?.feed.flatMap { try PullMemory(of: $0) }
        let address = try destination.map { try work.listAddress($0, memory) } ?? work.address
        guard let address else { throw Failure(.noInput, "\(path): no such cache; say an address") }
        _ = try Secrets(work.headers, address)  // a secret that is missing is said now
        guard let destination, let feed = destination.feed, let memory else {
            lines = [Line(address: address.printed(address.first), place: "head")]
            notes = ["the profile, the order and the size of a page are found from the first answer"]
            return
        }
        let plan = try address.plan(for: destination.profile, feed.options)
        let source = try HTTPSource(
            plan.template, profile: destination.profile,
            readsSyndication: destination.kind == .syndication)
        let size = plan.pageSize ?? memory.pageSize
        let places = try feed.cache.withSnapshot { snapshot in
            let gaps = try snapshot.gaps(of: feed).map { Place.gap($0.id) }
            let info = try snapshot.info(of: feed)
            return [.head] + gaps + (info.isHeadOpen ? [.openHead] : []) + (info.tail == .end ? [] : [.tail])
        }
        lines = try feed.cache.dryRun { batch in
            try places.compactMap { place in
                guard let request = try batch[feed].plan(place, limit: size).request else { return nil }
                let asked = try source.address(of: request, limit: size)
                return Line(address: address.printed(asked), place: place.words)
            }
        }
        let isPost = destination.profile.requestBody != nil
        notes =
            (lines.count > 1 ? ["each place leads on from there, as its answers say"] : [])
            + (isPost ? ["each request is a POST with the body that the profile says"] : [])
            + (address.bodies(of: destination.profile) == nil
                ? [] : ["then the bodies that are missing are asked for, one at a time"])
    }

    func print(asJSON: Bool, _ output: Output) throws {
        if asJSON {
            let json = JSONLines(output)
            for line in lines { try json.print(line) }
            return try json.print(limits)
        }
        var table = Table("PLACE", "ADDRESS")
        for line in lines { table.add(shown(line.place), shown(line.address)) }
        try table.print(to: output)
        for note in notes { try output.line(note) }
        let pause = Double(limits.pauseMs) / 1_000
        try output.line(
            "at most \(counted(limits.pages, "request")), one at a time, \(pause) s apart, with "
                + limits.headers.map { shown($0) }.joined(separator: ", "))
        try output.line("nothing was asked, and nothing was changed")
    }
}
