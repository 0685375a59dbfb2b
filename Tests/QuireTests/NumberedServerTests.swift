import Foundation
import Testing

@testable import TestSupport

/// R26 before the servers that people have.
@Suite("Servers that page by position", .disabled("waits for R26"))
struct NumberedServerTests {
    private static let limits = [20, 30, 100]

    /// A list of 300 posts that nobody changes, read to its end.
    private static func scroll(_ setting: NumberedServer, _ limit: Int) throws -> NumberedHistory.Figures {
        let history = try NumberedHistory(setting, seed: 2, posts: 300, limit: limit)
        do {
            try history.settle()
        } catch {
            Issue.record("\(setting), limit \(limit): \(error)\n\(history.log.joined(separator: "\n"))")
        }
        return history.figures
    }

    @Test("what a quiet list of 300 posts costs")
    func table() throws {
        var lines = [
            "| server | asked by | the feed says | " + Self.limits.map { "limit \($0)" }.joined(separator: " | ") + " |",
            "|---|---|---|" + String(repeating: "---|", count: Self.limits.count),
        ]
        for setting in NumberedServer.all(size: 30, most: 100) {
            var cells: [String] = []
            for limit in Self.limits {
                let figures = try Self.scroll(setting, limit)
                #expect(figures.largest <= limit, "\(setting)")
                #expect(figures.hidden == 0, "\(setting), limit \(limit)")
                Self.expectFewRequests(figures.requests, setting, limit)
                cells.append("\(figures.requests), \(figures.new) new, \(figures.unverified) unverified")
            }
            lines.append(
                "| \(setting.name) | \(setting.asking.rawValue) | \(setting.policy.word) | "
                    + cells.joined(separator: " | ") + " |")
        }
        let document = try String(contentsOfFile: Compiler.package + "/Docs/paging.md", encoding: .utf8)
        let table = lines.joined(separator: "\n")
        #expect(document.contains(table), "Docs/paging.md must hold this table:\n\(table)")
    }

    /// Servers that say where they end, and show every row.
    private static func expectFewRequests(_ requests: Int, _ setting: NumberedServer, _ limit: Int) {
        guard setting.kind.filter == .nothing, setting.kind.end == .said else { return }
        switch setting.kind.size {
        case .fixed: #expect(requests <= (setting.asking == .offset ? 11 : 10), "\(setting), limit \(limit)")
        case .free, .capped, .refusedAbove:
            if limit == 100 { #expect(requests <= 4, "\(setting)") }
        }
    }

    @Test("random histories", arguments: NumberedServer.all(size: 4, most: 8))
    func randomHistories(setting: NumberedServer) {
        let found = NumberedRun.firstFailure(before: setting, seeds: OracleSettings.range)
        if let failure = found.failure { Issue.record("\(failure)") }
    }
}

extension NumberedServer.Policy {
    fileprivate var word: String {
        switch self {
        case .free: "free"
        case .fixed(let size): "fixed, \(size)"
        case .unknown: "unknown"
        }
    }
}
