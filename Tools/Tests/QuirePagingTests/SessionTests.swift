import Foundation
import Testing

@testable import TestSupport

/// Random sessions of a reader, a pager and a simulated server behind a network that loses, delays,
/// reorders and throttles, with cancelled calls, restarts and a clock that is set back. The oracle judges
/// every answer the pager takes in: no silent hole, no duplicate, nothing removed without evidence. Every
/// request must have been called for, every call must end, and a quiet network heals everything.
@Suite(.timeLimit(.minutes(60))) struct SessionTests {
    /// QUIRE_SESSIONS: how many sessions of all modes together; QUIRE_FIRST_SEED, QUIRE_MODE as usual.
    private static let sessions =
        ProcessInfo.processInfo.environment["QUIRE_SESSIONS"].flatMap { Int($0) } ?? 180
    /// QUIRE_HTTP_SESSIONS: the same for those over HTTP.
    private static let carriedSessions =
        ProcessInfo.processInfo.environment["QUIRE_HTTP_SESSIONS"].flatMap { Int($0) } ?? 45

    @Test(arguments: OracleSettings.modes)
    func randomSessions(mode: OracleMode) async {
        await run(mode, sessions: Self.sessions, isCarried: false)
    }

    /// The same over real HTTP on loopback: every request and every answer pass a socket. One after the
    /// other, because a session that waits for a socket does so busily.
    @Test(.serialized, arguments: OracleSettings.modes)
    func randomSessionsOverHTTP(mode: OracleMode) async {
        await run(mode, sessions: Self.carriedSessions, isCarried: true)
    }

    private func run(_ mode: OracleMode, sessions: Int, isCarried: Bool) async {
        let count = UInt64(max(1, sessions / OracleMode.allCases.count))
        for seed in OracleSettings.first..<OracleSettings.first + count {
            var session: PagerSession?
            do {
                let started = try PagerSession(mode: mode, seed: seed, isCarried: isCarried)
                session = started
                if isCarried { try await started.carry { try await CarriedNetwork($0, $1) } }
                try await started.run(steps: 60)
            } catch {
                let log = session?.log.suffix(60).joined(separator: "\n") ?? ""
                Issue.record("\(mode.rawValue), seed \(seed): \(error)\n\(log)")
                return
            }
        }
    }
}
