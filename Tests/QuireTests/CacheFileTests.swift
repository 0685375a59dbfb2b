import CLMDB
import Foundation
import Testing

@_spi(Unstable) @testable import Quire

/// Opening: what is a cache, what is not, and what two opens of one file mean.
@Suite(.timeLimit(.minutes(10))) struct CacheFileTests {
    private let storage: TemporaryCache

    init() throws { storage = try TemporaryCache() }

    private func path(_ name: String) -> String { storage.folder + "/" + name }

    private func code(opening path: String) -> QuireError.Code? {
        do throws(QuireError) {
            _ = try Cache(at: path)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func whatIsNoCacheIsRefusedAndLeftAlone() throws {
        let text =
            "just a text file, long enough to hold a header of any kind "
            + String(repeating: "x", count: 9000)
        try text.write(toFile: path("text"), atomically: false, encoding: .utf8)
        #expect(code(opening: path("text")) == .notACache)
        #expect(try String(contentsOfFile: path("text"), encoding: .utf8) == text)
        try Data().write(to: URL(fileURLWithPath: path("empty")))
        #expect(code(opening: path("empty")) == .notACache)
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        #expect(code(opening: path("folder")) == .notACache)
        #expect(code(opening: path("no/such/folder/x.quire")) == .io)
        #expect(code(opening: "") == .badArgument)
        #expect(code(opening: "a\0b") == .badArgument)
    }

    @Test func aCutOffCacheIsRefused() throws {
        let whole = try #require(FileManager.default.contents(atPath: storage.path))
        for size in [1, 16, 63, 64, 4096, 8191] {
            try whole.prefix(size).write(to: URL(fileURLWithPath: path("cut")))
            #expect(code(opening: path("cut")) == .notACache, "\(size) bytes")
        }
    }

    @Test func aForeignLMDBFileIsRefused() throws {
        try withEnvironment(path("foreign")) { transaction in
            var dbi: MDB_dbi = 0
            #expect(mdb_dbi_open(transaction, "theirs", UInt32(MDB_CREATE), &dbi) == 0)
        }
        #expect(code(opening: path("foreign")) == .notACache)
    }

    @Test func aNewerFormatIsRefused() throws {
        _ = try Cache(at: path("new.quire"))
        try withEnvironment(path("new.quire")) { transaction in
            var tree: MDB_dbi = 0
            #expect(mdb_dbi_open(transaction, nil, 0, &tree) == 0)
            let newer = CacheFile.encodedFormat(seed: 0, version: CacheFile.formatVersion + 1)
            let access = Transaction(handle: transaction, file: storage.cache.environment.cacheFile)
            try access.put(.format, NoKey(), newer)
        }
        #expect(code(opening: path("new.quire")) == .newerFormat)
    }

    /// Nothing of it is read: one sentence says what to do instead.
    @Test func anOlderFormatIsRefused() throws {
        _ = try Cache(at: path("old.quire"))
        try withEnvironment(path("old.quire")) { transaction in
            var tree: MDB_dbi = 0
            #expect(mdb_dbi_open(transaction, nil, 0, &tree) == 0)
            let access = Transaction(handle: transaction, file: storage.cache.environment.cacheFile)
            // until format 5, checksums were another hash
            var format = CacheFile.encodedFormat(seed: 0, version: 3)
            format.withUnsafeMutableBytes { bytes in
                let end = bytes.count - Checksum.size
                bytes.storeBytes(
                    of: ~bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self), toByteOffset: end,
                    as: UInt32.self)
            }
            try access.put(.format, NoKey(), format)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path("old.quire")))
        func refusal(_ body: () throws -> Void) throws {
            do {
                try body()
                Issue.record("a cache of format 3 was opened")
            } catch let error as QuireError {
                #expect(error.code == .notACache)
                #expect(error.message.contains("format 3") && error.message.contains("fill a new one"))
            }
        }
        try refusal { _ = try Cache(at: path("old.quire")) }
        try refusal { _ = try Cache.verify(at: path("old.quire")) }
        try refusal { _ = try Cache.repair(at: path("old.quire")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("old.quire"))) == before)
    }

    @Test func twoOpensShareOneEnvironment() throws {
        let again = try Cache(at: storage.path)
        #expect(again.environment === storage.cache.environment)
        let link = path("link.quire")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: storage.path)
        #expect(try Cache(at: link).environment === storage.cache.environment)
    }

    @Test func theFileIsPrivate() throws {
        let mode = try FileManager.default.attributesOfItem(atPath: storage.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func aCompactCopyHoldsTheSame() throws {
        let feed = try storage.cache.feed(named: "f")
        var answer = Answer(next: .end)
        for number in 1...50 { answer.append(id: PostID(UInt64(number)), body: [1, 2, 3]) }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        try storage.cache.copy(to: path("copy.quire"))
        let copy = try Cache(at: path("copy.quire"))
        #expect(try copy.check().isEmpty)
        let rows = try storage.cache.withSnapshot { try $0.rows(of: feed, limit: .max) }
        let same = try copy.existingFeed(named: "f")!
        #expect(try copy.withSnapshot { try $0.rows(of: same, limit: .max) } == rows)
        #expect(throws: QuireError.self) { try storage.cache.copy(to: path("copy.quire")) }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// While it is written, too.
    @Test func aCopyIsPrivate() throws {
        let draft = try DraftFile(path("copy.quire.copying"))
        try storage.cache.environment.copyCompactly(to: draft)
        #expect(try mode(draft.path) == 0o600)
        draft.remove()
        try storage.cache.copy(to: path("copy.quire"))
        #expect(try mode(path("copy.quire")) == 0o600)
    }

    /// What a killed process left is removed, readable by others or not; what another is writing is not.
    @Test func aCopyThatWasLeftIsRemoved() throws {
        for mode in [0o600, 0o644] {
            try Data(count: 100).write(to: URL(fileURLWithPath: path("copy.quire.copying")))
            #expect(chmod(path("copy.quire.copying"), mode_t(mode)) == 0)
            try storage.cache.copy(to: path("copy.quire"))
            #expect(try self.mode(path("copy.quire")) == 0o600)
            #expect(!FileManager.default.fileExists(atPath: path("copy.quire.copying")))
            #expect(try Cache.verify(at: path("copy.quire")).isEmpty)
            try FileManager.default.removeItem(atPath: path("copy.quire"))
        }
        let other = try DraftFile(path("copy.quire.copying"))
        #expect { try storage.cache.copy(to: path("copy.quire")) } throws: {
            ($0 as? QuireError)?.code == .busy
        }
        #expect(FileManager.default.fileExists(atPath: other.path))
        #expect(!FileManager.default.fileExists(atPath: path("copy.quire")))
    }

    @Test func theMapGrows() throws {
        var options = CacheOptions(durability: .relaxed, mapSize: 1 << 20)
        options.tuning = Tuning()
        let cache = try Cache(at: path("small.quire"), options: options)
        let feed = try cache.feed(named: "f")
        for number in 1...40 as ClosedRange<UInt64> {
            var answer = Answer(next: .token("p\(number)"))
            answer.append(id: PostID(number), body: Array(repeating: 9, count: 100_000))
            let place: Place = number == 1 ? .head : .tail
            _ = try feed.ingest(answer, for: feed.plan(place).request!.ticket)
        }
        #expect(try cache.check().isEmpty)
        #expect(try cache.withSnapshot { try $0.statistics().bodyBytes } == 4_000_000)
    }

    /// A raw LMDB transaction on a file that no cache has open.
    private func withEnvironment(_ path: String, _ body: (OpaquePointer) throws -> Void) throws {
        var environment: OpaquePointer?
        #expect(mdb_env_create(&environment) == 0)
        defer { mdb_env_close(environment) }
        mdb_env_set_maxdbs(environment, 16)
        try #require(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o600) == 0)
        var transaction: OpaquePointer?
        try #require(mdb_txn_begin(environment, nil, 0, &transaction) == 0)
        try body(transaction!)
        try #require(mdb_txn_commit(transaction) == 0)
    }
}
