import Foundation
import QuireDumps

/// Reports and counts what could not be taken in, and ends the run if there are too many errors.
///
/// On stderr the first errors of each kind have a line each, with their place. The others are counted by
/// kind.
final class ErrorReporter {
    private let limit: Int?
    private let path: String?
    private let file: FileHandle?
    private let encoder = JSONEncoder()
    private var count: Int
    /// How often each kind came, and how many of it were not shown.
    private var kinds: [String: (count: Int, hidden: Int)] = [:]
    private var hidden = 0

    /// The errors of a kind that are shown, the kinds that are told apart, and the errors that are shown of
    /// all.
    private static let (examples, kindLimit, shownLimit) = (3, 20, 30)

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
        guard let file, let path else { return show(message, at: place) }
        do {
            try file.write(contentsOf: encoder.encode(Line(message: message, place: place)) + Data("\n".utf8))
        } catch {
            throw Failure(.io, "\(path): writing failed")
        }
    }

    private func show(_ message: String, at place: String) {
        var kind = Self.kind(of: message, at: place)
        if kinds[kind] == nil && kinds.count == Self.kindLimit { kind = "other" }
        var entry = kinds[kind] ?? (0, 0)
        entry.count += 1
        if entry.count <= Self.examples && count - hidden <= Self.shownLimit {
            Messages.writeError(message, at: place)
        } else {
            entry.hidden += 1
            hidden += 1
        }
        kinds[kind] = entry
    }

    /// Says how many errors of each kind there were, if some were not shown.
    func conclude() {
        if hidden == 0 { return }
        Messages.write("\(grouped(hidden)) more failed, by kind as follows; --errors-to FILE takes each")
        for (kind, entry) in kinds.sorted(by: { ($0.value.count, $1.key) > ($1.value.count, $0.key) }) {
            Messages.write(kind, times: entry.count)
        }
    }

    /// Returns the message without its place, and with a letter for each number.
    private static func kind(of message: String, at place: String) -> String {
        var kind = message[...]
        let start = "\(shown(place)): "
        if kind.hasPrefix(start) { kind = kind.dropFirst(start.count) }
        return String(kind.prefix(200)).replacing(#/[0-9]+/#, with: "N").replacing(#/"[^"]*"/#, with: "\"…\"")
    }
}
