import Foundation
import TestSupport
import Testing

@testable import Quire

/// The project's conformance cases: every rule by example, through real LMDB.
@Suite struct ScenarioTests {
    static func cases(_ file: String) throws -> [JSON] {
        let url = Bundle.module.url(
            forResource: file, withExtension: "json", subdirectory: "Scenarios")!
        return try JSON(Data(contentsOf: url)).list!
    }

    /// `scenarios` is the specification's own file, `decisions` holds the cases in which the engine
    /// keeps a promise that the specification breaks (Docs/decisions.md), `regressions` what random runs found.
    @Test(arguments: ["scenarios", "decisions", "regressions"], [Tuning(), .cramped])
    func everyCase(_ file: String, _ tuning: Tuning) throws {
        let cases = try Self.cases(file)
        #expect(!cases.isEmpty)
        for scenario in cases { try Self.replay(scenario, tuning) }
    }

    /// Replays a case and records every step that differs from what it expects.
    static func replay(_ scenario: JSON, _ tuning: Tuning, reopeningEvery period: Int = .max) throws {
        let name = "\(scenario["id"]!.text!) \(scenario["title"]!.text!)"
        if Shared.number("QUIRE_TRACE") != nil { print(name) }
        let runner = try ScenarioRunner(scenario, tuning: tuning)
        for (i, step) in scenario["steps"]!.list!.enumerated() {
            if i % period == period - 1 { try runner.reopen() }
            let seen = try runner.step(step)
            for (what, expected) in step["expect"]?.object ?? [:] {
                guard let value = seen[what], expected.matches(value) else {
                    Issue.record(
                        "\(name): step \(i + 1) \(step["op"]!.text!): \(what) = \(seen[what] as Any), expected \(expected)")
                    return
                }
            }
        }
    }
}
