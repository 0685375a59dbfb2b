import CPeers
import Foundation

/// An engine written in C.
final class PeerEngine: Engine {
    private let table: UnsafePointer<peer_engine>
    private let handle: OpaquePointer
    private let writing: NSLock
    private var arena = PageArena()
    private var reads: [PageAddress] = []
    private var pagesPerRead = 1
    /// The numbers of the pages of each read, of an engine whose pages have some.
    private var numbers: [[UInt64]] = []
    private var ids: [UInt64] = []
    private var idsFeed: UInt32 = 0
    private var marks: [UInt8] = []
    private var isOpen = true
    private let ownsHandle: Bool

    init(_ table: UnsafePointer<peer_engine>, folder: String, durability: Durability) throws {
        self.table = table
        writing = NSLock()
        ownsHandle = true
        var handle: OpaquePointer?
        let mode = durability == .ordinary ? PEER_ORDINARY : PEER_RELAXED
        let status = table.pointee.open(folder, Int32(mode), &handle)
        guard status == 0, let handle else {
            let reason = handle.flatMap { table.pointee.error($0) }.map { String(cString: $0) }
            throw EngineFailure("\(String(cString: table.pointee.name)): open: \(reason ?? "failed")")
        }
        self.handle = handle
    }

    private init(_ table: UnsafePointer<peer_engine>, _ handle: OpaquePointer, writing: NSLock, owns: Bool) {
        (self.table, self.handle, self.writing, ownsHandle) = (table, handle, writing, owns)
    }

    deinit { close() }

    var name: String { String(cString: table.pointee.name) }
    var version: String { table.pointee.version.map { String(cString: $0) } ?? "?" }
    var about: String { table.pointee.about.map { String(cString: $0) } ?? "" }

    func close() {
        if isOpen && ownsHandle { table.pointee.close(handle) }
        isOpen = false
    }

    private func check(_ status: Int32, _ what: String) throws {
        if status == 0 { return }
        let reason = table.pointee.error(handle).map { String(cString: $0) }
        throw EngineFailure("\(name): \(what): \(reason ?? "failed")")
    }

    // MARK: Writing

    func stage(_ pages: [FeedPage]) throws {
        arena.fill(pages)
        if let stage = table.pointee.stage_pages {
            try check(stage(handle, arena.pages, arena.count), "stage_pages")
        }
    }

    func appendStaged() throws -> Int {
        var written = peer_written()
        let status = writing.withLock {
            table.pointee.append(handle, arena.pages, arena.count, &written)
        }
        try check(status, "append")
        return Int(written.duplicates)
    }

    func prependStaged() throws -> Int {
        var written = peer_written()
        let status = writing.withLock { table.pointee.prepend(handle, arena.pages, &written) }
        try check(status, "prepend")
        return Int(written.duplicates)
    }

    func update(_ id: UInt64, body: [UInt8]) throws {
        try check(table.pointee.update(handle, id, body, UInt32(body.count)), "update")
    }

    func prune(_ feed: Int) throws {
        try check(table.pointee.prune(handle, UInt32(feed), 1), "prune")
    }

    // MARK: Reading

    func stage(reads: [PageAddress], pages: Int) throws {
        (self.reads, pagesPerRead, numbers) = (reads, pages, [])
        guard let number = table.pointee.number_pages else { return }
        numbers = try reads.map { read in
            try Array(unsafeUninitializedCapacity: pages) { buffer, count in
                count = pages
                let (feed, at) = (UInt32(read.feed), UInt64(read.index))
                try check(number(handle, feed, at, buffer.baseAddress, &count), "number_pages")
            }
        }
    }

    func readStaged(_ index: Int) throws -> ReadTotal {
        var read = peer_read()
        let (feed, at) = (UInt32(reads[index].feed), UInt64(reads[index].index))
        if let readNumbered = table.pointee.read_numbered {
            let pages = numbers[index]
            try check(readNumbered(handle, feed, pages, pages.count, &read), "read_numbered")
        } else if pagesPerRead == 1 {
            try check(table.pointee.read_page(handle, feed, at, &read), "read_page")
        } else {
            let pages = UInt64(pagesPerRead)
            try check(table.pointee.scroll(handle, feed, at, pages, &read), "scroll")
        }
        return Self.total(read)
    }

