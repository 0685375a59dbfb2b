import Foundation
import Testing

@testable import TestSupport

/// Each row of Docs/field.md names tests, and the tests exist.
@Suite(.timeLimit(.minutes(10))) struct FieldTests {
    private struct Row {
        let id: String
        let tests: Substring
    }

    private static let root = URL(filePath: Compiler.package)

    private static let rows: [Row] = {
        let path = root.appending(path: "Docs/field.md")
        let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|")
            guard cells.count >= 3 else { return nil }
            let id = cells[0].trimmingCharacters(in: .whitespaces)
            return id.wholeMatch(of: /[WHESB]-[MD]\d+/) == nil ? nil : Row(id: id, tests: cells[2])
        }
    }()

    @Test func everyTestThatIsNamedExists() throws {
        let tests = try Self.testNames()
        let scenarios = try Self.scenarios()
        #expect(Set(Self.rows.map(\.id)).count == Self.rows.count && !Self.rows.isEmpty)
        for row in Self.rows {
            let named = row.tests.matches(of: /`(\w+\.\w+)`/).map { String($0.1) }
            let cases = row.tests.matches(of: /scenario (\w+)/).map { String($0.1) }
            #expect(!(named + cases).isEmpty, "\(row.id) names no test")
            for name in named { #expect(tests.contains(name), "\(row.id): there is no test \(name)") }
            for id in cases { #expect(scenarios.contains(id), "\(row.id): there is no scenario \(id)") }
        }
    }

    /// `Suite.function` of every test in the sources.
    private static func testNames() throws -> Set<String> {
        var names: Set<String> = []
        for folder in ["Tests", "Tools/Tests", "Examples/Tests"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                var suite: Substring = ""
                for match in text.matches(of: /@Suite[\s\S]*?struct (\w+)|@Test[\s\S]*?func (\w+)/) {
                    if let name = match.1 { suite = name }
                    if let name = match.2 { names.insert("\(suite).\(name)") }
                }
            }
        }
        return names
    }

    private static func scenarios() throws -> Set<String> {
        let file = root.appending(path: "Tests/Specification/scenarios.json")
        let list = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]]
        return Set((list ?? []).compactMap { $0["id"] as? String })
    }
}
