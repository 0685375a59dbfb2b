import Foundation

// Reads the same history of one server with each pattern and prints a table.
//
//     quire-patterns [SESSIONS [SEED]]
let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) ?? 0 }
let reader = Reader(sessions: Int(numbers.first ?? 400), seed: numbers.count > 1 ? numbers[1] : 7)

func findings<P: Pattern>(_ type: P.Type) throws -> Findings {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "quire-patterns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try reader.read(type, in: folder)
}

// The judge is worth nothing if it overlooks a hole.
let dropped = try findings(DroppingPattern.self)
guard dropped.missingSilently > dropped.rowsRead / 20 else {
    print("the judge overlooks what is dropped: \(dropped)")
    exit(1)
}

let all = try [
    findings(CursorPattern.self), findings(OffsetPattern.self), findings(RemoteKeysPattern.self),
    findings(RedisPattern.self), findings(QuirePattern.self),
]
print("\(reader.sessions) sessions, seed \(reader.seed)\n")
print("| | " + all.map(\.pattern).joined(separator: " | ") + " |")
print("|---|" + all.map { _ in "---:|" }.joined())
func line(_ title: String, _ value: (Findings) -> String) {
    print("| \(title) | " + all.map(value).joined(separator: " | ") + " |")
}
line("posts read") { "\($0.rowsRead)" }
line("posts missed without a sign") { "\($0.missingSilently)" }
line("sessions with such a hole") { "\($0.sessionsWithHoles)" }
line("posts missing at a gap that is shown") { "\($0.missingMarked)" }
line("posts shown twice") { "\($0.twice)" }
line("deleted posts shown") { "\($0.deleted)" }
line("requests") { "\($0.requests)" }
line("posts downloaded") { "\($0.downloaded)" }
line("of them again") { "\($0.downloadedAgain)" }
line("posts thrown away by a refresh") { "\($0.thrownAway)" }
line("commit of a page, p50 (µs)") { String(format: "%.0f", $0.microsecondsMedian) }
line("commit of a page, p99 (µs)") { String(format: "%.0f", $0.microseconds99) }
line("KiB on disk in the end") { "\($0.bytes / 1024)" }
