import CLMDB
import Foundation
import Testing

@_spi(Unstable) @testable import Quire

/// How LMDB is kept from its hazards, where one process can show it: the table in Docs/testing.md.
@Suite struct LMDBRulesTests {
    private let storage: TemporaryCache
    private let feed: Feed

    init() throws {
        storage = try TemporaryCache()
        feed = try storage.cache.feed(named: "f")
        try put(1)
    }

    private func put(_ id: UInt64) throws {
        _ = try feed.insertLocal(PostID(id), body: Array(repeating: 7, count: 3000))
    }

    private func code(_ body: () throws -> Void) -> QuireError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? QuireError)?.code
        }
    }

    @Test("L3: when all slots for readers are taken, reading fails and then works again")
    func slots() throws {
        var open: [OpenSnapshot] = []
        for _ in 0..<1024 { open.append(try OpenSnapshot(storage.cache)) }
        #expect(code { _ = try OpenSnapshot(storage.cache) } == .io)
        try put(2)
        open.removeLast()
        _ = try OpenSnapshot(storage.cache)
    }

    @Test("L3: a snapshot that is too old is read no longer, and what it lent stays")
    func age() throws {
        let options = CacheOptions(durability: .relaxed, mapSize: 1 << 26, maximumSnapshotAge: 3)
        let cache = try Cache(at: storage.folder + "/aging.quire", options: options)
        let feed = try cache.feed(named: "f")
        try feed.insertLocal(1, body: Array(repeating: 7, count: 3000))
        let snapshot = try OpenSnapshot(cache)
        let row = try #require(try snapshot.read { try $0.find(1, in: feed) })
        let bytes = try snapshot.bytes(of: row)
        for round in 1...40 as ClosedRange<UInt8> {
            _ = try cache.update(1, body: Array(repeating: round, count: 3000))
            let code = code { _ = try snapshot.read { try $0.rows(of: feed, limit: 1) } }
            #expect(code == (round > 3 ? .snapshotExpired : nil))
            #expect(bytes.count == 3000 && bytes.allSatisfy { $0 == 7 })
        }
        #expect(code { _ = try snapshot.read { try $0.statistics() } } == .snapshotExpired)
        let body = try cache.withSnapshot { snapshot in
            let row = try #require(try snapshot.find(1, in: feed))
            return try snapshot.body(of: row).unsafeLoad(as: UInt8.self)
        }
        #expect(body == 40)
    }

    @Test("L3: statistics tell of the oldest snapshot, whose it is and what it keeps from reuse")
    func oldestSnapshot() throws {
        func statistics() throws -> CacheStatistics {
            try storage.cache.withSnapshot { try $0.statistics() }
        }
        #expect(try statistics().snapshots == 1 && statistics().oldestSnapshotAge == 0)
        #expect(try statistics().pinnedBytes == 0)
        do {
            let old = try OpenSnapshot(storage.cache)
            for round in 1...20 {
                _ = try storage.cache.update(1, body: Array(repeating: UInt8(round), count: 3000))
                let seen = try statistics()
                #expect(seen.snapshots == 2 && seen.oldestSnapshotAge == round)
                #expect(seen.oldestSnapshotProcess == getpid())
                // Each commit leaves the leaf and the root it replaced, and more.
                #expect(seen.pinnedBytes >= UInt64(round * 2 * 4096))
            }
            withExtendedLifetime(old) {}
        }
        #expect(try statistics().snapshots == 1 && statistics().pinnedBytes == 0)
    }

    @Test("L14: no descriptor of a cache is inherited by programs that are started")
    func descriptors() throws {
        var found = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            guard let target, target.hasPrefix(storage.path), let number = Int32(name) else { continue }
            found += 1
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
        }
        #expect(found >= 3)
    }

    @Test("L17: a file that was removed is not written to")
    func removed() throws {
        try FileManager.default.removeItem(atPath: storage.path)
        #expect(code { try put(2) } == .closed)
    }

    @Test("L17: a file in whose place another one was put is not written to")
    func replaced() throws {
        let other = storage.folder + "/other.quire"
        try storage.cache.copy(to: other)
        #expect(rename(other, storage.path) == 0)
        #expect(code { try put(2) } == .closed)
    }

    /// Reading it would be a crash that cannot be caught.
    @Test("L17: a file that was cut off is not written to")
    func cutOff() throws {
        #expect(truncate(storage.path, 4096 * 3) == 0)
        #expect(code { try put(2) } == .corrupt)
    }

    /// LMDB writes to it through a memory map: on a full disk that would end the process.
    @Test("L12: the table of readers has its room on the disk")
    func roomForReaders() throws {
        var status = stat()
        #expect(stat(storage.path + "-lock", &status) == 0)
        #expect(Int(status.st_blocks) * 512 >= 1024 * 64)
    }

    @Test("Network file systems are refused by their number")
    func networkFileSystems() {
        #expect(FileCheck.networkFileSystem(0x6969) == "NFS")
        #expect(FileCheck.networkFileSystem(0xFF53_4D42) == "SMB")
        for local in [0xEF53, 0x0102_1994, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0] as [UInt64] {
            #expect(FileCheck.networkFileSystem(local) == nil)
        }
    }

    @Test("A private lock file, too")
    func modes() throws {
        for path in [storage.path, storage.path + "-lock", storage.path + "-open"] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }
}
