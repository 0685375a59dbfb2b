import Quire
import QuireDumps

/// Explains which profiles fit a response, and why.
struct FitExplanation {
    private let file: PageFile
    private let bytes: [UInt8]
    /// The profiles tried, best first.
    private let candidates: [ProfileFit]

    init(of path: String, profiles: [Profile]) throws {
        file = PageFile(path: path)
        bytes = try file.read()
        candidates = ProfileFit.of(profiles, to: bytes, envelope: try file.envelope())
    }

    /// True if any profile fits.
    var fits: Bool { candidates.first?.fits ?? false }

    // MARK: For people

    func print(to output: Output) throws {
        var table = Table("PROFILE", "FITS", " POSTS", "WHY")
        for fit in candidates {
            table.add(
                shown(fit.profile.name), fit.fits ? "yes" : "no", fit.fits ? grouped(fit.posts) : "",
                shown(reason(fit), limit: 120))
        }
        try table.print(to: output)
        try output.line("")
        if let best = candidates.first, let response = try? best.result.get() {
            try output.line("\(shown(file.path)) as \(shown(best.profile.name)) reads it:")
            for (field, text) in findings(response) {
                try output.line("  " + padded(field) + shown(text, limit: 200))
            }
        }
        if candidates.allSatisfy({ $0.posts == 0 }) { try printPlaces(to: output) }
    }

    private func reason(_ fit: ProfileFit) -> String {
        if case .failure(let error) = fit.result { return error.message }
        let found = fit.found.isEmpty ? "" : ", \(fit.found.joined(separator: ", "))"
        let missing = fit.missing.isEmpty ? "" : "; no \(fit.missing.joined(separator: ", "))"
        return fit.posts == 0 ? "a page without posts\(missing)" : "has items, id\(found)\(missing)"
    }

    private func findings(_ response: Response) -> [(field: String, text: String)] {
        let answer = response.answer
        var lines = [(field: "posts", text: grouped(answer.posts.count))]
        func add(_ field: String, _ text: String?) {
            if let text { lines.append((field, text)) }
        }
        if !answer.posts.isEmpty {
            let ids = answer.posts.prefix(3).map(\.id.description).joined(separator: ", ")
            add("ids", ids + (answer.posts.count > 3 ? ", …" : ""))
            add("keys", keys(answer))
            let versions = answer.posts.filter { $0.version != nil }.count
            add("versions", versions == 0 ? nil : "\(grouped(versions)) of \(grouped(answer.posts.count))")
        }
        add("other rows", answer.opaqueRows == 0 ? nil : grouped(answer.opaqueRows))
        add("next", inWords(answer.next))
        add("previous", answer.previous == .unknown ? nil : inWords(answer.previous))
        add("self", response.own?.description)
        add(
            "page",
            response.page.map { page in
                "\(page)" + (response.pages.map { " of \(grouped($0))" } ?? "")
            })
        add("total", response.total.map { grouped($0) })
        add("wait", response.backoff.map { "\($0) s" })
        return lines
    }

    /// Returns the first and last key, and whether the posts are ordered by them.
    private func keys(_ answer: Answer) -> String? {
        let keys = answer.posts.compactMap(\.key)
        guard let first = keys.first, let last = keys.last else { return nil }
        let breaks = zip(keys, keys.dropFirst()).count { $0 < $1 }
        return "\(first) to \(last), "
            + (breaks == 0 ? "descending" : "\(counted(breaks, "time")) ascending")
    }

    private func inWords(_ link: Link) -> String {
        switch link {
        case .unknown: "not told"
        case .end: "the end"
        case .more: "more"
        default: link.description
        }
    }

    private func printPlaces(to output: Output) throws {
        let places = ArrayPlace.list(in: bytes)
        guard !places.isEmpty else { return }
        try output.line("arrays in it, for --items:")
        for place in places.prefix(20) {
            try output.line("  \"\(shown(place.path, limit: 120))\" of \(grouped(place.count))")
        }
    }

    // MARK: For programs

    private struct Line: Encodable {
        let found: [String]
        let fits: Bool
        let missing: [String]
        @OrNull var next: String?
        let posts: Int
        let profile: String
        @OrNull var reason: String?
    }

    func printLines(to output: Output) throws {
        let lines = JSONLines(output)
        for fit in candidates {
            let response = try? fit.result.get()
            var problem: String?
            if case .failure(let error) = fit.result { problem = error.message }
            try lines.print(
                Line(
                    found: fit.found, fits: fit.fits, missing: fit.missing,
                    next: response?.answer.next.description, posts: fit.posts,
                    profile: fit.profile.name, reason: problem))
        }
    }
}
