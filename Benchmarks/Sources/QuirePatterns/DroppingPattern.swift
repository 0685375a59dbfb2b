import Foundation
import Quire

/// Quire's rows without every tenth post: what the judge must notice.
struct DroppingPattern: Pattern {
    static let title = "every tenth post dropped"
    private let pattern: QuirePattern
    var meter: Meter { pattern.meter }

    init(folder: URL) throws { pattern = try QuirePattern(folder: folder) }

    func refresh(_ server: Server) throws { try pattern.refresh(server) }
    func loadMore(_ server: Server) throws -> Bool { try pattern.loadMore(server) }
    func fill(_ gap: GapID, _ server: Server) throws { try pattern.fill(gap, server) }
    func size() throws -> Int { try pattern.size() }

    func rows() throws -> [ShownRow] {
        try pattern.rows().enumerated().filter { $0.offset % 10 != 9 }.map(\.element)
    }
}
