import Foundation
import QuireSimulator
@_spi(Unstable) import TestSupport
import Testing

@_spi(Unstable) @testable import Quire

/// A small cache with something of everything, and copies of it that are damaged and repaired.
final class DamagedWorld {
    private let storage: TemporaryCache
    /// The file.
    let whole: Data
    let portrait: CacheDump
    /// What it showed one commit before.
    private let earlier: CacheDump?
    private var number = 0

    struct Repaired {
        let report: RepairReport
        let portrait: CacheDump
        let findings: [Finding]
        /// A second repair found nothing to do.
        let isSettled: Bool
    }

    /// Three feeds that share posts, with gaps, detached entries, pins, tombstones, fields, placeholders,
    /// short and long bodies.
    init() throws {
        storage = try TemporaryCache(.cramped)
        let cache = storage.cache
        for (name, order, paging) in [
            ("stable", OrderClass.stable, Paging.cursor), ("keyless", .keyless, .cursor),
            ("ids", .keyless, .ids),
        ] {
            let feed = try cache.feed(named: name, options: FeedOptions(order: order, paging: paging))
            for start in [20, 40, 60] as [UInt64] where paging != .ids || start == 60 {
                let shift: UInt64 = name == "stable" ? 0 : 3
                var answer = Answer(next: paging == .ids ? .end : .token("n\(start)"), fetchedAt: 5)
                for id in (start + 1...start + 5).reversed() {
                    let size = id % 5 == 4 ? 3000 : Int(id)
                    let body =
                        paging == .ids ? [] : [UInt8](repeating: UInt8(id + shift), count: size + Int(shift))
                    answer.append(id: PostID(id + shift), key: Int64(id), body: body)
                }
                _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
            }
            if paging == .ids, let request = try feed.plan(.tail, limit: 3).request {
                var answer = Answer()
                guard case .bodies(let ids) = request.target else { continue }
                for id in ids { answer.append(id: id, body: [1, 2, 3, 4]) }
                _ = try feed.ingest(answer, for: request.ticket)
            } else {
                try feed.insertLocal("L", body: [7, 7])
                try feed.delete(PostID(name == "stable" ? 42 : 24))
                _ = try feed.pin(PostID(44))
                _ = try feed.plan(.tail)
            }
            try feed.setAttribute("read", to: Array("\(name) 44".utf8))
        }
        _ = try cache.update(PostID(64), body: Array("newer".utf8))
        _ = try cache.update(PostID(63), fields: ["score": [3]], version: 4)
        let feed = try cache.feed(named: "keyless")
        var answer = Answer(next: .token("n80"))
        for id in [82, 81] as [UInt64] { answer.append(id: PostID(id), body: Array("late \(id)".utf8)) }
        _ = try feed.ingest(answer, for: feed.plan(.head).request!.ticket)
        whole = try Data(contentsOf: URL(fileURLWithPath: storage.path))
        (portrait, earlier) = (try CacheDump(cache), nil)
    }

    /// A random history.
    init(seed: UInt64, steps: Int) throws {
        var chaos = try OperationChaos(seed: seed, Tuning.cramped)
        storage = chaos.storage
        let cache = storage.cache
        var before: CacheDump?
        for _ in 0..<steps {
            let (portrait, generation) = try (CacheDump(cache), cache.withSnapshot { try $0.generation })
            try cache.write { try chaos.step(BatchTarget($0, cache)) }
            if try cache.withSnapshot({ try $0.generation }) != generation { before = portrait }
        }
        whole = try Data(contentsOf: URL(fileURLWithPath: storage.path))
        (portrait, earlier) = (try CacheDump(cache), before)
    }

    // MARK: Damaging

    func write(_ bytes: Data) throws -> String {
        number += 1
        let folder = storage.folder + "/\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try bytes.write(to: URL(fileURLWithPath: folder + "/x.quire"))
        return folder + "/x.quire"
    }

    private var last: String { storage.folder + "/\(number)/x.quire" }

    func openAndLook() throws -> CacheDump { try CacheDump(Cache(at: last)) }

    func repair(_ bytes: Data) throws -> Repaired {
        let path = try write(bytes)
        var tuning = Tuning()
        if number.isMultiple(of: 2) {  // many commits, each adding to a feed that is mostly not loaded
            tuning = Tuning.cramped
            tuning.repairLimit = number % 5
        }
        let report = try Cache.repair(at: path, dryRun: false, tuning) { _ in }
        let again = try Cache.repair(at: path)
        let findings = try Cache.verify(at: path) + Cache(at: path).check()
        let kept = try report.keptFile.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        #expect(report.isSound || kept == bytes, "the damaged file was kept")
        let portrait = try CacheDump(Cache(at: path))
        try FileManager.default.removeItem(atPath: storage.folder + "/\(number)")
        return Repaired(report: report, portrait: portrait, findings: findings, isSettled: again.isSound)
    }

