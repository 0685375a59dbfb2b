import Quire
import QuireSimulator
import Testing

@testable import TestSupport

/// Random histories of the engine, judged by what the server's list and the answers alone imply. The
/// oracle knows none of the rules R1 to R25.
@Suite("Oracle")
struct OracleTests {
    @Test("random histories", arguments: OracleSettings.modes)
    func randomHistories(mode: OracleMode) {
        let failure = OracleRun.firstFailure(in: mode, seeds: OracleSettings.range).failure
        if let failure { Issue.record("\(failure)") }
    }

    @Test("recorded crawls")
    func recordedCrawls() {
        let failure = OracleRun.firstFailureOfCrawls(seeds: OracleSettings.range)
        if let failure { Issue.record("\(failure)") }
    }
}

/// The oracle's own tools. A check that cannot fail proves nothing.
@Suite("Oracle tools")
struct OracleToolTests {
    @Test("newer knowledge stays")
    func coverageKeepsTheNewest() {
        var map = CoverageMap()
        map.cover(10...20, at: 5)
        map.cover(15...30, at: 3)
        #expect(map.time(at: 15) == 5)
        #expect(map.time(at: 21) == 3)
        map.cover(.min ... .max, at: 4)
        #expect([9, 10, 20, 21].map { map.time(at: $0) } == [4, 5, 5, 4])
    }

    @Test("forgotten places are exact")
    func coverageForgets() {
        var map = CoverageMap()
        map.cover(.min ... .max, at: 1)
        map.forget(11...19)
        #expect([10, 11, 19, 20].map { map.time(at: $0) } == [1, nil, nil, 1])
        map.forget(.min ... .max)
        #expect(map.time(at: 0) == nil)
    }

    @Test("what was known before counts again")
    func coverageGoesBack() {
        var map = CoverageMap()
        map.cover(.min ... .max, at: 1)
        map.cover(10...20, at: 5)
        map.forget(15...15, since: 4)
        #expect([14, 15, 16, 21].map { map.time(at: $0) } == [5, 1, 5, 1])
    }

    @Test("shrinking keeps what matters")
    func shrinking() {
        let events = OracleEvent.history(seed: 1, steps: 60)
        let wanted = [events[7].seed, events[41].seed]
        let small = OracleRun.shrink(events) { fewer in
            wanted.allSatisfy { seed in fewer.contains { $0.seed == seed } }
        }
        #expect(small.map(\.seed) == wanted)
    }

    @Test("histories repeat")
    func historiesRepeat() {
        let once = OracleEvent.history(seed: 9, steps: 60)
        let again = OracleEvent.history(seed: 9, steps: 60)
        #expect(once.map(\.seed) == again.map(\.seed))
        #expect(once.map(\.kind) == again.map(\.kind))
    }
}
