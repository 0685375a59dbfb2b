import Foundation

/// Text in which `{env:NAME}` stands for a variable of the environment, and `{file:PATH}` for a file that
/// only its owner may read. What it stands for is never written anywhere; the text itself may be.
struct SecretText: Sendable {
    private enum Part: Sendable {
        case plain(String)
        case environment(String)
        case file(String)
    }

    /// The text as it was written.
    let text: String
    private let parts: [Part]

    private static let sizeLimit = 1 << 16

    init(_ text: String) throws {
        self.text = text
        var parts: [Part] = []
        var rest = text[...]
        while let open = Self.opening(in: rest) {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw Failure(.usage, "\(shown(text, limit: 60)): a brace is not closed")
            }
            parts.append(.plain(String(rest[..<open])))
            let place = rest[rest.index(after: open)..<close]
            let name = String(place[place.index(after: place.firstIndex(of: ":")!)...])
            if name.isEmpty { throw Failure(.usage, "{\(place)} names nothing") }
            parts.append(place.hasPrefix("env:") ? .environment(name) : .file(name))
            rest = rest[rest.index(after: close)...]
        }
        self.parts = parts + [.plain(String(rest))]
    }

    private static func opening(in text: Substring) -> String.Index? {
        ["{env:", "{file:"].compactMap { text.firstRange(of: $0)?.lowerBound }.min()
    }

    var hasReference: Bool { parts.count > 1 }

    /// Returns the text with what it stands for, and the secrets in it.
    func resolved() throws -> (text: String, secrets: [String]) {
        var (text, secrets): (String, [String]) = ("", [])
        for part in parts {
            switch part {
            case .plain(let plain): text += plain
            case .environment(let name):
                guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
                    throw Failure(.usage, "{env:\(shown(name))}: there is no such variable")
                }
                secrets.append(try Self.checked(value, "{env:\(shown(name))}"))
                text += value
            case .file(let path):
                let value = try Self.read(path)
                secrets.append(value)
                text += value
            }
        }
        return (text, secrets)
    }

    private static func checked(_ value: String, _ place: String) throws -> String {
        if value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) { return value }
        throw Failure(.usage, "\(place): a secret is one line of text")
    }

    private static func read(_ path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw Failure(.noInput, "\(path): cannot be read: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(path): is not a file, so it cannot hold a secret")
        }
        if status.st_mode & 0o077 != 0 {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw Failure(
                .usage,
                "\(path): others may use this file (mode 0\(mode)), so it cannot hold a secret: "
                    + "chmod 600 \(path)")
        }
        if status.st_uid != geteuid() && status.st_uid != 0 {
            throw Failure(.usage, "\(path): belongs to another user, so it cannot hold a secret")
        }
        let bytes = try handle.read(upToCount: sizeLimit) ?? Data()
        guard var text = String(data: bytes, encoding: .utf8), bytes.count < sizeLimit else {
            throw Failure(.usage, "\(path): a secret is one line of text")
        }
        while text.last?.isNewline ?? false { text.removeLast() }
        if text.isEmpty { throw Failure(.usage, "\(path): is empty") }
        return try checked(text, path)
    }
}

/// The secrets of a run: they go out with its requests, and nowhere else.
struct Secrets: Sendable {
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var parameters: [(name: String, value: String)] = []
    /// The secrets as they may occur in a text.
    private var values: [String] = []

    init(_ headers: [PullHeader], _ address: PullAddress) throws {
        for header in headers { self.headers.append((header.name, try resolve(header.text))) }
        for parameter in address.secretParameters {
            parameters.append((parameter.name, try resolve(parameter.text)))
        }
        values.sort { $0.utf8.count > $1.utf8.count }
    }

    private mutating func resolve(_ text: SecretText) throws -> String {
        let (resolved, secrets) = try text.resolved()
        for secret in secrets { values += Set([secret, Self.escaped(secret)]) }
        return resolved
    }

    /// Returns the text without the secrets.
    func removed(from text: String) -> String {
        values.reduce(text) { $0.replacing($1, with: "…") }
    }

    /// Returns a link without the parameters that carry secrets, because servers repeat them in links.
    func removed(fromLink link: String) -> String {
        if parameters.isEmpty { return removed(from: link) }
        let names = Set(parameters.map(\.name))
        let start = link.firstIndex(of: "?").map { link.index(after: $0) }
        guard let start = start ?? (link.contains("=") ? link.startIndex : nil) else {
            return removed(from: link)
        }
        let kept = link[start...].split(separator: "&").filter {
            !names.contains(String($0.prefix { $0 != "=" }))
        }
        let head =
            kept.isEmpty && start != link.startIndex ? link[..<link.index(before: start)] : link[..<start]
        return removed(from: head + kept.joined(separator: "&"))
    }

    /// The parameters as they go into an address.
    var query: String {
        parameters.map { "\($0.name)=\(Self.escaped($0.value))" }.joined(separator: "&")
    }

    private static func escaped(_ value: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

/// A header of the command line: `Accept: application/json`.
struct PullHeader: Sendable {
    let name: String
    let text: SecretText

    /// They are secrets, whatever their value is.
    private static let secret: Set = ["authorization", "proxy-authorization", "cookie", "x-api-key"]
    /// They go to other servers too, after a redirection.
    private static let shared: Set = ["user-agent", "accept"]
    /// The tool writes them itself.
    private static let own: Set = [
        "host", "content-length", "transfer-encoding", "connection", "range", "if-none-match", "if-match",
        "if-modified-since", "if-unmodified-since", "if-range", "accept-encoding",
    ]

    init(_ line: String) throws {
        guard let colon = line.firstIndex(of: ":") else {
            throw Failure(.usage, "--header \(shown(line, limit: 20)): is not NAME: VALUE")
        }
        name = String(line[..<colon])
        let isName = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
        guard isName, !name.isEmpty else {
            throw Failure(.usage, "--header: \(shown(name, limit: 40)) is not the name of a header")
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        guard !value.isEmpty, value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw Failure(.usage, "--header \(name): the value is not a line of text")
        }
        text = try SecretText(String(value))
        if Self.own.contains(name.lowercased()) {
            throw Failure(.usage, "--header \(name): quire writes this header itself")
        }
        if Self.shared.contains(name.lowercased()) && text.hasReference {
            throw Failure(
                .usage,
                "--header \(name): a redirection takes it to other servers, so it cannot hold a secret")
        }
        if Self.secret.contains(name.lowercased()) && !text.hasReference {
            throw Failure(
                .usage,
                "--header \(name): others can read the arguments of a program: say "
                    + "'\(name): {env:VARIABLE}' or '\(name): {file:PATH}'")
        }
    }
}
