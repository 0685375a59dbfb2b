import Quire
import QuireDumps

/// Notices files that show what another one shows, although their names say that they are other pages.
struct PageCopies {
    private struct Shown: Hashable {
        let ids: [PostID]
        let next: Link
    }

    /// By a hash of 64 bits, because the ids of all pages need too much memory. Two of 100,000 different
    /// pages share one in one of three billion runs.
    private var seen: [Int: (place: String, number: Int)] = [:]

    /// How many pages are remembered before it starts again.
    private static let limit = 100_000

    /// Returns the place of the page that showed the same posts and link under another number; nil if there
    /// is none.
    ///
    /// A page whose request was recorded, or that says which page it is, says itself where it belongs. A
    /// single post may have moved on to the next page.
    mutating func original(of page: InputPage, number: Int?) -> String? {
        guard let number, page.kind == .response, let response = page.response, response.asked == nil,
            response.answer.posts.count > 1
        else { return nil }
        let shown = Shown(ids: response.answer.posts.map(\.id), next: response.answer.next).hashValue
        if let original = seen[shown], original.number != number { return original.place }
        if seen.count == Self.limit { seen = [:] }
        seen[shown] = (page.place, number)
        return nil
    }
}
