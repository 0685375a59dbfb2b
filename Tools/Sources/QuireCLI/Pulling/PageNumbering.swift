import Foundation
import Quire
import QuireDumps
import QuireHTTP
import QuirePaging

/// Whether a server counts its pages from 0 or from 1. The first page is asked for without a number, so a
/// wrong guess would pass over the second one.
struct PageNumbering {
    /// The number of the first page.
    let first: Int
    /// How it was found, for people.
    let reason: String

    /// - Parameters:
    ///   - first: The posts of the first page.
    ///   - numbered: The posts of page 1; nil if there is no such page.
    init(first: [PostID], numbered: [PostID]?) {
        guard let numbered, let top = first.first else {
            (self.first, reason) = (numbered == nil ? 0 : 1, "as there is no page 1")
            return
        }
        // New posts may have come meanwhile, and the first one may be gone.
        let shared = Set(first).intersection(numbered).count
        let isSame = numbered.contains(top) || 2 * shared > min(first.count, numbered.count)
        self.first = isSame ? 1 : 0
        reason = isSame ? "as page 1 shows the first posts" : "as page 1 shows other posts"
    }

    init(first: Int, reason: String) { (self.first, self.reason) = (first, reason) }

    /// Finds it from the first answer, or asks for page 1. Returns nil if the address of a page has no
    /// number.
    /// - Parameters:
    ///   - said: The number that the first answer gives itself.
    ///   - ask: Asks for an address.
    static func find(
        _ address: PullAddress, _ profile: Profile, first: RawResponse, said: Int?,
        ask: (String) async throws -> RawResponse
    ) async throws -> PageNumbering? {
        if let number = address.firstPage {
            return PageNumbering(first: number, reason: "as the address says")
        }
        if let said { return PageNumbering(first: said, reason: "as the first answer says") }
        let template = try address.plan(for: profile, profile.options).template
        guard let page = PullAddress.page(1, of: template) else { return nil }
        let parser = PageParser(profile: profile)
        func posts(_ response: RawResponse, of address: String) throws(DumpError) -> [PostID] {
            try parser.read(response.body, envelope: response.envelope(of: address), name: "page 1")
                .answer.posts.map(\.id)
        }
        let above = try posts(first, of: address.first)
        do {
            return PageNumbering(first: above, numbered: try posts(try await ask(page), of: page))
        } catch let failure as PageFailure where !failure.isTransient {
            return PageNumbering(first: above, numbered: nil)
        } catch is DumpError {
            return PageNumbering(first: above, numbered: nil)
        } catch is RequestLimit {
            throw Failure(
                .usage,
                "whether the pages are counted from 0 or from 1 takes a second request, which --pages does "
                    + "not permit: write {page:0} or {page:1} in the place of {page}")
        }
    }
}
