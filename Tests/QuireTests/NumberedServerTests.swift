import Foundation
import Quire
import Testing

@testable import TestSupport

/// R26 before the servers that people have.
@Suite("Servers that page by position")
struct NumberedServerTests {
    private static let limits = [20, 30, 100]

    /// The cost of reading a list of 300 posts, which does not change, to its end.
    private static func cell(_ setting: NumberedServer, _ limit: Int) throws -> String {
        let history = try NumberedHistory(setting, seed: 2, posts: 300, limit: limit)
        do {
            try history.settle()
        } catch {
            Issue.record("\(setting), limit \(limit): \(error)\n\(history.log.joined(separator: "\n"))")
        }
        let figures = history.figures
        #expect(figures.largest <= limit, "\(setting)")
        #expect(
            figures.new == history.server.ids.count(where: history.server.shows), "\(setting), limit \(limit)"
        )
        #expect(figures.hidden == 0, "\(setting), limit \(limit)")
        expectFewRequests(figures.requests, setting, limit)
        return "\(figures.requests), \(figures.new), \(figures.unverified)"
    }

    /// Servers that say where they end, and show every row.
    private static func expectFewRequests(_ requests: Int, _ setting: NumberedServer, _ limit: Int) {
        guard setting.kind.filter == .nothing, setting.kind.end == .said else { return }
        switch setting.kind.size {
        case .fixed:
            // a lie is noticed
            let most = (setting.asking == .offset ? 11 : 10) + (setting.policy == .free ? 2 : 0)
            #expect(requests <= most, "\(setting), limit \(limit)")
        case .free, .capped, .refusedAbove:
            if limit == 100 { #expect(requests <= 4, "\(setting)") }
        }
    }

    /// Settings that cost the same share a line.
    @Test("what a quiet list of 300 posts costs: the table of Docs/paging.md")
    func table() throws {
        struct Line: Hashable {
            let asking: NumberedServer.Asking
            let cells: [String]
        }
        var order: [Line] = []
        var servers: [Line: [(name: String, policies: [String])]] = [:]
        for setting in NumberedServer.all(size: 30, most: 100) {
            let line = Line(asking: setting.asking, cells: try Self.limits.map { try Self.cell(setting, $0) })
            if servers[line] == nil { order.append(line) }
            if servers[line]?.last?.name != setting.name {
                servers[line, default: []].append((setting.name, []))
            }
            servers[line]![servers[line]!.count - 1].policies.append(setting.policy.word)
        }
        let head = ["server (what the feed says)", "asked by"] + Self.limits.map { "limit \($0)" }
        let lines = order.map { line in
            let names = servers[line]!.map { "\($0.name) (\($0.policies.joined(separator: ", ")))" }
            return [names.joined(separator: "; "), line.asking.rawValue] + line.cells
        }
        let table = ([head, head.map { _ in "---" }] + lines).map { "| \($0.joined(separator: " | ")) |" }
        let document = try String(contentsOfFile: Compiler.package + "/Docs/paging.md", encoding: .utf8)
        let isThere = document.contains(table.joined(separator: "\n"))
        #expect(isThere, "Docs/paging.md must hold this table:\n\(table.joined(separator: "\n"))")
    }

    @Test("random histories", arguments: NumberedServer.all(size: 4, most: 8))
    func randomHistories(setting: NumberedServer) {
        let seeds = OracleSettings.range.prefix(max(1, OracleSettings.range.count / 4))
        let found = NumberedRun.firstFailure(before: setting, seeds: seeds.startIndex..<seeds.endIndex)
        if let failure = found.failure { Issue.record("\(failure)") }
    }
}

extension SizePolicy {
    fileprivate var word: String {
        switch self {
        case .free: "free"
        case .fixed(let size): "fixed \(size)"
        case .unknown: "unknown"
        }
    }
}
