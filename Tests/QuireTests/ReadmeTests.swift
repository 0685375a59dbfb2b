import Testing

@testable import TestSupport

/// The README's Swift program does what its comments say. (Tests/C/readme.sh runs its C program.)
@Suite struct ReadmeTests {
    @Test(.enabled(if: Compiler.modules != nil, "needs the build's modules"))
    func theSwiftExampleRuns() throws {
        let block = try #require(try Compiler.examples(in: "README.md").first)
        let lines = try Compiler.buildAndRun(block).split(separator: "\n").map(String.init)
        #expect(lines == ["ask for link(head)", "ok 1 new", "42 15 bytes"])
    }
}
