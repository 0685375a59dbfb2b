import Foundation
import QuireDumps

/// Reports and counts what could not be taken in, and ends the run if there are too many errors.
final class ErrorReporter {
    private let limit: Int?
    private let path: String?
    private let file: FileHandle?
    private let encoder = JSONEncoder()
    private var count: Int
    private var told = 0
    /// What came after the errors that were told one by one.
    private var rest = ErrorKinds()

    /// So many errors are told one by one.
    private static let toldLimit = 10

    private struct Line: Encodable {
        let message: String
        let place: String
    }

    /// Creates a reporter. The resumed run had `count` errors.
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

    /// Returns true if one more error would be too many, after this many that were not reported yet.
    func isTooMuch(after others: Int) -> Bool { limit.map { count + others >= $0 } ?? false }

    func tell(_ message: String, at place: String) throws {
        count += 1
        guard let file, let path else {
            if told == Self.toldLimit { return rest.add(message, at: place) }
            told += 1
            return Messages.writeError(message, at: place)
        }
        do {
            try file.write(contentsOf: encoder.encode(Line(message: message, place: place)) + Data("\n".utf8))
        } catch {
            throw Failure(.io, "\(path): writing failed")
        }
    }

    /// Tells the errors that were not told one by one, by kind.
    func summarise() {
        if rest.count == 0 { return }
        Messages.write(
            "\(counted(rest.count, "more error")), by kind; --errors-to FILE writes down each of them")
        for (count, message, place) in rest.summary { Messages.write(message, times: count, at: place) }
        rest = ErrorKinds()
    }
}
