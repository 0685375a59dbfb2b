import Quire
import QuireDumps

/// Explains which profiles fit a response, and why.
struct FitExplanation {
    private let document: FirstDocument
    private let bytes: [UInt8]
    /// The profiles tried, best first; none for XML, which says itself what it is.
    private let candidates: [ProfileFit]
    /// What `ingest` would make of it, or why nothing.
    private let recognition: Result<Recognition?, DumpError>

    /// Reads what `ingest` would read first.
    init(of path: String, profiles: [Profile]) throws {
        guard let input = Input.list([path]).first else {
            throw Failure(.noInput, "\(path): nothing to read")
        }
        document = try FirstDocument(of: input, InputOptions(profile: profiles[0]))
        recognition = Result { [document] () throws(DumpError) in try document.recognition() }
        switch document.form {
        case .xml: (bytes, candidates) = ([], [])
        case .response(let bytes, let envelope):
            self.bytes = bytes
            candidates = ProfileFit.of(profiles, to: bytes, envelope: envelope)
        case .list(let documents):
            // The first sound one stands for all; messages of a relay are read line by line.
            let sound =
                documents.first { !ArrayPlace.list(in: $0).isEmpty }
                ?? documents.first { $0.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{") }
                ?? documents.first ?? []
            bytes = sound
            candidates = ProfileFit.of(profiles, to: sound, envelope: nil)
        }
    }

    /// True if any profile fits, or none is needed.
    var fits: Bool {
        if case .xml = document.form { return true }
        return candidates.first?.fits ?? false || (try? recognition.get()) != nil && candidates.count > 1
    }

    // MARK: For people

    func print(to output: Output) throws {
        if case .xml = document.form {
            return try output.line(
                "\(shown(document.place)) is XML, which says itself what it is: no profile is needed")
        }
        if case .list(let documents) = document.form {
            try output.line(
                "\(shown(document.place)) is a list; of its elements, \(documents.count) were looked at")
        }
        var table = Table("PROFILE", "FITS", " POSTS", "WHY")
        for fit in candidates {
            table.add(
                shown(fit.profile.name), fit.fits ? "yes" : "no", fit.fits ? grouped(fit.posts) : "",
                shown(reason(fit), limit: 120))
        }
        try table.print(to: output)
        try output.line("")
        if let best = candidates.first, let response = try? best.result.get() {
            try output.line("\(shown(document.place)) as \(shown(best.profile.name)) reads it:")
            for (field, text) in findings(response) {
                try output.line("  " + padded(field) + shown(text, limit: 200))
            }
        }
        if candidates.allSatisfy({ $0.posts == 0 }) { try printPlaces(to: output) }
        switch recognition {
        case .success(let found):
            if let found { try output.line("quire ingest without --profile: \(shown(found.sentence))") }
        case .failure(let error): try output.line("quire ingest without --profile: \(shown(error.message))")
        }
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
