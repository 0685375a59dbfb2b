import Foundation
import Testing

/// The README's Swift program compiles. (Its C program is compiled and run by Tests/C/readme.sh.)
@Suite struct ReadmeTests {
    @Test(.enabled(if: Compiler.modules != nil, "needs the build's modules"))
    func theSwiftExampleCompiles() throws {
        let text = try String(contentsOfFile: Compiler.package + "/README.md", encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let output = try Compiler.compile(block, isProgram: true)
            #expect(!output.contains("error:") && !output.contains("warning:"), "\(output)")
        }
    }
}
