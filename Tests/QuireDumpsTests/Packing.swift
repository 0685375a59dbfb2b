import CArchive
import Foundation
import Quire

@testable import QuireDumps

/// A folder of its own for inputs, removed with the object.
final class InputFolder {
    let path: String

    init() throws {
        let shared = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : nil
        path = (shared ?? NSTemporaryDirectory()) + "/quire-inputs-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    func write(_ name: String, _ bytes: some Collection<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    func write(_ name: String, _ text: String) throws -> String { try write(name, text.utf8) }

    /// Writes a file packed with a filter of libarchive, or an archive if it has several entries.
    func pack(
        _ name: String, _ entries: [(name: String, bytes: [UInt8])], filter: Int32 = 0,
        format: Int32 = ARCHIVE_FORMAT_RAW
    ) throws -> String {
        let archive = archive_write_new()
        defer { archive_write_free(archive) }
        archive_write_add_filter(archive, filter)
        archive_write_set_format(archive, format)
        archive_write_open_filename(archive, "\(path)/\(name)")
        for entry in entries {
            let header = archive_entry_new()
            defer { archive_entry_free(header) }
            archive_entry_set_pathname(header, entry.name)
            archive_entry_set_filetype(header, 0o100000)
            archive_entry_set_size(header, Int64(entry.bytes.count))
            archive_write_header(archive, header)
            archive_write_data(archive, entry.bytes, entry.bytes.count)
        }
        archive_write_close(archive)
        return "\(path)/\(name)"
    }
}

/// What a reader gave, as a picture: `[a b c]` is a page, `[c: d e]` one that begins with the last post
/// of the page before, `^` marks the top of a table, and `!` is a place where a page is missing.
struct Reading {
    var picture: [String] = []
    var messages: [String] = []
    var pages: [InputPage] = []

    /// Reads files to their end.
    init(
        _ paths: String..., profile: String = #"{"name": "t", "items": "items", "id": {"path": "id"}}"#,
        from start: InputPage.Position = .init(), change: (inout InputOptions) -> Void = { _ in }
    ) throws {
        var options = InputOptions(profile: try Profile(json: Array(profile.utf8), name: "profile"))
        change(&options)
        let reader = PageReader(Input.list(paths), options, from: start)
        while let page = reader.next() {
            pages.append(page)
            switch page.content {
            case .response(let response): picture.append(Self.picture(of: page, response.answer))
            case .failure(let error):
                picture.append("!")
                messages.append(error.message)
            case .passedOver(let reason): messages.append("passed over: \(reason)")
            }
        }
    }

    private static func picture(of page: InputPage, _ answer: Answer) -> String {
        var ids = answer.ids[...]
        var text = ""
        if case .rows = page.kind {
            if page.repeated > 0 { text = " :\(ids.removeLast())" }
            return "[\(page.isTop ? "^" : "")\(ids.joined(separator: " "))\(text)]"
        }
        if page.repeated > 0 { text = "\(ids.removeFirst()): " }
        return "[\(text)\(ids.joined(separator: " "))]"
    }

    var ids: [String] {
        pages.flatMap { page in
            guard let answer = page.answer else { return [String]() }
            if case .rows = page.kind { return answer.ids.dropLast(page.repeated) }
            return Array(answer.ids.dropFirst(page.repeated))
        }
    }
}
