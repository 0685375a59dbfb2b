import Foundation
import Quire

/// How well a profile fits a response, and why.
public struct ProfileFit: Sendable {
    /// The profile that was tried.
    public let profile: Profile
    /// The parsed response, or why the profile does not fit.
    public let result: Result<Response, DumpError>
    /// The fields of the profile that the response has.
    public let found: [String]
    /// The fields of the profile that the response could have, but lacks.
    public let missing: [String]

    /// True if the response is a page of this API, with or without posts.
    public var fits: Bool { (try? result.get()) != nil }

    /// The number of posts that the profile finds.
    public var posts: Int { (try? result.get().answer.posts.count) ?? 0 }

    /// Tries a profile on a response. `envelope` was recorded with it; nil if nothing was.
    public init(_ profile: Profile, to bytes: [UInt8], envelope: Envelope?) {
        self.init(PageParser(profile: profile), to: bytes, envelope: envelope)
    }

    init(_ parser: PageParser, to bytes: [UInt8], envelope: Envelope?) {
        let profile = parser.profile
        let result = Result { () throws(DumpError) in try parser.read(bytes, envelope: envelope, name: "") }
            .mapError { DumpError($0.kind, String($0.message.dropFirst(2))) }
        (self.profile, self.result) = (profile, result)
        let hasEnvelope = envelope != nil || Envelope.leads(bytes[...])
        let evidence = (try? result.get()).map { profile.evidence(in: $0, hasEnvelope) } ?? []
        found = evidence.filter(\.isThere).map(\.field)
        missing = evidence.filter { !$0.isThere }.map(\.field)
    }

    /// Tries all these profiles, and returns the best first.
    public static func of(_ profiles: [Profile], to bytes: [UInt8], envelope: Envelope?) -> [ProfileFit] {
        ranked(profiles.map { ProfileFit($0, to: bytes, envelope: envelope) })
    }

    /// Returns these, the best first.
    static func ranked(_ fits: [ProfileFit]) -> [ProfileFit] {
        fits.sorted { ($0.rank, $1.profile.name) > ($1.rank, $0.profile.name) }
    }

    /// Higher for evidence that is less likely by chance. A page without posts proves little.
    private var rank: Int {
        guard fits else { return Int.min }
        let path = profile.items.keys.count + profile.post.keys.count + profile.id.path.keys.count
        let hasOwnID = ["id", nil].contains(profile.id.path.keys.last) ? 0 : 1
        let score = path + hasOwnID + 2 * found.count - missing.count
        return posts > 0 ? score : score - 1_000
    }
}

extension Profile {
    /// Returns where the page number is. A request without one proves nothing, since most APIs have none.
    private func pageEvidence(_ response: Response) -> Source? {
        if case .query? = page.first, response.page == firstPage { return nil }
        return page.first
    }

    /// Returns which optional fields the response has. A computed link, or an end that only a missing token
    /// implies, says nothing about the API.
    fileprivate func evidence(
        in response: Response, _ hasEnvelope: Bool
    ) -> [(field: String, isThere: Bool)] {
        let answer = response.answer
        var evidence: [(field: String, isThere: Bool)] = []
        func add(_ field: String, _ isExpected: Bool, _ isThere: Bool) {
            if isExpected { evidence.append((field, isThere)) }
        }
        func isReadable(_ source: Source?) -> Bool {
            source.map { $0.path != nil || hasEnvelope } ?? false
        }
        add("mark", mark != nil, true)
        add("key", key != nil && !answer.posts.isEmpty, true)
        add("version", version != nil && !answer.posts.isEmpty, answer.posts.contains { $0.version != nil })
        for (field, link, value) in [
            ("next", next, answer.next), ("previous", previous, answer.previous),
        ] {
            guard let link, !link.isTemplate, link.isInBody || hasEnvelope else { continue }
            let isDoubted = field == "next" && response.isEndDoubtful
            let isSilent = (value == .end || isDoubted) && link.more == nil && link.way != .counted
            add(field, !isSilent, value != .unknown)
        }
        for (field, source, isThere) in [
            ("self", own, response.own != nil), ("page", pageEvidence(response), response.page != nil),
            ("pages", pages, response.pages != nil), ("total", total, response.total != nil),
        ] {
            add(field, isReadable(source), isThere)
        }
        return evidence
    }
}

/// An array of a JSON document that may contain posts: `data.children`, 100 items.
public struct ArrayPlace: Sendable, Hashable {
    /// The path, as in a profile.
    public let path: String
    /// The number of items in the array.
    public let count: Int

    /// Returns the arrays with paths of up to `depth` keys, ordered by path; none if the bytes are not JSON.
    public static func list(in bytes: [UInt8], depth: Int = 5) -> [ArrayPlace] {
        var document = bytes[...]
        if Envelope.leads(document), let (_, body) = try? Envelope.split(document) { document = body }
        guard let root = try? JSONSerialization.jsonObject(with: Data(document)) else { return [] }
        var places: [ArrayPlace] = []
        func visit(_ value: Any, _ keys: [String]) {
            if let array = value as? [Any] {
                places.append(ArrayPlace(path: keys.joined(separator: "."), count: array.count))
            } else if let object = value as? [String: Any], keys.count < depth {
                for (key, value) in object where !key.isEmpty {
                    let escaped = key.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
                    visit(value, keys + [escaped])
                }
            }
        }
        visit(root, [])
        return places.sorted { $0.path < $1.path }
    }
}
