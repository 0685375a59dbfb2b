import Foundation
import Quire

/// What a pull remembers with the feed: whose list it is. Secrets are in it by the names of their places
/// only.
struct PullMemory: Codable, Equatable {
    /// The address as it was given.
    let address: String
    /// The number of posts that a request asks for.
    let pageSize: Int
    /// The number of the first page, if it was found out and not only assumed.
    var firstPage: Int?
    /// True if an answer after the first one said how the list goes on.
    var isLinkedLater: Bool?

    private static let attribute = "quire.pull"

    init(address: String, pageSize: Int, firstPage: Int?) {
        (self.address, self.pageSize, self.firstPage) = (address, pageSize, firstPage)
    }

    init?(of feed: Feed) throws {
        guard let stored = try feed.attribute(Self.attribute),
            let memory = try? JSONDecoder().decode(PullMemory.self, from: Data(stored))
        else { return nil }
        self = memory
    }

    /// Returns true if the feed was pulled.
    static func isKept(of feed: Feed, _ snapshot: borrowing Snapshot) throws -> Bool {
        try snapshot.attribute(attribute, of: feed) != nil
    }

    /// Remembers it with a feed of a batch.
    func remember(with feed: Feed) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(self))
        if try feed.attribute(Self.attribute) != bytes { try feed.setAttribute(Self.attribute, to: bytes) }
    }
}
