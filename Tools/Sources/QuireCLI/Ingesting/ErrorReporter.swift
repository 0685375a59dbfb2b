import Foundation
import QuireDumps

/// What could not be taken: told, counted, and the end of the run when it becomes too much.
final class ErrorReporter {
    private let limit: Int?
    private let path: String?
    private let file: FileHandle?
    private let encoder = JSONEncoder()
    private var count: Int

    private struct Line: Encodable {
        let message: String
        let place: String
    }

    /// `count` were made before, by the run that is resumed.
    init(_ options: RunOptions, after count: Int) throws {
        limit = options.strict ? 0 : options.maxErrors
        path = options.errorsTo
        self.count = count
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let path = options.errorsTo else {
            file = nil
            return
        }
        let mode = options.resume ? O_APPEND : O_TRUNC
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0o666)
        if descriptor < 0 {
            throw Failure(.cannotCreate, "\(path): cannot be written: \(String(cString: strerror(errno)))")
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// True if one more would be too many after this many others that have not been told yet.
    func isTooMuch(after others: Int) -> Bool { limit.map { count + others >= $0 } ?? false }

    func tell(_ message: String, at place: String) throws {
        count += 1
        guard let file, let path else { return Messages.write(message) }
        do {
            try file.write(contentsOf: encoder.encode(Line(message: message, place: place)) + Data("\n".utf8))
        } catch {
            throw Failure(.io, "\(path): writing failed")
        }
    }
}
