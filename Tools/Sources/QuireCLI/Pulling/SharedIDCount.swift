import Foundation
import Quire
import QuireDumps
import QuirePaging
import Synchronization

/// Counts the posts of answers that share the id of another one of their page, of which a feed keeps one. It
/// is remembered with the feed, since later calls do not ask for these pages again.
final class SharedIDCount: Sendable {
    /// What was lost.
    struct Loss: Codable, Equatable {
        var posts = 0
        /// A field that tells such posts apart.
        var field: String?
    }

    private static let attribute = "quire.pull.shared"
    /// The posts that this round has lost, and the field.
    private let found = Mutex<(posts: Set<Int>, field: String?)>(([], nil))
    private let profile: Profile

    init(_ profile: Profile) { self.profile = profile }

    var interceptor: Interceptor {
        Interceptor { [profile, self] request, next in
            let response = try await next(request)
            if case .page(let answer) = response.content {
                let shared = SharedIDs(in: answer, of: profile)
                found.withLock {
                    $0.posts.formUnion(shared.lost)
                    $0.field = $0.field ?? shared.field
                }
            }
            return response
        }
    }

    /// Forgets what was counted, as the same pages are asked for again.
    func beginRound() { found.withLock { $0 = ([], nil) } }

    /// Returns what this or an earlier call has lost; nil if that is nothing.
    func known(of feed: Feed) throws -> Loss? {
        let stored = try feed.attribute(Self.attribute)
        let before = stored.flatMap { try? JSONDecoder().decode(Loss.self, from: Data($0)) } ?? Loss()
        let now = found.withLock { Loss(posts: $0.posts.count, field: $0.field) }
        let most = now.posts > before.posts ? now : before
        if most != before {
            let bytes = try Array(JSONEncoder().encode(most))
            try feed.cache.batch { [bytes] in try $0[feed].setAttribute(Self.attribute, to: bytes) }
        }
        return most.posts == 0 ? nil : most
    }
}
