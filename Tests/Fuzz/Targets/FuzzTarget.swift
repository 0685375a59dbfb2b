import Foundation

/// What strangers' bytes may meet. Each takes any bytes and survives them; a promise that does not hold ends
/// the process, which is what a fuzzer looks for.
enum FuzzTarget: String, CaseIterable {
    /// A response of an API, read by the built-in profile that the first byte names.
    case page
    /// A profile, and a response read by it.
    case profile
    /// A record of a cache file; the first byte is its kind.
    case record
    /// Calls of the C API, one after the other.
    case calls
    /// A cache file: `verify` survives it, and the engine if `verify` accepts it.
    case cache
    /// A document as people give it to `quire ingest`, XML above all.
    case xml
    /// Operations of a log, applied to a cache.
    case operation

    func run(_ input: [UInt8]) {
        switch self {
        case .page: PageFuzzing.page(input)
        case .profile: PageFuzzing.profile(input)
        case .record: RecordFuzzing.run(input)
        case .calls: CallFuzzing.run(input)
        case .cache: FileFuzzing.cache(input)
        case .xml: FileFuzzing.document(input)
        case .operation: OperationFuzzing.run(input)
        }
    }

    /// The folder of inputs that were written by hand, or found.
    var corpus: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Corpus/\(rawValue)").standardizedFileURL.path
    }

    /// Inputs to begin with, beside the files of ``corpus``: what guided runs collected, a line each, in
    /// base64 (`KEEP=1 Scripts/fuzz`); changes of cache files are better made than kept.
    func seeds() -> [[UInt8]] {
        if self == .cache { return FileFuzzing.changes() }
        return try! String(contentsOfFile: corpus + ".collected", encoding: .utf8).split(separator: "\n")
            .map { Array(Data(base64Encoded: String($0))!) }
    }
}

/// Files of this process, in memory where that is possible.
enum Scratch {
    static let folder: String = {
        let memory = "/dev/shm"
        let place = FileManager.default.fileExists(atPath: memory) ? memory : NSTemporaryDirectory()
        let folder = "\(place)/quire-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
        try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Scratch.folder) }
        return folder
    }()
}
