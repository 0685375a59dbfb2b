import Foundation
import QuireDumps

@_spi(Unstable) @testable import Quire

enum FileFuzzing {
    static func document(_ input: [UInt8]) {
        // Nine of ten mutants are no document at all, which `page` tries without a file. What begins behind a
        // mark or white space with one of these is XML, a list or a response, and all that its readers do is
        // reached.
        let mark = input.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let token = input.dropFirst(mark).first(where: { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }),
            "<[{".utf8.contains(token)
        else { return }
        let path = Scratch.folder + "/document"
        write(input, to: path)
        var options = InputOptions(profile: Profile.named("stackexchange")!)
        options.packing = .none
        // What is unpacked is tested by HostileInputTests; libarchive and zlib have fuzzers of their own.
        options.format = InputOptions.Format.allCases[Int(input.first ?? 0) % 2 == 0 ? 0 : 4]
        let reader = PageReader(Input.list([path]), options)
        var pages = 0
        while let page = reader.next() {
            pages += 1
            precondition(pages <= input.count + 2, "more pages than bytes")
            _ = page.answer?.posts.count
        }
    }

    /// An input that begins with the number of a cache of ``images`` is a list of changes to it, others are
    /// files. Without that nearly all mutants of a file change what is free.
    static func cache(_ input: [UInt8]) {
        let path = Scratch.folder + "/stranger.quire"
        if let number = input.first.map(Int.init), number < images.count {
            write(images[number].changed(by: input.dropFirst()), to: path)
        } else {
            write(input, to: path)
        }
        defer { for end in ["", "-lock"] { unlink(path + end) } }
        guard let findings = try? Cache.verify(at: path), findings.isEmpty else { return }
        guard let cache = try? Cache(at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 24))
        else { preconditionFailure("verify accepts what cannot be opened") }
        use(cache)
    }

    /// Everything a program does with a cache; errors are allowed, the end of the process is not.
    private static func use(_ cache: Cache) {
        _ = try? cache.check()
        for feed in (try? cache.feeds()) ?? [] {
            try? cache.withSnapshot { snapshot in
                for row in try snapshot.rows(of: feed, limit: 200) {
                    if case .post(let post) = row { _ = try snapshot.body(of: post).byteCount }
                }
                for page in try snapshot.pages(of: feed, from: 0, limit: 20) {
                    _ = try snapshot.posts(of: page, in: feed)
                }
                _ = try snapshot.changes(since: 0)
                for number in [0, 1, 20] {
                    _ = try snapshot.page(at: number, of: feed)
                    _ = try snapshot.rows(of: feed, from: number, limit: 5)
                }
            }
            for number: UInt64 in [77, 84] { _ = try? step(feed, number) }
            _ = try? cache.batch { batch in
                var policy = PrunePolicy()
                policy.maximumPosts = 8
                return try batch[feed].prune(policy)
            }
            _ = try? step(feed, 91)
        }
    }

    private static func step(_ feed: Feed, _ number: UInt64) throws {
        if let request = try feed.plan(.head).request {
            var answer = Answer(next: .token("below \(number)"))
            for id in (number..<number + 5).reversed() {
                answer.append(
                    id: PostID(id), key: Int64(id), body: [UInt8](repeating: 7, count: Int(id) % 40))
            }
            _ = try feed.ingest(answer, for: request.ticket)
        }
        if number % 3 == 0 { try feed.delete(PostID(number)) }
        if number % 4 == 0 { _ = try feed.evict([PostID(number + 1)]) }
        _ = try feed.cache.update(PostID(number + 2), fields: ["likes": Array("\(number)".utf8)], version: 1)
    }

    /// Caches of a few commits, as the engine writes them.
    static let images: [CacheImage] = [1, 4, 12].map { commits in
        let path = Scratch.folder + "/image.quire"
        defer { for end in ["", "-lock"] { unlink(path + end) } }
        do {
            let cache = try! Cache(
                at: path, options: CacheOptions(durability: .relaxed, mapSize: 1 << 20))
            let feed = try! cache.feed(named: "seed", options: FeedOptions(order: .stable))
            for number in 1...commits { try! step(feed, UInt64(number) * 3) }
        }
        return try! CacheImage(path)
    }

    /// Each cache as it is, and with one change of each kind.
    static func changes() -> [[UInt8]] {
        var changes: [[UInt8]] = []
        for number in images.indices {
            changes.append([UInt8(number)])
            for kind: UInt8 in 0..<16 {
                changes.append([UInt8(number), kind, 3, 1, 0] + [UInt8](repeating: 0xFF, count: 8))
            }
        }
        return changes
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count, "no scratch file")
        close(file)
    }
}
