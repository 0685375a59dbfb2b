import Testing

@testable import TestSupport

/// The compiler keeps bodies, and snapshots, inside the snapshot they come from.
@Suite struct LentBodiesTests {
    @Test(
        .enabled(if: Compiler.modules != nil, "needs the build's modules"),
        arguments: [
            ("let size = try snapshot.body(of: row).byteCount; _ = size", nil),
            ("kept = try snapshot.body(of: row)", "escapes its scope"),
            ("let copy = snapshot; _ = copy.self", "cannot be consumed"),
        ])
    func compiles(statement: String, complaint: String?) throws {
        let source = """
            import Quire
            func use(_ cache: Cache, _ feed: Feed) throws {
                var kept = RawSpan()
                try cache.withSnapshot { snapshot in
                    let row = try snapshot.find(1, in: feed)!
                    _ = row
                    \(statement)
                }
                _ = kept.byteCount
                kept = RawSpan()
            }
            """
        let output = try Compiler.compile(source)
        if let complaint {
            #expect(output.contains(complaint), "\(output)")
        } else {
            #expect(!output.contains("error:"), "\(output)")
        }
    }
}
