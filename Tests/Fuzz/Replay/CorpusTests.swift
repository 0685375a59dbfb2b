import Foundation
import Testing

/// What fuzzing begins with and what it has found, once more in every run of the tests: nothing ends the
/// process.
@Suite(.serialized) struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases) func everyInput(_ target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: target.corpus).sorted()
        #expect(!files.isEmpty)
        for file in files {
            if ProcessInfo.processInfo.environment["QUIRE_TRACE"] != nil { print(target, file) }
            target.run(Array(try Data(contentsOf: URL(fileURLWithPath: target.corpus + "/" + file))))
        }
        for seed in target.seeds() { target.run(seed) }
    }
}
