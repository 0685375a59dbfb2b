#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs one operation a number of times on a fixed cache, for `Scripts/check-cost`, which counts
/// instructions. Prints the number of bytes written.
@main
struct QuireCost {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let operation = Operation(rawValue: arguments[1]),
            let repetitions = Int(arguments[2]), 0...operation.limit ~= repetitions
        else {
            let names = Operation.allCases.map(\.rawValue).joined(separator: ", ")
            say("usage: quire-cost OPERATION REPETITIONS FOLDER\noperations: \(names)")
            exit(64)
        }
        do {
            try measure(operation, repetitions, in: arguments[3])
        } catch {
            say("\(operation): \(error)")
            exit(1)
        }
    }

    private static func measure(_ operation: Operation, _ repetitions: Int, in folder: String) throws {
        let bench = try Bench(folder: folder, isStart: operation == .start)
        let run = try operation.prepare(bench)
        let before = bytesWritten()
        try measured(run, times: repetitions)
        let bytes = bytesWritten().flatMap { after in before.map { after - $0 } }
        print(
            #"{"operation": "\#(operation)", "repetitions": \#(repetitions), "#
                + #""bytes": \#(bytes.map(String.init) ?? "null"), "sum": \#(bench.sum)}"#)
    }

    /// A function of its own, so that a profile can be limited to it:
    /// `valgrind --tool=callgrind --toggle-collect='*QuireCost*measured*'`.
    @inline(never)
    private static func measured(_ run: (Int) throws -> Void, times: Int) throws {
        for n in 0..<times { try run(n) }
    }

    private static func say(_ message: String) {
        _ = write(STDERR_FILENO, message + "\n", message.utf8.count + 1)
    }
}