    /// The whole cache with one record replaced.
    func repair(_ table: Table, _ key: [UInt8], _ value: [UInt8]?) throws -> Repaired {
        let path = try write(whole)
        do {
            let cache = try Cache(at: path)
            try cache.environment.write { transaction in
                try transaction.delete(table, key)
                if let value { try transaction.put(table, key, value) }
            }
        }
        return try repair(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// `mayLackCommit`: all trace of the last commit may be gone; what the one before it showed is as good
    /// then.
    func judge(_ repaired: Repaired, _ what: String, mayLackCommit: Bool = false) {
        #expect(repaired.findings == [], "\(what)")
        #expect(!repaired.report.isEmptied, "\(what)")
        #expect(repaired.isSettled, "\(what): repaired twice")
        if mayLackCommit, let earlier, earlier.mistakes(of: repaired.portrait).isEmpty { return }
        for mistake in portrait.mistakes(of: repaired.portrait) { Issue.record("\(what): \(mistake)") }
    }

    // MARK: What is where

    struct PostName: Hashable {
        let feed: String
        let id: PostID
    }

    func postsOf(_ portrait: CacheDump) -> Set<PostName> {
        Set(portrait.feeds.flatMap { name, feed in feed.posts.keys.map { PostName(feed: name, id: $0) } })
    }

    func records() throws -> [(table: Table, key: [UInt8], value: [UInt8])] {
        try storage.cache.environment.read { transaction in
            var records: [(table: Table, key: [UInt8], value: [UInt8])] = []
            try transaction.forEachRecord { key, value in
                let table = Table.owner(of: key)!.table
                records.append((table, Array(table.key(key)!), Array(value)))
            }
            return records
        }
    }

    /// The posts that go with a record.
    func posts(in table: Table, _ key: [UInt8], _ value: [UInt8]) throws -> Set<PostName> {
        let all = try storage.cache.feeds()
        func name(_ prefix: (UInt32) -> Table) -> String? { all.first { prefix($0.number) == table }?.name }
        switch table.name.description {
        case "feeds":
            let feed = name(Table.record)!
            return postsOf(portrait).filter { $0.feed == feed }
        case "chunks":
            let chunk = try value.withUnsafeBytes { try ChunkRecord($0, "") }
            return Set(chunk.ids.map { PostName(feed: name(Table.chunks)!, id: $0) })
        case "bodies":
            let number = ~key.withUnsafeBytes { NumberKey($0)!.number }
            var lost: Set<PostName> = []
            for feed in all {
                try storage.cache.environment.read { transaction in
                    try ChunkReader(transaction: transaction, feed: feed.number).eachChunk(from: 0) {
                        _, chunk in
                        for (id, entry) in zip(chunk.ids, chunk.entries) where entry.body.record == number {
                            lost.insert(PostName(feed: feed.name, id: id))
                        }
                        return true
                    }
                }
            }
            return lost
        default: return []
        }
    }

    /// The posts that go with a page of LMDB's.
    func posts(in page: UInt64) throws -> Set<PostName> {
        let path = try write(whole)
        var lost: Set<PostName> = []
        let salvage = try Salvage(path)
        try salvage.forEach(progress: { _ in }) { record in
            if record.address.leaf != page && !pages(of: record.address).contains(page) { return }
            let table = Table.owner(of: record.key)!.table
            lost.formUnion(try posts(in: table, Array(table.key(record.key)!), record.value!))
        }
        return lost
    }

    /// The pages that hold the value of a record, if it does not stand in the leaf.
    private func pages(of place: Salvage.NodeAddress) -> Range<UInt64> {
        whole.withUnsafeBytes { file in
            let leaf = UnsafeRawBufferPointer(
                rebasing: file[Int(place.leaf) * 4096..<Int(place.leaf + 1) * 4096])
            let node = Nodes(of: leaf, PageHeader(leaf), isLeaf: true)![place.node]
            if !node.isElsewhere { return 0..<0 }
            let first = leaf.loadUnaligned(fromByteOffset: node.value.lowerBound, as: UInt64.self)
            return first..<first + UInt64((node.valueSize + 15) / 4096 + 1)
        }
    }
}

/// A change of a file that no program would make.
struct Damage: CustomStringConvertible {
    private enum Kind: CaseIterable { case bit, byte, word, zeroPage, swapPage, cut }

    private let kind: Kind
    private let offset: Int
    private let value: UInt64

    init(_ random: inout SplitMix64, _ size: Int) {
        kind = random.pick(Kind.allCases)
        offset = random.below(size - 8)
        value = random.next()
    }

    var description: String { "\(kind) at \(offset), \(value)" }

    var touchesMeta: Bool { offset < 8192 }

    func apply(to file: inout Data) {
        guard offset + 8 <= file.count else { return }
        let page = offset / 4096 * 4096
        switch kind {
        case .bit: file[offset] ^= 1 << (value % 8)
        case .byte: file[offset] = UInt8(truncatingIfNeeded: value)
        case .word: withUnsafeBytes(of: value) { file.replaceSubrange(offset..<offset + 8, with: $0) }
        case .zeroPage:
            file.replaceSubrange(
                page..<min(page + 4096, file.count), with: Data(count: min(4096, file.count - page)))
        case .swapPage:
            let other = Int(value % UInt64(file.count / 4096)) * 4096
            if page + 4096 > file.count { return }
            let bytes = file.subdata(in: other..<other + 4096)
            file.replaceSubrange(page..<page + 4096, with: bytes)
        case .cut: file = file.prefix(offset)
        }
    }
}
