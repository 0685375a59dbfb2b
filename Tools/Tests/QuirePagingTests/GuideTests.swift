import Testing

@testable import TestSupport

/// The program in Docs/paging.md does what the guide says.
@Suite(.timeLimit(.minutes(10))) struct GuideTests {
    @Test(.enabled(if: Compiler.modules != nil, "needs the build's modules"))
    func theProgramRuns() throws {
        let program = try Compiler.examples(in: "Docs/paging.md").joined(separator: "\n")
        let output = try Compiler.buildAndRun(program, with: ["Quire", "QuirePaging"])
        #expect(
            output.split(separator: "\n").map(String.init) == [
                "ok, 10 new, 0 removed", "ok, 10 new, 0 removed", "fresh",
                "50 Question 50 31 bytes", "49 Question 49 31 bytes",
                "31 rows, below them: idle",
                "reached: true after 2 pages",
                #""newest": ask for link head"#, #""newest": ok, 0 new, 0 removed"#,
                "3 changes, 39 rows, 45 is now gap(g1)",
                "Unread(count: 36, isExact: false)", "[true, false]",
            ])
    }
}
