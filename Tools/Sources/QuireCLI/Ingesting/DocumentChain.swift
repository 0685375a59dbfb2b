import Quire
import QuireDumps

/// The documents of RSS, Atom and JSON Feed that a run has read. Each is the top of its list as of then,
/// unless it is the page that follows the one before.
struct DocumentChain: Codable {
    /// The first post of the last document, and the address at which that goes on.
    private var first: String?
    private var next: String?

    /// Returns the response of a document, with what it was asked for; without that where the numbers in the
    /// names of the files say it.
    mutating func placed(_ response: Response, isNumbered: Bool) -> Response {
        var response = response
        if response.asked != nil {
            if isNumbered {
                response.asked = nil
            } else if follows(response) {
                response.asked = .below
            }
            (first, next) = (response.answer.posts.first?.id.description, nil)
        }
        if case .token(let address) = response.answer.next { next = address }
        return response
    }

    /// A page says its own address, or at least leads further than the one before and shows nothing of its
    /// top.
    private func follows(_ response: Response) -> Bool {
        guard response.asked == .head, let next else { return response.asked == .below }
        if let own = response.own { return own == .token(next) }
        return response.answer.next != .token(next)
            && !response.answer.posts.contains { $0.id.description == first }
    }
}
