import Foundation
import QuireDumps
import Testing

@Suite struct PageFileTests {
    /// Runs `body` with a folder that has these empty files, and removes it.
    private func withFolder(_ names: [String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/quire-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder + "/sub.json", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in names { try Data("[]".utf8).write(to: URL(filePath: folder + "/" + name)) }
        try body(folder)
    }

    @Test(arguments: [
        ("17.json", 17), ("a/b/007.json", 7), ("page-17.json", 17), ("page_17.json", 17),
        ("page17.json", 17), ("p17.json", 17), ("17", 17), ("17.json.json", nil), ("page.json", nil),
        (".json", nil), ("x17.json", nil), ("-1.json", nil), ("+1.json", nil), ("1 .json", nil),
        ("page--1.json", nil), ("posts_17.json", 17), ("posts-17.json.gz", 17), ("a_b_3.json", 3),
        ("posts_.json", nil), ("_3.json", nil), ("2024-05-01.json", nil), ("at-2024-05-01.json", nil),
        ("posts_20240501.json", nil), ("posts_17b.json", nil), ("١٧.json", nil),
        ("99999999999999999999.json", nil),
    ])
    func numbers(path: String, number: Int?) { #expect(PageFile(path: path).number == number) }

    @Test func wordsBeforeTheNumberAreASeries() {
        let names = ["17.json", "page-17.json", "posts_17.json", "users_17.json", "x.json"]
        #expect(names.map { PageFile(path: $0).series } == ["", "", "posts_", "users_", ""])
    }

    @Test func aFolderIsItsFilesInNaturalOrder() throws {
        let names = ["10.json", "2.json", "1.json", "02.json", "b2.json", "b10.json", "a.json", "x.txt"]
        try withFolder(names) { folder in
            let files = try PageFile.list([folder])
            let order = ["1.json", "02.json", "2.json", "10.json", "a.json", "b2.json", "b10.json"]
            #expect(files.map(\.name) == order)
            #expect(try PageFile.list([folder + "/"]) == files)
            let mixed = try PageFile.list([folder + "/x.txt", folder + "/10.json"])
            #expect(mixed.map(\.number) == [nil, 10])
            #expect(try files[0].read() == Array("[]".utf8))
        }
    }

    @Test func whatIsNotThere() throws {
        #expect(
            dumpError { _ = try PageFile.list(["/no/such\u{1B}"]) }
                == DumpError(.noInput, "/no/such\\u{1B}: no such file"))
        #expect(dumpError { _ = try PageFile(path: "/no/such").read() }?.kind == .noInput)
        #expect(
            dumpError { _ = try PageFile.list(["/dev/null"]) }
                == DumpError(.noInput, "/dev/null: neither a file nor a folder"))
        try withFolder(["a.txt"]) { folder in
            #expect(
                dumpError { _ = try PageFile.list([folder]) }
                    == DumpError(
                        .noInput,
                        "\(folder): no files in it that end in "
                            + ".json, .ndjson, .jsonl, .xml, .rss, .atom, .rdf"))
            #expect(dumpError { _ = try PageFile(path: folder).read() }?.kind == .noInput)
            #expect(dumpError { _ = try PageFile(path: folder + "/a.txt").read(limit: 1) }?.kind == .limit)
            let whole = try PageFile(path: folder + "/a.txt").read(limit: 2)
            #expect(whole == Array("[]".utf8))
        }
    }
}
