import CQuire
import Testing

@testable import QuireC

/// A struct as it would be after two versions have added a member each. No struct of the headers has grown
/// yet.
private struct Grown: Versioned {
    static let smallestSize = 16

    var size: UInt32 = 0
    var kind: Int32 = 0
    var oldest: UInt64 = 0
    var newer: UInt64 = 0
    var newest: UInt64 = 0
}

/// A program knows a struct in the size of its header, the library in that of its own: the older side
/// decides.
@Suite struct StructTests {
    /// Memory of a program, with bytes behind its struct that are not the library's.
    private static let words = 8
    private static let stranger: UInt64 = 0xA5A5_A5A5_A5A5_A5A5

    /// Calls `body` with memory in which all words but the first are `word`, and returns the words
    /// afterwards.
    private func memory(
        ofSize size: Int, word: UInt64, zeroesFrom end: Int = .max,
        _ body: (UnsafeMutablePointer<Grown>) -> Void
    ) -> [UInt64] {
        var words = [UInt64](repeating: word, count: Self.words)
        words[0] = 7 << 32 | UInt64(size)
        for at in words.indices where at * 8 >= end { words[at] = 0 }
        words.withUnsafeMutableBytes { body($0.assumingMemoryBound(to: Grown.self).baseAddress!) }
        return words
    }

    private func read(size: Int, zeroesFrom end: Int = .max) -> Result<Grown, Failure> {
        var result = Result<Grown, Failure>.failure(Failure(QUIRE_IO, "not read"))
        _ = memory(ofSize: size, word: Self.stranger, zeroesFrom: end) { pointer in
            result = Result { () throws(Failure) in try Arguments.structure(pointer, "the struct") }
        }
        return result
    }

    @Test("What an older program does not pass reads as zero", arguments: [16, 24, 32])
    func olderArguments(size: Int) throws {
        let given = try read(size: size).get()
        #expect(given.kind == 7 && given.oldest == Self.stranger)
        #expect(given.newer == (size > 16 ? Self.stranger : 0))
        #expect(given.newest == (size > 24 ? Self.stranger : 0))
    }

    @Test("What a newer program passes must be zero", arguments: [33, 40, 64])
    func newerArguments(size: Int) throws {
        #expect(try read(size: size, zeroesFrom: 32).get().newest == Self.stranger)
        let error = #expect(throws: Failure.self) { try read(size: size).get() }
        #expect(error?.status == quire_status(QUIRE_BAD_ARGUMENT) && error?.message.contains("newer") == true)
    }

    @Test("No struct is smaller than it was at first", arguments: [0, 4, 8, 15, 4097, Int(UInt32.max)])
    func sizesOfNoVersion(size: Int) throws {
        let error = #expect(throws: Failure.self) { try read(size: size).get() }
        #expect(error?.message.contains("struct_size is \(size)") == true)
        var status = quire_status(QUIRE_OK)
        let words = memory(ofSize: size, word: Self.stranger) { out in
            status = attempt(filling: out) { _ in Issue.record("there is nothing to fill") }
            #expect(take(out) == nil)
        }
        #expect(status == quire_status(QUIRE_BAD_ARGUMENT))
        #expect(words.dropFirst().allSatisfy { $0 == Self.stranger })
    }

    @Test("A result is written as far as the program knows it", arguments: [16, 24, 32, 40, 56])
    func results(size: Int) throws {
        var taken: Grown?
        let words = memory(ofSize: size, word: Self.stranger) { out in
            let status = attempt(filling: out) { out in
                (out.kind, out.oldest, out.newer, out.newest) = (1, 2, 3, 4)
            }
            #expect(status == quire_status(QUIRE_OK))
        }
        let known = [1 << 32 | UInt64(size), 2, 3, 4, 0, 0, 0].prefix(size / 8)
        #expect(Array(words.prefix(size / 8)) == Array(known))
        #expect(words.dropFirst(size / 8).allSatisfy { $0 == Self.stranger })
        let emptied = memory(ofSize: size, word: 9) { taken = take($0) }
        #expect(taken?.oldest == 9 && taken?.newest == (size >= 32 ? 9 : 0))
        #expect(emptied[0] == UInt64(size) && emptied[1..<size / 8].allSatisfy { $0 == 0 })
        #expect(emptied.dropFirst(size / 8).allSatisfy { $0 == 9 })
    }

    @Test("A result of a call that failed is zeroed, whatever it had got")
    func failures() throws {
        let words = memory(ofSize: 32, word: Self.stranger) { out in
            let status = attempt(filling: out) { out in
                out.oldest = 5
                throw Failure(QUIRE_NOT_FOUND, "nothing is there")
            }
            #expect(status == quire_status(QUIRE_NOT_FOUND))
        }
        #expect(words.prefix(4) == [32, 0, 0, 0] && words.dropFirst(4).allSatisfy { $0 == Self.stranger })
    }

    /// The numbers of Sources/CQuire/layout.c are today's. This fails if a struct has become smaller than at
    /// first.
    @Test func noStructHasShrunk() {
        func check<each T: Versioned & BitwiseCopyable>(_ types: repeat (each T).Type) {
            repeat requireSize(of: each types)
        }
        func requireSize<T: Versioned & BitwiseCopyable>(of type: T.Type) {
            #expect(MemoryLayout<T>.size >= T.smallestSize, "\(type)")
            #expect(MemoryLayout<T>.size == MemoryLayout<T>.stride, "\(type) ends with unnamed bytes")
        }
        check(
            quire_error.self, quire_list.self, quire_cache_options.self, quire_budget.self,
            quire_statistics.self,
            quire_evictions.self, quire_repair_report.self, quire_feed_options.self, quire_place.self,
            quire_request.self, quire_post.self, quire_answer.self, quire_outcome.self)
        check(
            quire_prune_policy.self, quire_prune_result.self, quire_feed_info.self, quire_post_info.self,
            quire_window_start.self, quire_window_info.self, quire_difference.self, quire_view_options.self,
            quire_view_info.self, quire_shard_status.self, quire_profile_options.self, quire_response.self,
            quire_parsed.self)
    }
}
