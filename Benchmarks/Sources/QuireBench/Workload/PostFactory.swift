import Foundation

/// How posts are numbered.
enum IDOrder: String, Codable, CaseIterable, Sendable {
    /// 63 random bits: the worst case for a tree.
    case random
    /// Ascending, a little out of order, as servers count.
    case sequential
}

/// Makes posts from their serial number, so they need not be stored: the id, the size and every byte
/// of the body follow from it.
struct PostFactory: Sendable {
    let order: IDOrder
    private let seed: UInt64
    private let sizes: [Int]
    private let words: [UInt8]

    /// Serial numbers from here on are never used for posts: their ids are held by no feed.
    static let unusedSerials: UInt64 = 1 << 40

    private static let smallest = 382
    private static let largest = 4_063

    init(order: IDOrder, seed: UInt64) {
        self.order = order
        self.seed = seed
        sizes = Self.makeSizes(seed: seed)
        words = Self.makeWords(seed: seed, count: 1 << 20)
    }

    /// Different for different serial numbers.
    func id(_ serial: UInt64) -> UInt64 {
        switch order {
        case .random:
            // Each step is a bijection of 63-bit numbers.
            let mask: UInt64 = .max >> 1
            var z = (serial &+ 1) & mask
            for factor: UInt64 in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
                z ^= z >> 31
                z = (z &* factor) & mask
            }
            return z ^ (z >> 30)
        case .sequential: return 10_000_000 + (serial ^ 5) * 2
        }
    }

    func size(_ serial: UInt64) -> Int { sizes[Int(truncatingIfNeeded: hash(serial) & 4095)] }

    /// Writes the body of a post with this score. The score stands in bytes 9 to 16, so that another
    /// score changes 8 bytes and no length.
    func appendBody(_ serial: UInt64, score: UInt32, to bytes: inout [UInt8]) {
        let end = bytes.count + size(serial)
        bytes.append(contentsOf: #"{"score":"#.utf8)
        Self.append(UInt64(score), width: 8, to: &bytes)
        bytes.append(contentsOf: #","question_id":"#.utf8)
        Self.append(id(serial), width: 20, to: &bytes)
        bytes.append(contentsOf: #","title":""#.utf8)
        let rest = end - bytes.count - 2
        let start = Int((hash(serial) >> 12) % UInt64(words.count - Self.largest))
        words.withUnsafeBufferPointer { words in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: words[start..<start + rest]))
        }
        bytes.append(contentsOf: #""}"#.utf8)
    }

    /// The score a post is born with.
    func firstScore(_ serial: UInt64) -> UInt32 { UInt32(hash(serial) >> 50) }

    private func hash(_ serial: UInt64) -> UInt64 { mixed(serial &+ seed &* 0x9E37_79B9) }

    /// Right-aligned decimal digits.
    private static func append(_ number: UInt64, width: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: width))
        var (at, rest) = (start + width - 1, number)
        repeat {
            bytes[at] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
            at -= 1
        } while rest > 0 && at >= start
    }

    /// Question items as a list request returns them: most have a title and tags only, 9 % carry an
    /// excerpt. Mean 743 bytes, and 4,063 at most.
    private static func makeSizes(seed: UInt64) -> [Int] {
        var random = SplitMix64(seed: seed, 1)
        func fraction() -> Double { Double(random.next() >> 11) * 0x1p-53 }
        return (0..<4096).map { _ in
            var size = Double(smallest) - 135 * (log(1 - fraction()) + log(1 - fraction()))
            if fraction() < 0.09 {
                size += 400 + 1_650 * fraction() * fraction() + 1_650 * fraction() * fraction() * fraction()
            }
            return min(largest, Int(size))
        }
    }

    /// Text without quotes or escapes, so that each body is valid JSON.
    private static func makeWords(seed: UInt64, count: Int) -> [UInt8] {
        let vocabulary = """
            how to get the of in a with for and using is not from when error type value list string \
            function class return array object file data query server client thread memory index page \
            request response convert parse swift python java build compile link cannot does work why \
            value null key map feed cache store commit read write snapshot cursor table tree
            """.split(separator: " ").map { Array($0.utf8) + [UInt8(ascii: " ")] }
        var random = SplitMix64(seed: seed, 2)
        var words: [UInt8] = []
        while words.count < count { words += vocabulary[random.below(vocabulary.count)] }
        return words
    }
}
