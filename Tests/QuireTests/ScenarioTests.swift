import Foundation
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// The project's conformance cases: every rule by example, through real LMDB.
@Suite struct ScenarioTests {
    /// The specification's own file, which the model and the bindings' conformance file read too.
    static func cases() throws -> [JSON] {
        try JSON(Data(contentsOf: Specification.folder.appending(path: "scenarios.json"))).list!
    }

    @Test(arguments: [Tuning(), .cramped])
    func everyCase(_ tuning: Tuning) throws {
        let cases = try Self.cases()
        #expect(!cases.isEmpty)
        for scenario in cases { try Self.replay(scenario, tuning) }
    }

    /// Replays a case and records every step that differs from what it expects.
    static func replay(_ scenario: JSON, _ tuning: Tuning, reopeningEvery period: Int = .max) throws {
        let name = "\(scenario["id"]!.text!) \(scenario["title"]!.text!)"
        if Specification.number("QUIRE_TRACE") != nil { print(name) }
        do {
            try replay(scenario, name: name, tuning, reopeningEvery: period)
        } catch let unknown as ScenarioRunner.Unknown {
            Issue.record("\(name): \(unknown.word) is not in ScenarioRunner")
        }
    }

    private static func replay(
        _ scenario: JSON, name: String, _ tuning: Tuning, reopeningEvery period: Int
    ) throws {
        let runner = try ScenarioRunner(scenario, tuning: tuning)
        for (i, step) in scenario["steps"]!.list!.enumerated() {
            if i % period == period - 1 { try runner.reopen() }
            let seen = try runner.step(step)
            for (what, expected) in step["expect"]?.object ?? [:] {
                guard let value = seen[what], expected.matches(value) else {
                    Issue.record(
                        "\(name): step \(i + 1) \(step["op"]!.text!): \(what) = \(seen[what] as Any), expected \(expected)"
                    )
                    return
                }
            }
        }
    }
}
