import CLMDB
import Foundation
import Synchronization
import Testing

@_spi(Unstable) @testable import Quire
@testable import TestSupport

/// Who may open a cache, and whose turn it is to write.
@Suite(.timeLimit(.minutes(10))) struct OpenLockTests {
    private let folder: TestFolderOfOne
    private var path: String { folder.path + "/test.quire" }

    init() throws { folder = try TestFolderOfOne() }

    /// The error it throws.
    private func failure(_ body: () throws -> Void) -> QuireError? {
        do {
            try body()
            return nil
        } catch {
            return error as? QuireError
        }
    }

    private func key() throws -> FileKey { try FileCheck.key(path) }

    private static let (use, processes) = (1, 16)

    // MARK: Opening

    @Test("L5: another copy of the library in this process is refused, and may open it afterwards")
    func copies() throws {
        _ = try Cache(at: path)
        let copy = try OpenLock(path)
        try copy.publish(try key(), sharing: true)
        let error = try #require(failure { _ = try Cache(at: path) })
        #expect(error.code == .busy && error.message.hasPrefix(path))
        #expect(error.message.contains("in this process"))
        copy.release()
        let cache = try Cache(at: path)
        #expect(failure { _ = try OpenLock(path) }?.code == .busy)
        #expect(try cache.feeds().isEmpty)
    }

    @Test("L5: an opener that uses a link meets the same open lock")
    func links() throws {
        let cache = try Cache(at: path)
        let link = folder.path + "/link.quire"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(failure { _ = try OpenLock(FileCheck.resolved(link)) }?.code == .busy)
        #expect(try Cache(at: link).environment === cache.environment)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["link.quire", "test.quire", "test.quire-lock", "test.quire-open"])
    }

    @Test("L5: a lock under this process's number that is not its own is stale")
    func stale() throws {
        _ = try Cache(at: path)
        let holder = try LockHolder(path, Self.processes + Int(getpid()), F_WRLCK)
        #expect(try Cache(at: path).feeds().isEmpty)
        withExtendedLifetime(holder) {}
    }

    @Test("What a process left that was killed while it named a new cache, a copy or a damaged file goes")
    func leftNames() throws {
        _ = try Cache(at: path)
        try Data().write(to: URL(fileURLWithPath: path + ".corrupt-1"))
        for name in ["new", "copying", "corrupt-2"] { #expect(link(path, path + "." + name) == 0) }
        try Data().write(to: URL(fileURLWithPath: path + ".new-lock"))
        #expect(try Cache(at: path, options: CacheOptions(isReadOnly: true)).feeds().isEmpty)
        #expect(try names().count == 8, "who reads only leaves all as it is")
        #expect(try Cache(at: path).feeds().isEmpty)
        #expect(try names() == ["test.quire", "test.quire-lock", "test.quire-open", "test.quire.corrupt-1"])
        for upkeep in [{ _ = try Cache.compact(at: $0) }, { _ = try Cache.repair(at: $0) }]
            as [(String) throws -> Void]
        {
            #expect(link(path, path + ".corrupt-2") == 0)
            try upkeep(path)
            #expect(try names().count == 4)
        }
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("A file with a hard link is not opened to write by either name, and read without its locks")
    func hardLinks() throws {
        _ = try Cache(at: path).feed(named: "f")
        let other = folder.path + "/other.quire"
        #expect(link(path, other) == 0)
        for name in [path, other] {
            for attempt in [
                { _ = try Cache(at: $0) }, { _ = try Cache.compact(at: $0) },
                { _ = try Cache.repair(at: $0) },
            ] as [(String) throws -> Void] {
                #expect { try attempt(name) } throws: { error in
                    guard let error = error as? QuireError else { return false }
                    return error.code == .io && error.message.hasPrefix("\(name): has another name")
                }
            }
            let reader = try Cache(at: name, options: CacheOptions(isReadOnly: true))
            #expect(try reader.feeds().map(\.name) == ["f"])
            #expect(try Cache.verify(at: name) + reader.check() == [])
        }
        #expect(unlink(other) == 0)
        #expect(try Cache(at: path).feeds().map(\.name) == ["f"])
    }

    /// How a file lies elsewhere than it was opened, and its locks with it or not.
    enum Move: CaseIterable {
        case file, fileAndCopyInItsPlace, folder, fileAndLocks, locksRemoved

        func callAsFunction(_ path: String, in folder: String) throws -> String {
            let files = FileManager.default
            let elsewhere = folder + "/elsewhere.quire"
            switch self {
            case .file: try files.moveItem(atPath: path, toPath: elsewhere)
            case .fileAndCopyInItsPlace:
                try files.moveItem(atPath: path, toPath: elsewhere)
                try files.copyItem(atPath: elsewhere, toPath: path)
            case .folder:
                try files.moveItem(atPath: folder + "/a", toPath: folder + "/b")
                return folder + "/b/x.quire"
            case .fileAndLocks:
                for end in ["", "-lock", "-open"] {
                    try files.moveItem(atPath: path + end, toPath: elsewhere + end)
                }
            case .locksRemoved:
                try files.moveItem(atPath: path, toPath: elsewhere)
                for end in ["-lock", "-open"] { try files.removeItem(atPath: path + end) }
            }
            return elsewhere
        }

        var keepsLocks: Bool { self == .folder || self == .fileAndLocks }
    }

    #if os(Linux)
        /// A program that opens the file where it is now has other locks, so this one writes no more.
        @Test(arguments: Move.allCases) func movedWhileItWasOpen(move: Move) throws {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/a", withIntermediateDirectories: false)
            let path = folder.path + "/a/x.quire"
            var cache: Cache? = try Cache(at: path)
            _ = try cache?.feed(named: "before")
            let place = try move(path, in: folder.path)
            if move.keepsLocks {
                for name in ["f", "g"] { _ = try cache?.feed(named: name) }
            } else {
                for _ in 1...2 {
                    #expect {
                        _ = try cache?.feed(named: "f")
                    } throws: { error in
                        guard let error = error as? QuireError else { return false }
                        return error.code == .closed && error.message.hasSuffix("while it was open")
                            || error.message.contains("was moved to \(place) while it was open")
                    }
                }
                #expect(try cache?.feeds().map(\.name) == ["before"])
            }
            cache = nil
            let again = try Cache(at: place)
            _ = try again.feed(named: "after")
            #expect(try again.feeds().count == (move.keepsLocks ? 4 : 2) && again.check().isEmpty)
        }
    #endif

    /// The table of readers has 1,024 places for all processes.
    @Test func endedSnapshotsGiveTheirPlacesBack() throws {
        let cache = try Cache(at: path)
        _ = try cache.feed(named: "f")
        var snapshots: [OpenSnapshot] = []
        while let snapshot = try? OpenSnapshot(cache) { snapshots.append(snapshot) }
        #expect(snapshots.count == Int(DiskSpace.readerLimit))
        snapshots = []
        try TestChild.run("OpenLockTests/child", [Self.variable: path])
        #expect(try cache.feeds().map(\.name) == ["f", "of another process"])
    }

    /// Is not a test unless a parent started it.
    @Test func child() throws {
        guard let path = ProcessInfo.processInfo.environment[Self.variable] else { return }
        let cache = try Cache(at: path)
        let snapshots = try (0..<100).map { _ in try OpenSnapshot(cache) }
        #expect(snapshots.count == 100)
        _ = try cache.feed(named: "of another process")
    }

    private static let variable = "QUIRE_OPEN_LOCK"

    @Test("A copy that has just been named is a cache, before the name of its draft is gone")
    func namedCopy() throws {
        let cache = try Cache(at: path)
        let copy = folder.path + "/copy.quire"
        let draft = try DraftFile(copy + ".copying")
        try cache.environment.copyCompactly(to: draft)
        try FileCheck.name(draft.path, copy, isNew: true)
        #expect(try Cache(at: copy).feeds().isEmpty)
        draft.remove()
        #expect(try Cache(at: copy).feeds().isEmpty)
    }

    @Test("An open lock that is free is not set up again; one of a killed writer is")
    func reused() throws {
        let lock = path + "-open"
        let mark = 1_000  // a byte without a meaning; what is set up anew is cleared before
        func write(_ value: UInt32, at offset: Int) throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: lock))
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: withUnsafeBytes(of: value) { Data($0) })
            try file.close()
        }
        func page() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: lock)) }

        for name in [nil, "f", "g"] {  // as new, then as writers leave it
            if let name { _ = try Cache(at: path).feed(named: name) } else { _ = try Cache(at: path) }
            try write(1, at: mark)
            _ = try Cache(at: path).feeds()
            #expect(try page()[mark] == 1)
        }
        for (at, value) in [(0, 1 as UInt32), (128, 77), (136, 5)] {  // mutex, owner, inode
            try write(1, at: mark)
            try write(value, at: at)
            var options = CacheOptions()
            options.writeTimeout = .milliseconds(100)
            let cache = try Cache(at: path, options: options)
            #expect(try page()[mark] == 0)
            #expect(try cache.feed(named: "g\(at)").name == "g\(at)")
        }
    }

    @Test("A forked child is noticed, by the first calls and by those after them")
    func forked() async {
        // in a process of its own: the child would share the locks of other tests
        await #expect(processExitsWith: .success) {
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
            let process = ProcessNumber()
            for calls in [1, 100] {
                for _ in 0..<calls { if !process.isCurrent { _exit(2) } }
                let child = fork()
                if child == 0 { _exit(process.isCurrent ? 1 : 0) }
                var status: Int32 = -1
                if waitpid(child, &status, 0) != child || status != 0 || !process.isCurrent { _exit(3) }
            }
        }
    }

    @Test("L5: a cache is opened while another thread drops the last reference to it")
    func openedWhileClosed() throws {
        let path = self.path
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                for _ in 0..<15_000 { _ = try Cache(at: path) }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test("L5: opening and closing in many threads at once")
    func manyThreads() throws {
        _ = try Cache(at: path)
        let path = self.path
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                for _ in 0..<40 { _ = try Cache(at: path).feed(named: "f\(number)") }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try Cache(at: path).feeds().count == 8)
    }

    @Test("L2: which LMDB may share its locks")
    func versions() {
        let sound: [LMDBVersion.Number] = [(0, 9, 17), (0, 9, 25), (0, 9, 32), (0, 9, 36), (1, 0, 0)]
        for number in sound { #expect(LMDBVersion.canShare(number)) }
        for patch in 26...31 as ClosedRange<Int32> { #expect(!LMDBVersion.canShare((0, 9, patch))) }
    }

    @Test("L2: an LMDB that must not share is refused when others are there, and they while it is")
    func sharing() throws {
        _ = try Cache(at: path)
        do {
            let alone = try OpenLock(path)
            try alone.publish(try key(), sharing: false)
        }
        do {
            let holder = try LockHolder(path, Self.use, F_RDLCK)
            _ = try Cache(at: path)
            let second = try OpenLock(path)
            #expect(failure { try second.publish(try key(), sharing: false) }?.code == .busy)
            withExtendedLifetime(holder) {}
        }
        let holder = try LockHolder(path, Self.use, F_WRLCK)
        let error = try #require(failure { _ = try Cache(at: path) })
        #expect(error.code == .busy && error.message.contains("0.9.26"))
        withExtendedLifetime(holder) {}
    }

    @Test("L17: a file is not opened while others have open what was there before")
    func replaced() throws {
        let copy = folder.path + "/copy.quire"
        try Cache(at: path).copy(to: copy)
        do {
            let holder = try LockHolder(path, Self.use, F_RDLCK)
            #expect(rename(copy, path) == 0)
            let error = try #require(failure { _ = try Cache(at: path) })
            #expect(error.code == .busy && error.message.contains("was here before"))
            withExtendedLifetime(holder) {}
        }
        #expect(try Cache(at: path).feeds().isEmpty)
    }

    @Test("L17: not even by the process that still has the old file open")
    func replacedHere() throws {
        let cache = try Cache(at: path)
        try FileManager.default.removeItem(atPath: path)
        #expect(failure { _ = try Cache(at: path) }?.code == .busy)
        withExtendedLifetime(cache) {}
    }

    // MARK: Writing

    @Test("L7: a write waits for those of other threads no longer than it may")
    func threads() throws {
        let cache = try Cache(at: path, options: CacheOptions(writeTimeout: .milliseconds(20)))
        let feed = try cache.feed(named: "f")
        let error = Mutex<QuireError?>(nil)
        try cache.batch { batch in
            try batch[feed].insertLocal(1, body: [1])
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                do {
                    try feed.insertLocal(2, body: [2])
                } catch let thrown {
                    error.withLock { $0 = thrown as? QuireError }
                }
                done.signal()
            }
            done.wait()
        }
        let busy = try #require(error.withLock { $0 })
        #expect(busy.code == .busy && busy.message.contains("another thread of this process"))
        try feed.insertLocal(3, body: [3])
        let found = try cache.withSnapshot { try $0.contains([1, 2, 3], in: feed) }
        #expect(found == [true, false, true])
        #expect(cache.environment.queue.waitingCount == 0)
        #expect(try cache.check().isEmpty)
    }

    @Test("L7: an opener that has begun is not given up, and limits may be anything")
    func limits() throws {
        for limit in [.zero, .seconds(-5), .seconds(Int64.max)] as [Duration] {
            let path = "\(folder.path)/\(limit.components.seconds).quire"
            let cache = try Cache(at: path, options: CacheOptions(writeTimeout: limit))
            let feed = try cache.feed(named: "f")
            let failures = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 6) { number in
                for step in 0..<20 {
                    do {
                        try feed.insertLocal(PostID(UInt64(number * 100 + step)), body: [])
                    } catch {
                        failures.withLock { $0 += 1 }
                    }
                }
            }
            let posts = try cache.withSnapshot { try $0.statistics().posts }
            #expect(posts + failures.withLock { $0 } == 120)
            if limit > .zero { #expect(posts == 120) }
        }
    }
}

/// A folder that goes with the object.
final class TestFolderOfOne {
    let path: String
    init() throws { path = try TestFolder.make() }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}