    func firstPage(of feed: Int) throws -> ReadTotal {
        var read = peer_read()
        try check(table.pointee.read_page(handle, UInt32(feed), 0, &read), "read_page")
        return Self.total(read)
    }

    func stage(ids: [UInt64], in feed: Int) throws {
        self.ids = ids
        idsFeed = UInt32(feed)
        marks = Array(repeating: 0, count: ids.count)
        if let stage = table.pointee.stage_ids { try check(stage(handle, ids, ids.count), "stage_ids") }
    }

    func lookUpStaged() throws {
        try check(table.pointee.contains(handle, idsFeed, ids, ids.count, &marks), "contains")
    }

    var found: [Bool] { marks.map { $0 != 0 } }

    func post(_ id: UInt64) throws -> ReadTotal {
        var read = peer_read()
        try check(table.pointee.post(handle, id, &read), "post")
        return Self.total(read)
    }

    func pageCount(_ feed: Int) -> Int { Int(table.pointee.page_count(handle, UInt32(feed))) }

    private static func total(_ read: peer_read) -> ReadTotal {
        ReadTotal(sum: read.sum, posts: Int(read.posts), bytes: Int(read.bytes))
    }

    // MARK: Other threads

    func makeReader() throws -> any Engine {
        var reader: OpaquePointer?
        try check(table.pointee.open_reader(handle, &reader), "open_reader")
        guard let reader else { throw EngineFailure("\(name): open_reader gave nothing") }
        return PeerEngine(table, reader, writing: NSLock(), owns: true)
    }

    /// One thread writes at a time, through the same handle, unless the engine has several writers.
    func makeWriter() throws -> any Engine {
        if table.pointee.readers_write { return try makeReader() }
        return PeerEngine(table, handle, writing: writing, owns: false)
    }
}

/// Pages in the form of `peer.h`; the memory is used again for the next ones.
private struct PageArena {
    private(set) var pages: UnsafeMutablePointer<peer_page>
    private(set) var count = 0
    private var posts: UnsafeMutablePointer<peer_post>
    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity = (pages: 0, posts: 0, bytes: 0)

    init() {
        pages = .allocate(capacity: 1)
        posts = .allocate(capacity: 1)
        bytes = .allocate(capacity: 1)
    }

    mutating func fill(_ source: [FeedPage]) {
        grow(source)
        var (post, byte) = (0, 0)
        for (i, page) in source.enumerated() {
            page.bytes.withUnsafeBufferPointer {
                (bytes + byte).update(from: $0.baseAddress!, count: $0.count)
            }
            pages[i] = peer_page(
                feed: UInt32(page.feed), count: UInt32(page.posts.count), posts: posts + post,
                following: Int64(page.following))
            for item in page.posts {
                posts[post] = peer_post(
                    id: item.id, key: item.key, body: bytes + byte + item.body.lowerBound,
                    size: UInt32(item.body.count))
                post += 1
            }
            byte += page.bytes.count
        }
        count = source.count
    }

    private mutating func grow(_ source: [FeedPage]) {
        let need = (
            pages: source.count, posts: source.reduce(0) { $0 + $1.posts.count },
            bytes: source.reduce(0) { $0 + $1.bytes.count }
        )
        if need.pages > capacity.pages {
            pages.deallocate()
            pages = .allocate(capacity: need.pages)
            capacity.pages = need.pages
        }
        if need.posts > capacity.posts {
            posts.deallocate()
            posts = .allocate(capacity: need.posts * 2)
            capacity.posts = need.posts * 2
        }
        if need.bytes > capacity.bytes {
            bytes.deallocate()
            bytes = .allocate(capacity: need.bytes * 2)
            capacity.bytes = need.bytes * 2
        }
    }
}
