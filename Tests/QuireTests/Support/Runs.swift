@testable import Quire

extension RunContents {
    /// Merges with these runs, newest first. Those of `below` are still older.
    func merged(
        over runs: [IndexRun], below: [IndexRun] = [], in memory: MergeMemory = MergeMemory()
    ) throws -> RunContents {
        try memory.merge(self, over: runs, below: below) {
            RunContents(posts: Array($0.posts), marks: Array($0.marks), gone: $0.gone)
        }
    }

    /// The record of this run.
    var encoded: [UInt8] {
        withParts { parts in
            var bytes = [UInt8](repeating: 0xFF, count: parts.size)
            bytes.withUnsafeMutableBytes { parts.write(into: $0) }
            return bytes
        }
    }
}
