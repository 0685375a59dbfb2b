import Foundation
import Quire

/// A row of a screen.
enum ShownRow {
    case post(PostID)
    /// The screen says that posts may be missing here.
    case gap(GapID)
}

/// A way to keep a list that comes page by page, as its users write it.
protocol Pattern {
    static var title: String { get }
    init(folder: URL) throws

    /// The screen is opened: asks for the first page.
    mutating func refresh(_ server: Server) throws
    /// The reader is at the end of what is cached. False if there is nothing more to ask for.
    mutating func loadMore(_ server: Server) throws -> Bool
    /// The reader sees a gap. Only a pattern that shows gaps needs it.
    mutating func fill(_ gap: GapID, _ server: Server) throws
    /// What the screen shows, top first.
    func rows() throws -> [ShownRow]
    /// Bytes on disk.
    func size() throws -> Int

    var meter: Meter { get }
}

extension Pattern {
    mutating func fill(_ gap: GapID, _ server: Server) throws {}
}

/// How long commits of a page took, and what a refresh threw away.
final class Meter {
    private(set) var nanoseconds: [UInt64] = []
    /// Posts that left the cache although the server still shows them.
    var thrownAway = 0
    /// Ids that have been downloaded before.
    private var seen: Set<PostID> = []
    private(set) var again = 0

    func commit<R>(_ answer: Answer, _ write: () throws -> R) rethrows -> R {
        for post in answer.posts where !seen.insert(post.id).inserted { again += 1 }
        let began = DispatchTime.now().uptimeNanoseconds
        defer { nanoseconds.append(DispatchTime.now().uptimeNanoseconds - began) }
        return try write()
    }

    /// In microseconds.
    func percentile(_ share: Double) -> Double {
        let sorted = nanoseconds.sorted()
        return sorted.isEmpty ? 0 : Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1_000
    }
}
