import Foundation

/// A file that contains one response.
public struct PageFile: Sendable, Hashable {
    /// Its path, as given.
    public let path: String
    /// The number of the page, if the file name contains it: `17.json`, `page-17.json`, `page_17.json`,
    /// `page17.json`, `p17.json`, `17.json.gz`, and after other words `posts-17.json`, `posts_17.json`.
    public let number: Int?
    /// What stands before the number, if that is neither nothing nor "page": `posts_`. Numbers after
    /// different words do not count the same pages.
    public let series: String

    /// Creates a value for the file at a path, without opening it.
    public init(path: String) {
        self.path = path
        (number, series) = Self.pageNumber(inName: lastPart(of: path))
    }

    /// The last part of the path.
    public var name: String { lastPart(of: path) }

    /// Returns the files at these paths, in the given order. A folder stands for its regular files with one
    /// of the ``suffixes``, packed or not, in natural order: `2.json` before `10.json`. Its subfolders are
    /// ignored. A file whose name is not UTF-8 is among them, but cannot be read: what is wrong in its name
    /// is shown as U+FFFD.
    ///
    /// Throws ``DumpError`` with `.noInput` if a path does not exist, is neither a file nor a folder, or is a
    /// folder that has no such file or cannot be read.
    public static func list(_ paths: [String]) throws(DumpError) -> [PageFile] {
        var files: [PageFile] = []
        for path in paths {
            switch kind(of: path) {
            case .file: files.append(PageFile(path: path))
            case .folder: files += try listFolder(path)
            case .other: throw DumpError(.noInput, "\(shown(path)): neither a file nor a folder")
            case nil: throw DumpError(.noInput, "\(shown(path)): \(absence(of: path))")
            }
        }
        return files
    }

    /// The suffixes of files with pages.
    public static let suffixes = ["json", "ndjson", "jsonl", "xml", "rss", "atom", "rdf"]

    private static let packings: Set<Substring> = [
        "gz", "zst", "bz2", "xz", "7z", "tar", "tgz", "txz", "tbz2",
    ]

    /// True if the file is not hidden and has one of the ``suffixes``, packed or not, or is an archive.
    var hasPages: Bool {
        var parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.first?.isEmpty == false else { return false }
        var isPacked = false
        while parts.count > 1, let last = parts.last, Self.packings.contains(last) {
            parts.removeLast()
            isPacked = true
        }
        let isArchive = isPacked && !["gz", "zst", "bz2", "xz"].contains { name.hasSuffix("." + $0) }
        return isArchive || parts.count > 1 && Self.suffixes.contains(String(parts[parts.count - 1]))
    }

    /// Returns the bytes of the file.
    ///
    /// Throws ``DumpError`` with `.noInput` if the file cannot be read, and with `.limit` if it has more than
    /// `limit` bytes; the rest is not read.
    public func read(limit: Int = PageParser.defaultLimit) throws(DumpError) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            let reason = Self.kind(of: path) == nil ? Self.absence(of: path) : "cannot be read"
            throw DumpError(.noInput, "\(Self.shown(path)): \(reason)")
        }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        do {
            while bytes.count <= limit, let part = try file.read(upToCount: 1 << 20), !part.isEmpty {
                bytes += part
            }
        } catch {
            throw DumpError(.noInput, "\(Self.shown(path)): cannot be read")
        }
        guard bytes.count <= limit else {
            throw DumpError(.limit, "\(Self.shown(path)): page is above the limit of \(megabytes(limit)) MB")
        }
        return bytes
    }

    private static func listFolder(_ path: String) throws(DumpError) -> [PageFile] {
        guard let names = fileNames(inFolder: path) else {
            throw DumpError(.noInput, "\(shown(path)): cannot be read")
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        let files = names.filter { PageFile(path: $0).hasPages }
        guard !files.isEmpty else {
            let suffixes = suffixes.joined(separator: ", .")
            throw DumpError(.noInput, "\(shown(path)): no files in it that end in .\(suffixes)")
        }
        return files.sorted { precedesNaturally($0, $1) }.map { PageFile(path: folder + $0) }
    }

    /// The names of the regular files in a folder; nil if it cannot be read. `FileManager` leaves out those
    /// that are not UTF-8.
    private static func fileNames(inFolder path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            withUnsafePointer(to: &entry.pointee.d_name) { field in
                let name = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
                var status = stat()
                guard fstatat(dirfd(folder), name, &status, 0) == 0, kind(of: status) == .file else { return }
                names.append(String(cString: name))  // repairs what is not UTF-8
            }
        }
        return names
    }

    /// Why there is nothing at a path.
    static func absence(of path: String) -> String {
        path.unicodeScalars.contains("\u{FFFD}")
            ? "no such file: the name in the folder is not UTF-8; rename it" : "no such file"
    }

    private static func pageNumber(inName name: String) -> (number: Int?, series: String) {
        var stem = name[...]
        while let point = stem.lastIndex(of: ".") {
            let isPacked = packings.contains(stem[point...].dropFirst())
            stem = stem[..<point]
            if !isPacked { break }
        }
        func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }
        let bare = ["page-", "page_", "page", "p"].first(where: stem.hasPrefix).map {
            stem.dropFirst($0.count)
        }
        if isNumber(bare ?? stem) { return (Int(bare ?? stem), "") }
        guard let separator = stem.lastIndex(where: { $0 == "_" || $0 == "-" }) else { return (nil, "") }
        let (word, number) = (stem[..<separator], stem[separator...].dropFirst())
        // Dates and times have more digits, or digits before the separator: 20240501, 2024-05-01.
        guard isNumber(number), number.utf8.count <= 5, let last = word.utf8.last, isLetter(last) else {
            return (nil, "")
        }
        return (Int(number), String(stem[...separator]))
    }

    private enum Kind { case file, folder, other }

    private static func kind(of path: String) -> Kind? {
        var status = stat()
        return stat(path, &status) == 0 ? kind(of: status) : nil
    }

    private static func kind(of status: stat) -> Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    private static func shown(_ path: String) -> String { printable(path, limit: 400) }
}

private func lastPart(of path: String) -> String {
    String(path.split(separator: "/").last ?? path[...])
}

/// True for a letter, and for every byte of a character that is not ASCII.
private func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte >= 0x80
}

private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

/// Compares runs of digits by value and everything else by bytes. This is a total order.
func precedesNaturally(_ first: String, _ second: String) -> Bool {
    var left = Array(first.utf8)[...]
    var right = Array(second.utf8)[...]
    while let a = left.first, let b = right.first {
        if isDigit(a) && isDigit(b) {
            let runs = (takeNumber(&left), takeNumber(&right))
            if runs.0.count != runs.1.count { return runs.0.count < runs.1.count }
            if runs.0 != runs.1 { return runs.0.lexicographicallyPrecedes(runs.1) }
        } else {
            if a != b { return a < b }
            left.removeFirst()
            right.removeFirst()
        }
    }
    guard left.isEmpty && right.isEmpty else { return left.isEmpty }
    // They differ at most in leading zeros.
    return first.utf8.lexicographicallyPrecedes(second.utf8)
}

/// Removes the digits at the start and returns them without leading zeros.
private func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text.dropFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
}
